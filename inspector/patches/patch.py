"""A diff that puts changes into a program's files, by their syntax trees (libcst)."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from inspect_compile.facts.trials import COMPILE, Change, Place


class Patched(NamedTuple):
    """What became of the changes."""

    diff: str
    """Unified, with the paths of files below the folder as git has them; empty if nothing could be written."""
    lines: int
    """Number of lines that it adds."""
    by_hand: tuple[str, ...]
    """Changes for which there was no single place: `train.py:12: fused=True`."""


def patch(changes: Sequence[Change], script: Path, folder: Path) -> Patched:
    """Put `changes` into the files that they name, settings and calls into `script`; nothing is written to them."""
    by_file: dict[Path, list[Change]] = {}
    for change in changes:
        for file in {Path(place.file) for place in change.places} or {script}:
            by_file.setdefault(file, []).append(change)
    diffs: list[str] = []
    by_hand: list[str] = []
    for file, own in sorted(by_file.items()):
        before = file.read_text(encoding="utf-8")
        after, missed = _changed(before, file, own)
        by_hand += missed
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.as_posix()
        diffs += difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
        )
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diffs)
    added = sum(line.startswith("+") and not line.startswith("+++") for line in diffs)
    return Patched(text, added, tuple(by_hand))


def _changed(text: str, file: Path, changes: Sequence[Change]) -> tuple[str, list[str]]:
    """The file's text with the changes, and those that found no single place."""
    wrapper = MetadataWrapper(cst.parse_module(text))
    calls = _Calls()
    wrapper.visit(calls)
    wanted: dict[cst.CSTNode, list[Change]] = {}
    missed = []
    for change in changes:
        for place in change.places if change.kind == "keyword" else ():
            if Path(place.file) != file:
                continue
            if (node := calls.at(change, place, text)) is not None:
                wanted.setdefault(node, []).append(change)
            else:
                missed.append(f"{file.name}:{place.line}: {change.keyword}={change.value!r}")
    module = wrapper.visit(_Keywords(wanted))
    statements = [line for one in changes if one.kind != "keyword" for line in _statement(one)]
    if statements:
        module = _with_statements(module, list(dict.fromkeys(statements)))
    return (module.code if wanted or statements else text), missed


