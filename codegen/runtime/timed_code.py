"""Adds two calls around each launching statement, and others that take time, in the functions of a generated module.

The module's file stays as torch wrote it, and line numbers in tracebacks stay the same. Imports no torch.
"""

import ast
import types
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final, NamedTuple

Begin = Callable[[], Any]
End = Callable[[Any], None]

_STATE = "_inspect_compile_since"
_COUNT: Final = "_inspect_compile_count"

MEMORY: Final = "memory"
CHECKS: Final = "checks"
_ALLOCATES: Final = ("empty_strided", "alloc_from_pool")
_CHECKS: Final = "assert_"
"""`assert_size_stride`, `assert_alignment`; since 2.15 `assert_size_stride_grouped`, `assert_tensor_metadata`, too."""


class Timers:
    """The functions of a module, each with its code as it was and with the calls around its launches, which it has."""

    def __init__(self, calls: "WithCalls", call: Any, counted: types.CodeType | None) -> None:
        self.found = set(calls.found)
        """The lines of launches that were found in a function."""
        self._inside = [(function, function.__code__, code) for function, code in calls.codes if function is not call]
        self._call = [(function, counted, code) for function, code in calls.codes if function is call and counted]
        self.can_go = bool(self._call)
        """Whether they can be left out: `call` then only counts."""

    def turn_call(self, is_on: bool) -> None:
        """From its next call on, the function `call` has them, or not."""
        for function, counted, code in self._call:
            function.__code__ = code if is_on else counted

    def turn_inside(self, is_on: bool) -> None:
        """The functions that `call` calls have them, or not."""
        for function, plain, code in self._inside:
            function.__code__ = code if is_on else plain


def put_timers(
    module: Any,
    source: str,
    path: str,
    launches: Mapping[int, tuple[Begin, End]],
    whole: tuple[Begin, End] | None,
    others: Mapping[str, tuple[Begin, End]] | None = None,
    count: Callable[[], None] | None = None,
) -> Timers:
    """Make the functions of `module`, whose code is `source`, call `begin` before and `end` after each launch.

    `launches`: by the line that names the kernel. `whole`: around the body of the module's `call`. `others`: around
    statements in a row that allocate or free (MEMORY), or that check sizes and strides (CHECKS). `count` is called
    first of all in each call of `call`, also while the others are left out.
    """
    calls = with_calls(module, source, path, launches, whole, others, count)
    call = getattr(module, "call", None)
    function: Any = getattr(call, "__func__", call)
    counted = None
    if count is not None:
        only = with_calls(module, source, path, {}, count=count)
        counted = next((code for own, code in only.codes if own is function), None)
    timers = Timers(calls, function, counted)
    vars(module).update(calls.names)
    for own, code in calls.codes:
        own.__code__ = code
    return timers


class WithCalls(NamedTuple):
    """The functions of a module with calls around their launches."""

    found: dict[int, ast.stmt]
    """Line → the launching statement."""
    names: dict[str, Any]
    """What the module must contain under these names before a function gets its code."""
    codes: list[tuple[Any, types.CodeType]]
    """Functions, and their code with the calls."""


def with_calls(
    module: Any,
    source: str,
    path: str,
    launches: Mapping[int, tuple[Callable[..., Any], Callable[..., None]]],
    whole: tuple[Begin, End] | None = None,
    others: Mapping[str, tuple[Begin, End]] | None = None,
    count: Callable[[], None] | None = None,
    *,
    given: str = "",
) -> WithCalls:
    """The same as `put_timers`, which puts them in place. `given` is an expression, `locals()`: both calls around a
    launch get its value as their last argument.
    """
    tree = ast.parse(source)
    names: dict[str, Any] = {}
    found: dict[int, ast.stmt] = {}
    for number, (line, timers) in enumerate(sorted(launches.items())):
        place = _place(tree, line)
        if place is not None:
            body, index = place
            found[line] = body[index]
            body[index : index + 1] = _around(body[index], names, str(number), timers, given)
    if others:
        _around_others(tree, names, others)
    if whole is not None:
        _around_all(tree, getattr(module, "call", None), names, whole)
    if count is not None:
        names[_COUNT] = count
        for node in _calls_of(tree, getattr(module, "call", None)):
            (statement,) = ast.parse(f"{_COUNT}()").body
            _stand_at(statement, node.body[0])
            node.body.insert(0, statement)
    codes = dict(_codes(compile(tree, path, "exec", dont_inherit=True)))
    changed = []
    for function in _functions(module):
        code = codes.get(_key(function.__code__))
        if code is not None and code.co_freevars == function.__code__.co_freevars:
            changed.append((function, code))
    return WithCalls(found, names, changed)


