"""Maps every line of a kernel's stages to lines of its source, and so to FX nodes.

Lines of the source are numbered as in the dump's `source.py` and in `KernelBody`. The file that the compiler read has
the same lines at an offset, found from where the kernel's function begins.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import msgspec

from inspect_compile.analysis.kernels.debug_lines import (
    PARSERS,
    Lines,
    Place,
    Stack,
    machine_lines,
    machine_lines_in_order,
    objdump_lines,
)
from inspect_compile.analysis.kernels.instructions import count_instructions
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Binary, Kernel, Location
from inspect_compile.graph import CompiledGraph, file_name, outermost
from inspect_compile.graph.kernels.binaries import Configuration, configurations, of_kernel, of_kernels
from inspect_compile.graph.kernels.launches import USER_TRITON
from inspect_compile.graph.kernels.statements import Annotated, Statements

STAGES: Final = ("ttir", "ttgir", "llir", "ptx", "amdgcn", "sass", "isa")
"""Stages of Triton kernels in the order in which they are made; the last two are disassemblies."""
ASSEMBLY: Final = "asm"
"""The only stage of C++ kernels."""

_MACHINE: Final = {text: code for code, text in paths.DISASSEMBLIES.items()}
_WRITTEN_IN: Final = {"sass": "ptx", "isa": "amdgcn"}
"""Disassembly → the assembly that it was made from."""

_ENTRY: Final = re.compile(
    r"tt\.func public @\"?([\w.$]+)|define [^@\n]{0,99}_kernel [^@\n]{0,99}@\"?([\w.$]+)"
    r"|\.entry ([\w.$]+)|\.globl\s+([\w.$]+)"
)
_DEFINED: Final = re.compile(r"def (\w+)\(")


_NOT_MADE: Final = "// not made: "
"""Begins a disassembly that is not there, and says why."""

_LOWER: Final = 1
"""torch's text begins with an empty line that source.py does not have."""


class Stage(msgspec.Struct, frozen=True):
    """One stage of one configuration of a kernel, mapped to the kernel's source."""

    name: str
    label: str
    """Label of the configuration; empty for C++."""
    text: str
    sources: tuple[tuple[int, ...], ...] = ()
    """For each line of the text, the source lines that it comes from, innermost call first."""
    note: str = ""
    """Why there is no text, or no mapping."""

    def ranges(self) -> dict[int, list[tuple[int, int]]]:
        """Source line → the stage's lines, as (first, last) of each uninterrupted run."""
        found: dict[int, list[tuple[int, int]]] = {}
        open_runs: dict[int, int] = {}
        for number, lines in enumerate(self.sources, 1):
            if not lines:
                continue
            for line in lines:
                runs = found.setdefault(line, [])
                if line in open_runs:
                    runs[-1] = (runs[-1][0], number)
                else:
                    runs.append((number, number))
            open_runs = dict.fromkeys(lines, number)
        return found


class StageLine(msgspec.Struct, frozen=True, tag_field="fact", tag="stage_line"):
    """One line of a stage, and its origin."""

    graph: str
    kernel: str
    configuration: str
    stage: str
    line: int
    text: str
    source: tuple[int, ...]
    """Lines of the kernel's source, innermost call first; empty if no location is known."""
    nodes: tuple[str, ...]
    """Of all calls of the kernel, as are modules and lines."""
    modules: tuple[str, ...]
    lines: tuple[Location, ...]
    """Lines of the user's program, each once."""


def stages_of(rows: Iterable[Binary]) -> tuple[str, ...]:
    """The stages in STAGES that any of the configurations has; a stage that was not kept is explained."""
    found = list(rows)
    names = {paths.DISASSEMBLIES.get(stage.name, stage.name) for row in found for stage in row.stages}
    return tuple(name for name in STAGES if name in names) or (("ptx",) if found else ())