class _Calls(cst.CSTVisitor):
    """The calls of a file, bare decorators among them, by their lines."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[int, list[tuple[int, cst.CSTNode, str]]] = {}

    def visit_Call(self, node: cst.Call) -> None:  # noqa: N802
        """One call."""
        self._add(node, node.func)

    def visit_Decorator(self, node: cst.Decorator) -> None:  # noqa: N802
        """`@torch.compile`, without parentheses."""
        if not isinstance(node.decorator, cst.Call):
            self._add(node.decorator, node.decorator)

    def _add(self, node: cst.CSTNode, function: cst.BaseExpression) -> None:
        name = function.attr.value if isinstance(function, cst.Attribute) else getattr(function, "value", "")
        start = self.get_metadata(PositionProvider, node).start
        self._found.setdefault(start.line, []).append((start.column, node, name))

    def at(self, change: Change, place: Place, text: str) -> cst.CSTNode | None:
        """The only call there that the change can be about: by its column, else by its name; None if there is none."""
        line = text.splitlines()[place.line - 1] if 0 < place.line <= text.count("\n") + 1 else ""
        column = len(line.encode()[: place.column].decode(errors="replace")) if place.column >= 0 else -1
        there = self._found.get(place.line, [])
        named = [one for one in there if one[2] == ("compile" if change.of == COMPILE else change.of)]
        here = [one for one in named if one[0] == column] or [one for one in there if one[0] == column] or named
        return here[0][1] if len(here) == 1 else None


class _Keywords(cst.CSTTransformer):
    """Adds keyword arguments to calls; a bare decorator becomes a call."""

    def __init__(self, wanted: Mapping[cst.CSTNode, Sequence[Change]]) -> None:
        super().__init__()
        self._wanted = wanted

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:  # noqa: N802
        """A call of what a change is about."""
        for change in self._wanted.get(original_node, ()):
            updated_node = updated_node.with_changes(args=_with_argument(list(updated_node.args), _argument(change)))
        return updated_node

    def leave_Decorator(self, original_node: cst.Decorator, updated_node: cst.Decorator) -> cst.Decorator:  # noqa: N802
        """`@torch.compile`, without parentheses."""
        if isinstance(original_node.decorator, cst.Call):
            return updated_node
        for change in self._wanted.get(original_node.decorator, ()):
            old = updated_node.decorator
            call = old if isinstance(old, cst.Call) else cst.Call(old)
            updated_node = updated_node.with_changes(
                decorator=call.with_changes(args=_with_argument(list(call.args), _argument(change)))
            )
        return updated_node


def _argument(change: Change) -> cst.Arg:
    return cst.Arg(
        keyword=cst.Name(change.keyword),
        value=cst.parse_expression(_literal(change.value)),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )


def _with_argument(arguments: list[cst.Arg], new: cst.Arg) -> list[cst.Arg]:
    """The arguments with that keyword: in its place if it is there, else behind the others, laid out as they are."""
    name = "" if new.keyword is None else new.keyword.value
    if any(one.keyword is not None and one.keyword.value == name for one in arguments):
        return [
            one.with_changes(value=new.value) if one.keyword is not None and one.keyword.value == name else one
            for one in arguments
        ]
    if not arguments:
        return [new]
    old = arguments[-1]
    behind = old.comma
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if isinstance(behind, cst.Comma) and len(arguments) > 1 and isinstance(arguments[-2].comma, cst.Comma):
        between = arguments[-2].comma
    return [
        *arguments[:-1],
        old.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace("")),
        new.with_changes(comma=behind, whitespace_after_arg=old.whitespace_after_arg),
    ]


def _literal(value: Any) -> str:
    text = repr(value)
    return f'"{text[1:-1]}"' if isinstance(value, str) and '"' not in text else text


def _statement(change: Change) -> list[str]:
    """The lines that do what is done once torch is imported."""
    if change.kind == "call":
        return ["import torch", f"{change.of}({_literal(change.value)})"]
    module = change.of.rpartition(".")[0]
    imported = module if module.endswith(".config") else "torch"
    return [f"import {imported}", f"{change.of} = {_literal(change.value)}"]


def _with_statements(module: cst.Module, lines: Sequence[str]) -> cst.Module:
    """The lines behind the first import of torch, where they take effect as they did when they were tried; without one
    behind the docstring and what is imported from `__future__`."""
    body = list(module.body)
    imports = [index for index, one in enumerate(body) if _imports(one, "torch")]
    at = imports[0] + 1 if imports else next((i for i, one in enumerate(body) if not _is_first(one)), len(body))
    has_torch = bool(imports) and _binds_torch(body[imports[0]])
    wanted = [line for line in lines if not (has_torch and line == "import torch")]
    new = [cst.parse_statement(line) for line in wanted]
    return module.with_changes(body=[*body[:at], *new, *body[at:]])


def _imports(statement: Any, name: str) -> bool:
    return any(one == name or one.startswith(f"{name}.") for one, _ in _imported(statement))


def _binds_torch(statement: Any) -> bool:
    return any(bound == "torch" for _, bound in _imported(statement))


def _imported(statement: Any) -> list[tuple[str, str]]:
    """The modules that a top-level statement imports, and the name that each is bound to."""
    found = []
    for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
        if isinstance(small, cst.Import):
            for alias in small.names:
                name = _dotted(alias.name)
                found.append((name, alias.evaluated_alias or name.partition(".")[0]))
        elif isinstance(small, cst.ImportFrom) and small.module is not None and not small.relative:
            found.append((_dotted(small.module), ""))
    return found


def _dotted(node: cst.BaseExpression) -> str:
    return f"{_dotted(node.value)}.{node.attr.value}" if isinstance(node, cst.Attribute) else getattr(node, "value", "")


def _is_first(statement: Any) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    is_text = isinstance(first, cst.Expr) and isinstance(first.value, (cst.SimpleString, cst.ConcatenatedString))
    is_future = isinstance(first, cst.ImportFrom) and first.module is not None and _dotted(first.module) == "__future__"
    return is_text or is_future
