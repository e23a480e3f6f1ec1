"""Run in an interpreter before tests/warm_interpreter.py: any one function of ours can then be made to raise.

Our modules are loaded with a call of `__spoil__` at the head of each function. Each program reads SPOILED, a file with
JSON: the `functions` that raise, the `kind` of exception, the file that gets the names of those that were `reached`.
With SPOILED_QUICKLY the patterns of attention and the like are known already, which take half of a small compile.
"""

import ast
import atexit
import builtins
import contextlib
import importlib
import importlib.util
import json
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

OWN = "inspect_compile"
BEGIN = f"{OWN}.child.start:begin"
"""Where a program begins to be watched: what runs before is the command, which is not the program yet."""

FIRST = (f"{OWN}.child.probes", f"{OWN}.child.start", f"{OWN}.child.ending", f"{OWN}.child.place")
"""Modules of ours that are loaded once for all programs, with what they import; the probes come after them."""


class UnprintableError(Exception):
    """One that cannot be told."""

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


class StubbornError(Exception):
    """One without attributes that can be set, as of a frozen dataclass."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(name)


KINDS = {kind.__name__: kind for kind in (UnprintableError, StubbornError)}

SPOILED = os.environ["SPOILED"]

reached: set[str] = set()
spoiled: dict[str, Any] = {}
is_watched = False


def spoil(function: str) -> None:
    """Called at the head of each function of ours."""
    global is_watched
    is_watched = is_watched or function == BEGIN
    if is_watched:
        reached.add(function)
        if function in spoiled.get("functions", ()):
            kind = spoiled["kind"]
            raise (KINDS.get(kind) or getattr(builtins, kind))("a fault from outside")


class _Calls(ast.NodeTransformer):
    """Adds the calls to one module."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._path: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._inside(node, node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        name = ".".join([*self._path, node.name])
        self._inside(node, f"{node.name}.<locals>")
        first = node.body[0]
        has_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        call = ast.parse(f"__spoil__({f'{self._module}:{name}'!r})").body[0]
        for part in ast.walk(call):
            ast.copy_location(part, first)
        node.body.insert(1 if has_text else 0, call)
        return node

    def _inside(self, node: Any, name: str) -> ast.AST:
        self._path.append(name)
        self.generic_visit(node)
        self._path.pop()
        return node  # type: ignore[no-any-return]


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        tree = _Calls(fullname).visit(ast.parse(self.get_data(path)))
        return compile(tree, path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] != OWN:
            return None
        others: list[Any] = [finder for finder in sys.meta_path if finder is not self and finder is not PathFinder]
        found = next((spec for finder in (PathFinder, *others) if (spec := finder.find_spec(fullname, path))), None)
        if found is not None and type(found.loader) is SourceFileLoader:
            found.loader = _Loader(fullname, found.loader.path)
        return found


def _forked() -> None:
    if not is_watched:  # by the program itself, which goes on
        reached.clear()
        _untraced()
    with open(SPOILED) as file:
        spoiled.clear()
        spoiled.update(json.load(file))


def _untraced() -> None:
    """Dynamo is offered all that runs after a graph break: it is to pass by what stands in our functions here alone."""
    from inspect_compile.probe.untraced import untraced  # type: ignore[import-not-found,unused-ignore]

    untraced(spoil, what_they_call=True)


def _tell() -> None:
    if "reached" in spoiled and is_watched:
        with open(spoiled["reached"], "a") as file:  # after those of its children
            file.write("".join(f"{name}\n" for name in reached))


builtins.__spoil__ = spoil  # type: ignore[attr-defined]
sys.meta_path.insert(0, _Finder())
os.register_at_fork(after_in_child=_forked)
atexit.register(_tell)


def prepare() -> None:
    for name in FIRST:
        importlib.import_module(name)
    from inspect_compile.child.probes import PROBES  # type: ignore[import-not-found,unused-ignore]

    for entry in PROBES:
        importlib.import_module(entry.installer.partition(":")[0])


def prepare_torch() -> None:
    """Register its patterns, as far as it lets us."""
    import torch

    patterns = importlib.import_module("torch._inductor.fx_passes.joint_graph")
    with contextlib.suppress(AttributeError, TypeError):
        patterns.lazy_init(torch.device("cpu"))


prepare()
if "SPOILED_QUICKLY" in os.environ:
    prepare_torch()