class KernelStages:
    """The stages of one kernel, read on demand."""

    def __init__(self, dump: Dump, kernel: Kernel) -> None:
        self._dump = dump
        self.kernel = kernel
        self._graph = outermost(kernel.graph)
        self.compiled: list[Configuration] = of_kernel(
            of_kernels(configurations(CompiledGraph(dump, self._graph))), kernel.graph, kernel.name
        )
        """The configuration that runs comes first."""
        self._known: dict[tuple[str, str], Stage] = {}
        self._entries: dict[str, tuple[str, int]] = {}

    @cached_property
    def source(self) -> list[str]:
        """The kernel's source; empty if the dump has none."""
        kernel = self.kernel
        return (self._dump.text(kernel.graph, kernel.source) or "").splitlines() if kernel.source else []

    def labels(self) -> list[str]:
        """Labels of its configurations."""
        return [row.label for row in self.compiled]

    def names(self, row: Configuration) -> list[str]:
        """The stages that a configuration has, disassemblies under their own names."""
        return [paths.DISASSEMBLIES.get(stage.name, stage.name) for stage in row.stages]

    def text(self, row: Configuration, name: str) -> str | None:
        """The text of the stage called `name`; None if the dump has none."""
        stage = next((stage for stage in row.stages if stage.name == _MACHINE.get(name, name)), None)
        if stage is None or not stage.path:
            return None
        path = paths.disassembly(stage.path, stage.name) if name in _MACHINE else stage.path
        text = self._dump.text(self._graph, path)
        return None if text is None or text.startswith(_NOT_MADE) else text

    def stage(self, row: Configuration, name: str) -> Stage:
        """The stage called `name`."""
        key = (row.label, name)
        if key not in self._known:
            self._known[key] = self._stage(row, name)
        return self._known[key]

    def _stage(self, row: Configuration, name: str) -> Stage:
        is_machine = name in _MACHINE
        stage = next((stage for stage in row.stages if stage.name == _MACHINE.get(name, name)), None)
        if stage is None:
            there = f"it has {' '.join(self.names(row))}" if row.stages else row.left_out or "it is not in the dump"
            return Stage(name, row.label, "", note=f"no {name}: {there}")
        path = paths.disassembly(stage.path, stage.name) if is_machine else stage.path
        text = self._dump.text(self._graph, path)
        if text is None:
            is_other = is_machine and bool(self.compiled) and row.label != self.compiled[0].label
            why = (
                f"no {name} of this configuration: of several the one that runs, or the first, is disassembled"
                if is_other
                else f"{path} is not made (yet): disassemblies are made at the end of a run"
                if is_machine
                else f"{path} is not in the dump"
            )
            return Stage(name, row.label, "", note=why)
        if is_machine and text.startswith(_NOT_MADE):
            return Stage(name, row.label, "", note=f"no {name}: {text.strip().removeprefix('// not made: ')}")
        return self._mapped(row, name, text)

    def _mapped(self, row: Configuration, name: str, text: str) -> Stage:
        if row.label not in self._entries:
            self._entries[row.label] = self._entry(row)
        file, shift = self._entries[row.label]
        if name in _MACHINE:
            assembly = self._text(row, _WRITTEN_IN[name])
            places = PARSERS[_WRITTEN_IN[name]](assembly)
            found = (
                machine_lines_in_order(text, assembly, places)
                if name == "isa"
                else machine_lines(text, places, _calls(places))
            )
        else:
            found = PARSERS[name](text)
        sources = _in_source(found, file, shift, len(self.source))
        note = "" if any(sources) else _silent(name, bool(self.source), file if any(found) else "")
        return Stage(name, row.label, text, sources, note)

    def _text(self, row: Configuration, name: str) -> str:
        path = next((stage.path for stage in row.stages if stage.name == name), "")
        return (self._dump.text(self._graph, path) if path else None) or ""

    def _entry(self, row: Configuration) -> tuple[str, int]:
        """The file that the compiler read the kernel from, and the offset of its lines there."""
        for name in ("ttir", "llir", "ptx", "amdgcn"):
            text = self._text(row, name)
            found = _ENTRY.search(text)
            if found is None:
                continue
            function = next(filter(None, found.groups()))
            first = text.count("\n", 0, found.start())
            places = PARSERS[name](text)
            place = next((stack[-1] for line in places[first:] for stack in line), None)
            if place is None:
                continue
            defined = self._defined(function)
            return place.file, place.line - defined if defined else _LOWER
        return file_name(self.kernel.path), _LOWER

    def _defined(self, function: str) -> int:
        """Source line of the kernel's function; 0 if there is none."""
        names = {found[1]: number for number, line in enumerate(self.source, 1) if (found := _DEFINED.match(line))}
        return names.get(function) or names.get(self.kernel.name) or 0


