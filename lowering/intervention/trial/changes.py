"""Puts changes into a program from outside: arguments of its calls of torch.compile, optimizers and loaders; settings.

What is changed is what the lines of a patch would change, and nothing of the program's file is touched.
"""

import functools
import importlib
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from inspect_compile.facts.trials import COMPILE, LOADER, Change, Constructed
from inspect_compile.lowering.intervention.trial.places import caller

_FUSED: Final = "fused"


class Changes:
    """The changes of one trial, and the calls that changes could be about."""

    def __init__(self, asked: Sequence[Change], watch: Callable[[Any, Any], Any]) -> None:
        """`watch(compiled, model)` gets each compiled function or module and what it was made from; it returns what the
        program gets.
        """
        self._asked = asked
        self._watch = watch
        self._inside = threading.local()
        self.constructed: list[Constructed] = []
        self.trouble: list[str] = []

    def install(self) -> None:
        """Begin; torch has just been imported."""
        import torch

        compile_ = torch.compile

        @functools.wraps(compile_)
        def compiled(model: Any = None, **given: Any) -> Any:
            return self._compiled(compile_, model, given, caller(2))

        torch.compile = compiled
        for kind in {*_optimizers(torch)}:
            self._follow(kind, _optimizer)
        self._follow(torch.utils.data.DataLoader, _loader)
        for change in self._asked:
            if change.kind != "keyword":
                self._apply(change)

    def _compiled(self, compile_: Any, model: Any, given: dict[str, Any], place: Any) -> Any:
        if model is None:
            return lambda function: self._compiled(compile_, function, given, place)
        self.constructed.append(Constructed(COMPILE, place, {name: _text(value) for name, value in given.items()}))
        return self._watch(compile_(model, **self._with(COMPILE, place, given)), model)

    def _follow(self, kind: Any, told: Callable[[Any, Constructed], Constructed | None]) -> None:
        """Watch the constructor of a class, and of those below it. `told` adds what the new object tells of itself."""
        plain = kind.__init__

        @functools.wraps(plain)
        def init(made: Any, *words: Any, **given: Any) -> None:
            if getattr(self._inside, "is_so", False):  # the constructor of a class below it
                plain(made, *words, **given)
                return
            place, name = caller(2), _name(made, kind)
            self._inside.is_so = True
            try:
                plain(made, *words, **self._with(name, place, given))
            finally:
                self._inside.is_so = False
            found = told(made, Constructed(name, place, {key: _text(value) for key, value in given.items()}))
            if found is not None:
                self.constructed.append(found)

        kind.__init__ = init

    def _with(self, of: str, place: Any, given: dict[str, Any]) -> dict[str, Any]:
        own = {
            one.keyword: one.value
            for one in self._asked
            if (one.of, one.kind) == (of, "keyword") and any(there.covers(place) for there in one.places)
        }
        return {**given, **own}

    def _apply(self, change: Change) -> None:
        owner, _, name = change.of.rpartition(".")
        try:
            found: Any = importlib.import_module("torch")
            for part in owner.split(".")[1:]:
                found = getattr(found, part, None) or importlib.import_module(f"{found.__name__}.{part}")
            if change.kind == "call":
                getattr(found, name)(change.value)
            elif not hasattr(found, name):
                raise AttributeError(f"no setting {name}")
            else:
                setattr(found, name, change.value)
        except Exception as error:
            self.trouble.append(f"{change.of}: {type(error).__name__}: {error}")


def _name(made: Any, kind: Any) -> str:
    return LOADER if kind.__name__ == LOADER else type(made).__name__


def _optimizer(made: Any, call: Constructed) -> Constructed:
    parameters = [one for group in made.param_groups for one in group["params"]]
    devices = {one.device.type for one in parameters}
    return msgspec.structs.replace(
        call,
        device=devices.pop() if len(devices) == 1 else "",
        is_floating=all(one.is_floating_point() for one in parameters),
    )


def _loader(made: Any, call: Constructed) -> Constructed | None:
    """None for one whose workers would each load everything (IterableDataset)."""
    from torch.utils.data import IterableDataset

    return None if isinstance(made.dataset, IterableDataset) else call


def _optimizers(torch: Any) -> list[Any]:
    kinds = [kind for kind in vars(torch.optim).values() if isinstance(kind, type)]
    return [kind for kind in kinds if _FUSED in inspect.signature(kind).parameters]


def _text(value: Any) -> str:
    """A keyword's value in words; an object of the program's is only its type."""
    plain = isinstance(value, (str, int, float, type(None))) or (isinstance(value, dict) and len(value) < 50)
    return repr(value)[:500] if plain else type(value).__name__
