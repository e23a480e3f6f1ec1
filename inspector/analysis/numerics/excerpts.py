"""What one launching statement of output_code.py needs to run by itself: its kernel, and what that is made with."""

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph, outermost

_STREAM: Final = re.compile(r"stream(\d+)")
_RAW_STREAM: Final = "get_raw_stream"
_COMPILER: Final = "async_compile"
"""Variable that compiles kernels, and is asked to wait for them once all are defined."""


@dataclass(frozen=True)
class Excerpt:
    """Parts of output_code.py."""

    imports: str
    definitions: str
    """The kernel's, and those of what it is made with."""
    streams: tuple[str, ...]
    """Statements that make the streams which the launch names."""
    statement: str
    names: frozenset[str]
    """The names in the statement."""


def excerpt_of(graph: CompiledGraph, line: int | None) -> Excerpt | None:
    """Parts of the code of `graph` for the launch at `line`; None if nothing is launched there."""
    code = graph.text(f"{paths.OUTPUT_CODE}.py")
    kernel = next((row for row in graph.rows(Kernel) if line in row.launches), None)
    return None if code is None or kernel is None or line is None else excerpt(code, line, kernel.defined_at)


def output_line(graph: CompiledGraph, line: int) -> str:
    """One line of the code of `graph`, or of the graph that it is nested in; empty if there is none."""
    code = graph.dump.text(outermost(graph.name), f"{paths.OUTPUT_CODE}.py")
    lines = (code or "").splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def excerpt(code: str, line: int, defined_at: int | None) -> Excerpt | None:
    """Parts of `code` for the statement at `line`, whose kernel is defined at the line `defined_at`, if it is.

    None if there is no such statement, or the code is no Python.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    launch = _statement_at(tree, line)
    if launch is None:
        return None
    lines = code.splitlines()
    names = _names(launch)
    streams = tuple(
        f"{name} = {_RAW_STREAM}({number[1]})" for name in sorted(names) if (number := _STREAM.fullmatch(name))
    )
    makers = {name: one for one in tree.body for name in _made(one)}
    definition = next((one for one in tree.body if defined_at is not None and _spans(one, defined_at)), None)
    needed = _needed(makers, [launch, *([definition] if definition is not None else [])])
    if streams:
        needed |= _needed(makers, ast.parse(_RAW_STREAM).body)
    imports = [one for one in tree.body if isinstance(one, (ast.Import, ast.ImportFrom))]
    chosen = [one for one in tree.body if one in needed]
    texts = [_text(lines, one) for one in chosen]
    if any(_COMPILER in _made(one) for one in chosen):
        texts.append(f"{_COMPILER}.wait(globals())")
    return Excerpt(
        imports="\n".join(_text(lines, one) for one in imports),
        definitions="\n".join(texts),
        streams=streams,
        statement=textwrap.dedent(_text(lines, launch)),
        names=names,
    )


def _statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost statement at that line."""
    found = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and _spans(one, line)]
    return min(found, key=lambda one: (one.end_lineno or one.lineno) - one.lineno, default=None)


def _needed(makers: dict[str, ast.stmt], first: Iterable[ast.stmt]) -> set[ast.stmt]:
    """Statements of the module that make the names which these, or what makes those, use; and these if they are such
    statements.
    """
    found: set[ast.stmt] = set()
    of_module = set(makers.values())
    waiting = list(first)
    while waiting:
        one = waiting.pop()
        if one in of_module:
            found.add(one)
        waiting += [
            maker for name in _names(one) if (maker := makers.get(name)) is not None and maker not in found | {one}
        ]
    return found


def _made(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name


def _names(statement: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


def _spans(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _text(lines: list[str], statement: ast.stmt) -> str:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(one.lineno for one in decorators)])
    return "\n".join(lines[first - 1 : statement.end_lineno])
