"""The user's program, with the lines that the graph's nodes come from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from inspect_compile.dump import Dump
from inspect_compile.dump.files import plain_file
from inspect_compile.facts import Node
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.knowledge.frontend.own_code import is_library, own_line
from inspect_compile.tables.styled_text import styled
from inspect_compile.tables.text import line_text, number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine, SheetLine
from inspect_compile.tui.models.open_strings import opened_in
from inspect_compile.tui.models.sheet import Panel, Shown

LARGEST: Final = 4 << 20
"""Maximum size of a source file in bytes."""

SHORT: Final = 200
"""Files with fewer lines are always shown whole."""

AROUND: Final = 8
"""Lines shown above and below a line that has nodes."""


@dataclass(frozen=True)
class SourceFile:
    """One file, and what is known of its lines."""

    path: str
    lines: dict[int, str]
    """All lines if the file exists unchanged, else those that the facts contain."""
    state: str
    """Empty if the file was read; else why it was not."""


def source(dump: Dump, chain: Chain, whole: bool) -> Code:
    """The files that nodes of this graph come from: the user's own first, each kind in the order of its first node."""
    kernels: dict[Line, set[int]] = {}
    for node, lines in chain.lines_of_node.items():
        for line in lines:
            kernels.setdefault(line, set()).update(chain.kernels_of_node.get(node, ()))
    cwd = dump.run.cwd
    shown: list[SheetLine] = []
    for path in sorted(dict.fromkeys(line.file for line in kernels), key=is_library):
        file = read(path, cwd, chain.nodes)
        marked = sorted(line.number for line in kernels if line.file == path)
        count = chain.count(set().union(*(found for line, found in kernels.items() if line.file == path)))
        if shown:
            shown.append(styled("", "dim"))
        reached = _reached(path, chain.nodes)
        shown.append(styled(_heading(path, cwd, len(marked), count, reached, file.state), "title"))
        wanted = file.lines if whole else _around(file.lines, marked)
        opened = opened_in(list(file.lines.values()), "python") if not file.state else {}
        last = 0
        for number in wanted:
            if number != last + 1:
                shown.append(styled("  ⋯", "dim"))
            last = number
            of = kernels.get(Line(path, number))
            subject = chain.of_line(Line(path, number)) if of is not None else None
            note = f"{chain.count(of)}▪" if of else ""
            shown.append(
                CodeLine(
                    file.lines[number], number, note, subject, language="python", opened=opened.get(number - 1, "")
                )
            )
        if file.lines and last < max(file.lines):
            shown.append(styled("  ⋯", "dim"))
    return Code(shown)


def _reached(path: str, nodes: Iterable[Node]) -> str:
    """From where the user's own code reaches a library's file: `from train.py:41`; empty if that is not known."""
    of_file = (node.where for node in nodes if node.where is not None and node.where.file == path)
    own = next((found for where in of_file if (found := own_line(where)) is not where and found is not None), None)
    return "" if own is None else f"from {line_text(own)}"


def _heading(path: str, cwd: str, lines: int, kernels: int, reached: str, state: str) -> str:
    folder, _, name = short_path(path, cwd).rpartition("/")
    parts = (name, f"{number_of(lines, 'line')} in {number_of(kernels, 'kernel')}", reached, state, folder)
    return "  ·  ".join(part for part in parts if part)


def _around(lines: dict[int, str], marked: Sequence[int]) -> list[int]:
    if len(lines) <= SHORT:
        return list(lines)
    near = {number for line in marked for number in range(line - AROUND, line + AROUND + 1)}
    return [number for number in lines if number in near]


def read(path: str, cwd: str, nodes: Iterable[Node]) -> SourceFile:
    """The file on this disk, if it still is what was compiled; else its lines from the nodes.

    A dump names the files, and is untrusted. So only Python files are read, and shown only if the dump knows their
    contents.
    """
    places = (one for node in nodes if node.where is not None for one in (node.where, own_line(node.where)))
    recorded = {one.line: one.code for one in places if one is not None and one.file == path}
    text = _text(Path(cwd) / path) if any(code.strip() for code in recorded.values()) else None
    if text is None:
        return SourceFile(path, dict(sorted(recorded.items())), "not on this machine: only the lines that have nodes")
    lines = dict(enumerate((line.expandtabs(4) for line in text.splitlines()), 1))
    if any(code and lines.get(number, "").strip() != code.strip() for number, code in recorded.items()):
        return SourceFile(
            path, dict(sorted(recorded.items())), "changed since the run: only the lines that have nodes, as recorded"
        )
    return SourceFile(path, lines, "")


def _text(path: Path) -> str | None:
    file = plain_file(path) if path.suffix == ".py" else None
    if file is None:
        return None
    try:
        with file:
            data = file.read(LARGEST + 1)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if len(data) <= LARGEST else None


def short_path(path: str, cwd: str) -> str:
    """`path` in short: relative to the program's directory, or to where packages are installed."""
    if cwd and path.startswith(f"{cwd}/"):
        return path[len(cwd) + 1 :]
    for folder in ("/site-packages/", "/dist-packages/"):
        _, found, rest = path.partition(folder)
        if found:
            return rest
    return path


NO_LINES: Final = (
    "No node of this graph carries a line of the program.",
    "Dynamo traced only torch's own code (an nn.Sequential, for example).",
    "FX and Cost name the modules instead.",
)


def files(dump: Dump, chain: Chain, mode: str) -> Shown[Code]:
    """The files, from the first line that has nodes."""
    code = source(dump, chain, whole=mode == "whole")
    marked = [index for index in range(len(code)) if code.subject(index) is not None]
    if not len(code) and chain.nodes:
        code = Code([styled(f" {line}", "dim") for line in NO_LINES])
    return Shown(code, number_of(len(marked), "line"), marked[0] if marked else 0)


PANEL: Final = Panel(files, ("around", "whole"), "No node of this graph has a source line.")
