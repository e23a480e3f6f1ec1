"""A kernel's source and one of its stages side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from inspect_compile.analysis.kernels.instructions import says_places_only
from inspect_compile.analysis.kernels.stage_lines import (
    ASSEMBLY,
    KernelStages,
    Stage,
    StageLine,
    annotated_lines,
    of_assembly,
)
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.tables.kernels.binaries import binary_text
from inspect_compile.tables.kernels.stage_page import coverage_lines, source_text, stage_text
from inspect_compile.tables.styled_text import styled
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine, SheetLine, wrapped

_LANGUAGES: Final = {"llir": "llvm", "ptx": "ptx", "amdgcn": "amdgpu"}
_NARROW: Final = 28
"""Columns of half a pane on a terminal of 80."""

Links = Mapping[int, Sequence[int]]
"""Row of one list → the rows of the other that belong to it."""


@dataclass(frozen=True)
class Staged:
    """One stage of one configuration of a kernel, and its mapping to the source."""

    code: Code
    labels: tuple[str, ...] = ()
    """Labels of all configurations."""
    label: str = ""
    """Label of this configuration."""
    from_source: Links = field(default_factory=dict)
    to_source: Links = field(default_factory=dict)


def staged(dump: Dump, chain: Chain, kernel: Kernel, source: Code, name: str, label: str) -> Staged:
    """The stage `name`, of the configuration `label` if the kernel has it, mapped to the rows of `source`."""
    stages = KernelStages(dump, kernel)
    if not stages.compiled:
        return Staged(message(name, "Triton compiled no kernel of this name"))
    labels = tuple(stages.labels())
    row = stages.compiled[labels.index(label) if label in labels else 0]
    stage = stages.stage(row, name)
    which = f"   {labels.index(row.label) + 1} of {len(labels)}, c: the next" if len(labels) > 1 else ""
    lines: list[SheetLine] = [
        styled(f"{name}   {row.label}{which}", "title"),
        styled(binary_text([row]), "dim"),
        *(styled(line, "dim") for line in (coverage_lines(chain.statements, kernel, stage) if stage.text else ())),
        *(styled(line, "warn") for line in (stage.note,) if line),
    ]
    return _linked(chain, kernel, source, stage, lines, labels)


class Assembled(Protocol):
    """The disassembly of a C++ kernel whose source was compiled again."""

    @property
    def text(self) -> str:
        """objdump's output."""

    @property
    def torch(self) -> str:
        """The version of torch whose flags were used."""

    @property
    def file(self) -> str:
        """The name of the source in it."""


def cpp_source(dump: Dump, kernel: Kernel) -> str:
    """The source of a C++ kernel; empty for other kernels, and if it is not in the dump."""
    return "\n".join(KernelStages(dump, kernel).source) if kernel.kind == "cpp" else ""


def assembled(dump: Dump, chain: Chain, kernel: Kernel, source: Code, made: Assembled) -> Staged:
    """The assembly of a C++ kernel, mapped to the rows of `source`."""
    stage = of_assembly(made.text, KernelStages(dump, kernel).source, made.file)
    lines: list[SheetLine] = [
        styled(f"{ASSEMBLY}   compiled again here, with the flags of torch {made.torch}", "title"),
        *(styled(line, "dim") for line in coverage_lines(chain.statements, kernel, stage)),
        *(styled(line, "warn") for line in (stage.note,) if line),
    ]
    return _linked(chain, kernel, source, stage, lines, ())


def _linked(
    chain: Chain, kernel: Kernel, source: Code, stage: Stage, lines: list[SheetLine], labels: tuple[str, ...]
) -> Staged:
    """The lines of a stage below `lines`, mapped to the rows of `source`."""
    row_of_line = {number: index for index in range(len(source)) if (number := source.number(index))}
    down: dict[int, list[int]] = {}
    up: dict[int, list[int]] = {}
    before: tuple[int, ...] = ()
    for of in annotated_lines(chain.statements, kernel, stage):
        if says_places_only(of.text):
            continue
        for line in of.source:
            if line in row_of_line:
                down.setdefault(row_of_line[line], []).append(len(lines))
                up.setdefault(len(lines), []).append(row_of_line[line])
        lines.append(_line(chain, of, before, _LANGUAGES.get(stage.name, "")))
        before = of.source or before
    return Staged(Code(lines), labels, stage.label, down, up)


def _line(chain: Chain, of: StageLine, before: tuple[int, ...], language: str) -> CodeLine:
    note = source_text(of.source) if of.source != before else ""
    subject = chain.of_node(of.graph, of.nodes[0]) if of.nodes else None
    return CodeLine(stage_text(of), of.line, note, subject, language=language)


def message(name: str, why: str) -> Code:
    """Why a stage is not shown."""
    reason = f"no {name}: {why}"
    return Code([styled(name, "title"), *wrapped(reason, _NARROW, "dim")])
