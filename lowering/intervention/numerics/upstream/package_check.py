"""A package of AOTInductor beside the exported module that it was compiled from.

Its code is a library of C++: nothing can be called around its launches, so that the results of its calls are compared,
and the inputs that it changes.
"""

import functools
import importlib
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import torch

from inspect_compile.facts import Fact, NumericsCall, NumericsRequest
from inspect_compile.facts.numerics import BEGUN, NOT_ASKED, PACKAGED
from inspect_compile.knowledge.numerics.levels import EXPORTED, PACKAGE
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.upstream.eager_check import (
    Compared,
    EagerCheck,
    arguments_of,
    of_values,
)
from inspect_compile.probe import replace
from inspect_compile.torch_compat import call_path as names

_ELSEWHERE: Final = "the exported module of this package is not known: it was not compiled in this process"
_CHANGED: Final = "weights of the exported module were changed after it was compiled"
_STATE: Final = "it changes buffers of its own, so that only its first call has a reference"
_LAUNCHES: Final = "its launches are not compared one by one: the code of a package is a library of C++"


@dataclass
class _Compiled:
    """What a package was compiled from."""

    exported: Any
    graphs: tuple[str, ...]
    versions: dict[str, int]
    """autograd's count of changes of each weight and buffer then."""

    def is_changed(self) -> bool:
        """True if a weight is no longer what was compiled."""
        return _versions(self.exported) != self.versions


@dataclass
class _Loaded:
    """One loaded model of a package."""

    name: str
    compiled: _Compiled | None
    calls: int = 0


@dataclass
class Packages:
    """The packages of a process."""

    here: threading.local = field(default_factory=threading.local)
    compiled: dict[str, _Compiled] = field(default_factory=dict)
    """Path of a package → what it was compiled from."""
    loaded: "weakref.WeakKeyDictionary[Any, _Loaded]" = field(default_factory=weakref.WeakKeyDictionary)
    kinds: set[type] = field(default_factory=set)
    """Classes of loaded models whose calls are watched."""


class PackageCheck(EagerCheck):
    """Compares the calls of packages."""

    def call(self, plain: Callable[..., Any], model: Any, loaded: _Loaded, args: Any, kwargs: Any) -> Any:
        """Make a call of a package, and compare it if that was asked for."""
        loaded.calls += 1
        number, compiled = loaded.calls, loaded.compiled
        graphs = (loaded.name,) if compiled is None else compiled.graphs
        if not any(map(self._asked.has_graph, graphs)) or not self._asked.has_call(number):
            if number == 1:
                self._tell_all(graphs, NumericsCall(graph="", call=number, stage=NOT_ASKED))
            return plain(model, *args, **kwargs)
        if compiled is None:
            self._tell_all(graphs, NumericsCall(graph="", call=number, reason=_ELSEWHERE))
            return plain(model, *args, **kwargs)
        self._tell_all(graphs, NumericsCall(graph="", call=number, stage=BEGUN))
        module = compiled.exported.module()
        named = arguments_of(module, args, kwargs)
        function, reason = None, _CHANGED if compiled.is_changed() else ""
        if number > 1 and compiled.exported.graph_signature.buffers_to_mutate:
            reason = _STATE
        if not reason:
            with torch.no_grad():
                function, reason = self._eager(module, args, kwargs, named)
        found = plain(model, *args, **kwargs)
        compared: list[Compared] = []
        if function is not None and not reason:
            compared, reason = self._judged(graphs[0], number, of_values(function, named, found), found, named)
        for one in compared:
            self._tell(with_fields(one.row, level=PACKAGE, against=EXPORTED))
        ended = NumericsCall(graph="", call=number, results=len(compared), reason=reason or _LAUNCHES)
        self._tell_all(graphs, ended)
        return found

    def _tell_all(self, graphs: Sequence[str], fact: NumericsCall) -> None:
        for graph in graphs:
            self._tell(msgspec.structs.replace(fact, graph=graph))


def install_compiler(check: Any) -> None:
    """Remember the graphs that become libraries."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def compile_(cls: Any, lowering: Any, *args: Any, **kwargs: Any) -> Any:
            scope = SCOPES.of(lowering)
            if scope is not None and check.is_on:
                check.packages.here.graphs = (*getattr(check.packages.here, "graphs", ()), scope.graph)
                check.lowered.pop(lowering, None)
                check.tell(NumericsCall(graph=scope.graph, stage=PACKAGED))
            return plain(cls, lowering, *args, **kwargs)

        return compile_

    replace(importlib.import_module(names.LIBRARY.module), names.LIBRARY, watched)


def install_packaging(check: Any) -> None:
    """Remember what each package was compiled from."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def package(exported: Any, *args: Any, **kwargs: Any) -> Any:
            packages: Packages = check.packages
            packages.here.graphs = ()
            path = plain(exported, *args, **kwargs)
            if packages.here.graphs and isinstance(path, (str, os.PathLike)):
                packages.compiled[_key(path)] = _Compiled(exported, packages.here.graphs, _versions(exported))
            return path

        return package

    replace(importlib.import_module(names.PACKAGES.module), names.PACKAGES, watched)


def install_loading(check: Any) -> None:
    """Watch the calls of the models that are loaded from packages."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def load(path: Any, *args: Any, **kwargs: Any) -> Any:
            model = plain(path, *args, **kwargs)
            packages: Packages = check.packages
            if check.is_on:
                is_path = isinstance(path, (str, os.PathLike))
                name = f"package {Path(path).name}" if is_path else "package"
                packages.loaded[model] = _Loaded(name, packages.compiled.get(_key(path)) if is_path else None)
                if type(model) not in packages.kinds:
                    packages.kinds.add(type(model))
                    _watch(type(model), check)
            return model

        return load

    replace(importlib.import_module(names.LOADS_PACKAGE.module), names.LOADS_PACKAGE, watched)


def _watch(kind: type, check: Any) -> None:
    plain = kind.__call__

    @functools.wraps(plain)
    def call(model: Any, *args: Any, **kwargs: Any) -> Any:
        loaded = check.packages.loaded.get(model)
        asked: NumericsRequest | None = check.asked
        if loaded is None or asked is None or asked.only_nonfinite:
            return plain(model, *args, **kwargs)
        tell: Callable[[Fact], None] = check.tell
        return PackageCheck(asked, tell).call(plain, model, loaded, args, kwargs)

    kind.__call__ = call  # type: ignore[method-assign]


def _key(path: Any) -> str:
    return str(os.path.realpath(path))


def _versions(exported: Any) -> dict[str, int]:
    """What there is of each weight and buffer: a tensor of inference mode has no count."""
    state = getattr(exported, "state_dict", {})
    return {name: one._version for name, one in state.items() if not one.is_inference()}