def _place(tree: ast.AST, line: int) -> tuple[list[ast.stmt], int] | None:
    """The innermost statement in a function on `line`: the list that contains it, and its index."""
    place = None
    node, is_inside = tree, False
    while True:
        for body in _bodies(node):
            hit = next((i for i, one in enumerate(body) if one.lineno <= line <= (one.end_lineno or one.lineno)), None)
            if hit is not None:
                break
        else:
            return place
        node = body[hit]
        if is_inside and not isinstance(node, ast.FunctionDef):
            place = body, hit
        is_inside = is_inside or isinstance(node, ast.FunctionDef)


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list):
            yield body


def _around(
    statement: ast.stmt, names: dict[str, Any], name: str, timers: tuple[Any, Any], given: str
) -> list[ast.stmt]:
    state = f"{_STATE}_{name}"
    before, after = _named(names, name, timers)
    calls = ast.parse(f"{state} = {before}({given})\n{after}({state}{given and f', {given}'})").body
    for call in calls:
        _stand_at(call, statement)
    return [calls[0], statement, calls[1]]


def _around_others(tree: ast.Module, names: dict[str, Any], others: Mapping[str, tuple[Begin, End]]) -> None:
    """Put the timers of its kind around each row of statements of one kind."""
    named = {kind: _named(names, kind, timers) for kind, timers in others.items()}
    bodies = [
        body
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if not isinstance(node, ast.ClassDef)
        for body in _bodies(node)
    ]
    for body in {id(one): one for one in bodies}.values():
        rows = [(kind, list(row)) for kind, row in groupby(body, _kind)]
        body.clear()
        for kind, row in rows:
            if kind not in named:
                body += row
                continue
            before, after = named[kind]
            begin, end = ast.parse(f"{_STATE}_{kind} = {before}()\n{after}({_STATE}_{kind})").body
            _stand_at(begin, row[0])
            _stand_at(end, row[-1])
            body += [begin, *row, end]


def _kind(statement: ast.stmt) -> str:
    """MEMORY, CHECKS, or nothing."""
    if isinstance(statement, ast.Delete):
        return MEMORY
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    name = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    return MEMORY if name.startswith(_ALLOCATES) else CHECKS if name.startswith(_CHECKS) else ""


def _calls_of(tree: ast.Module, call: Any) -> list[ast.FunctionDef]:
    """The definition of the function `call`, in a list; empty if it is none of these."""
    code = getattr(call, "__code__", None)
    if code is None:
        return []
    defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node for node in defined if (node.name, node.lineno) == (code.co_name, code.co_firstlineno)]


def _around_all(tree: ast.Module, call: Any, names: dict[str, Any], timers: tuple[Begin, End]) -> None:
    """If that function ends in a single return of existing values, as torch writes it, put the timers around
    its body.
    """
    for node in _calls_of(tree, call):
        returns = [one for one in ast.walk(node) if isinstance(one, ast.Return)]
        if len(returns) != 1 or node.body[-1] is not returns[0]:
            return
        state = f"{_STATE}_all"
        before, after = _named(names, "all", timers)
        begin, end = ast.parse(f"{state} = {before}()\n{after}({state})").body
        _stand_at(begin, node.body[0])
        _stand_at(end, node.body[-1])
        node.body[:] = [begin, *node.body[:-1], end, node.body[-1]]


def _named(names: dict[str, Any], name: str, timers: tuple[Begin, End]) -> tuple[str, str]:
    before, after = f"_inspect_compile_before_{name}", f"_inspect_compile_after_{name}"
    names[before], names[after] = timers
    return before, after


def _stand_at(new: ast.stmt, old: ast.stmt) -> None:
    for node in ast.walk(new):
        if isinstance(node, (ast.stmt, ast.expr)):
            ast.copy_location(node, old)


def _key(code: types.CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(code: types.CodeType) -> Iterator[tuple[tuple[str, int], types.CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield _key(constant), constant
            yield from _codes(constant)


def _functions(module: Any) -> Iterator[Any]:
    """The functions that the module itself defines, including methods of its classes."""
    file = module.__file__
    for value in list(vars(module).values()):
        inside = list(vars(value).values()) if isinstance(value, type) else [value]
        for function in inside:
            if isinstance(function, types.FunctionType) and function.__code__.co_filename == file:
                yield function