def _calls(places: Iterable[tuple[Stack, ...]]) -> dict[Place, tuple[Stack, ...]]:
    """Place → the stacks that begin there."""
    found: dict[Place, dict[Stack, None]] = {}
    for line in places:
        for stack in line:
            found.setdefault(stack[0], {})[stack] = None
    return {place: tuple(stacks) for place, stacks in found.items()}


def _in_source(found: Lines, file: str, shift: int, length: int) -> tuple[tuple[int, ...], ...]:
    known: dict[tuple[Stack, ...], tuple[int, ...]] = {(): ()}
    for stacks in found:
        if stacks not in known:
            lines = (place.line - shift for stack in stacks for place in stack if place.file == file)
            known[stacks] = tuple(dict.fromkeys(line for line in lines if 0 < line <= length))
    return tuple(known[stacks] for stacks in found)


def _silent(name: str, has_source: bool, file: str) -> str:
    if not has_source:
        return "nothing is mapped: the kernel's source is not in the dump"
    if name == "isa" and not file:
        return "no line of isa is mapped: its instructions are not those of amdgcn, in order, or that has no locations"
    if not file:
        return f"no line of {name} is mapped: the compiler wrote no locations (TRITON_DISABLE_LINE_INFO?)"
    return f"no line of {name} is mapped: it has no locations of {file}"


def of_assembly(disassembled: str, source: Sequence[str], file: str) -> Stage:
    """The stage `asm` of a C++ kernel whose source was compiled as `file`, from objdump's output."""
    text, found = objdump_lines(disassembled, file)
    sources = _in_source(found, file, 0, len(source))
    return Stage(ASSEMBLY, "", text, sources, "" if any(sources) else "the compiler wrote no locations")


def of_all(kernel: Kernel) -> tuple[tuple[str, ...], tuple[Location, ...]]:
    """Nodes and source lines of a whole kernel: only a user's kernel has them."""
    return (kernel.nodes, kernel.lines) if kernel.kind == USER_TRITON else ((), ())


def annotated_lines(statements: Statements, kernel: Kernel, stage: Stage) -> list[StageLine]:
    """Each line of a stage with the nodes of the statements that it is of, whichever call of the kernel they are of.

    A user's kernel belongs to one node as a whole.
    """
    whole = of_all(kernel)
    rows = {row.line: row for row in statements.of_all_calls(kernel)}
    found = []
    for number, (text, source) in enumerate(zip(stage.text.splitlines(), stage.sources, strict=True), 1):
        of = [rows[line] for line in source if line in rows]
        nodes, lines = whole if source and not of else ((), ())
        found.append(
            StageLine(
                graph=kernel.graph,
                kernel=kernel.name,
                configuration=stage.label,
                stage=stage.name,
                line=number,
                text=text,
                source=source,
                nodes=nodes or tuple(dict.fromkeys(node for row in of for node in row.nodes)),
                modules=tuple(dict.fromkeys(module for row in of for module in row.modules)),
                lines=lines or tuple(dict.fromkeys(place for row in of for place in row.lines)),
            )
        )
    return found


class Coverage(msgspec.Struct, frozen=True):
    """How much of a stage is mapped."""

    instructions: int
    """Lines of the stage that are instructions."""
    mapped: int
    statements: int
    """Statements of the kernel's source that have a node."""
    folded: tuple[int, ...]
    """Statements that no line of the stage comes from: folded into others, or eliminated."""


def coverage(stage: Stage, rows: Iterable[Annotated]) -> Coverage:
    """How much of `stage` is mapped, and which of the kernel's statements remain in it."""
    mapped = sum(map(bool, stage.sources))
    reached = Counter(line for lines in stage.sources for line in lines)
    lines = [row.line for row in rows if row.nodes]
    return Coverage(
        max(count_instructions(stage.name, stage.text), mapped),
        mapped,
        len(lines),
        tuple(line for line in lines if not reached[line]),
    )
