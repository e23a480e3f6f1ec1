"""Graphs that were compiled again: figures of each compile beside the first, and the differences."""

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

import msgspec
from rich.console import RenderableType

from inspect_compile.analysis.compare import replays as analysis
from inspect_compile.analysis.compare.replays import Compiled, Replays, name_of
from inspect_compile.analysis.dumps.parts import asked
from inspect_compile.analysis.dumps.parts import replays as replays_of
from inspect_compile.analysis.lookup.answer import Found
from inspect_compile.analysis.lookup.pairs import find_pair, standing
from inspect_compile.facts import Remark
from inspect_compile.tables.compare.differences import differences
from inspect_compile.tables.lookup_text import unresolved_text
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import byte_text, clean, exception_text, one_line, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column(""),
    Column("kernels", right=True),
    Column("groups", right=True),
    Column("read", right=True),
    Column("written", right=True),
    Column("regs", right=True),
    Column("spills", right=True, least=100),
    Column("in", right=True, least=100),
    Column("code"),
    Column("with", flex=True),
)


def replays(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    only: Collection[int] | None = None,
) -> RenderableType:
    """For each graph one row for each compile; then the differences from the first."""
    found = analysis.replays(dump, graph, only)
    if not found:
        return Stack(
            [
                styled("No graph was compiled again. This does it:"),
                styled("   inspect-compile replay DUMP --graph G --config NAME=VALUE", "cyan"),
            ],
            gap=False,
        )
    return Stack([part for one in found for part in _graph(dump, one, limit, dump_argument)])


def replay_rows(dump: "Dump", graph: str | None, only: Collection[int] | None = None) -> Iterator[msgspec.Struct]:
    """The same for programs: the first compile, then each later one and its differences."""
    for found in analysis.replays(dump, graph, only):
        yield found.first
        for row, differ in found.again:
            yield row
            yield from differ


def _graph(dump: "Dump", found: Replays, limit: int | None, dump_argument: str) -> Iterator[RenderableType]:
    rows = [found.first, *(row for row, _ in found.again)]
    cells = [_cells(row, found.first) for row in rows]
    used = [index for index, _ in enumerate(_COLUMNS) if any(str(row[index]) for row in cells)]
    yield Sheet(
        [_COLUMNS[index] for index in used],
        [[row[index] for index in used] for row in cells],
        title=styled(clean(found.first.graph), "bold"),
    )
    for row, differ in found.again:
        lines: list[RenderableType] = list(_told(dump, row))
        here = f"{dump_argument} --replay {row.replay}"
        lines += differences(differ, lambda difference, here=here: here, limit=limit)  # type: ignore[misc]
        if lines:
            yield Stack(lines, gap=False)


def _told(dump: "Dump", row: Compiled) -> Iterator[RenderableType]:
    name = name_of(row)
    if row.exception is not None:
        first = row.exception.strip().partition("\n")[0]
        yield styled(f" {name} failed: {exception_text(first)}", "red")
    if row.replay is not None:
        again = replays_of(dump)[row.replay].dump
        for a, b in row.denied if row.status == "compiled" else ():
            yield _apart(name, again, row.graph, a, b)
        for remark in again.rows(Remark):
            if remark.code.startswith("replay-"):
                yield joined((f" {name}  ", "bold"), (one_line(remark.message), "yellow"))


def _apart(name: str, again: "Dump", graph: str, a: str, b: str) -> RenderableType:
    """Whether the pair stayed apart. A CPU kernel can contain two groups, which then still share a kernel."""
    answer = find_pair(again, a, b, graph)
    if not isinstance(answer, Found):  # another setting can give other operations
        return joined((f" {name}  ", "bold"), (one_line(f"{a} and {b}: {unresolved_text(answer)}"), "yellow"))
    found = standing(again, answer.all[0])
    if found.is_fused:
        return joined((f" {name}  ", "bold"), (one_line(f"{a} and {b} are in one group all the same"), "red"))
    kernels = f"in two kernels, {_names(found.kernels_a)} and {_names(found.kernels_b)}"
    if found.kernels_a == found.kernels_b:
        kernels = f"in two launches of {_names(found.kernels_a)}"
    if found.is_one_kernel:
        shared = [kernel for kernel in found.kernels_a if kernel in found.kernels_b]
        kernels = f"in one launch still, of {_names(shared)}, as loops of their own"
    told = f"{a} and {b} are apart, in {_names(found.a)} and {_names(found.b)}, {kernels}"
    return joined((f" {name}  ", "bold"), one_line(told))


def _names(names: Collection[str]) -> str:
    return ", ".join(names) or "none"


def _cells(row: Compiled, first: Compiled) -> list[Cell]:
    if row.status == "failed" and not row.kernels:
        return [
            name_of(row),
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            styled("failed", "red"),
            one_line(asked(row.target, row.config, row.denied)),
        ]
    return [
        name_of(row),
        _number(row.kernels, first.kernels),
        _number(row.groups, first.groups),
        _bytes(row.read_bytes, first.read_bytes),
        _bytes(row.written_bytes, first.written_bytes),
        "" if row.registers is None else _number(row.registers, first.registers),
        "" if row.spills is None else _number(row.spills, first.spills),
        "" if row.seconds is None else seconds_text(row.seconds),
        "" if row is first else _code(row),
        one_line(asked(row.target, row.config, row.denied)),
    ]


def _code(row: Compiled) -> Cell:
    if row.status != "compiled":
        return styled(row.status, "red")
    if row.same_code is None:
        return ""
    return styled("the same", "green") if row.same_code else styled("other", "yellow")


def _number(value: int, first: int | None) -> Cell:
    return _changed(f"{value:,}", value, first, lambda change: f"{change:+,}")


def _bytes(value: int, first: int) -> Cell:
    share = f"{value / first - 1:+.0%}" if first else ""
    return _changed(byte_text(value), value, first, lambda _: share if share not in ("+0%", "-0%") else "")


def _changed(text: str, value: int, first: int | None, told: Callable[[int], str]) -> Cell:
    if first is None or value == first or not (change := told(value - first)):
        return text
    return joined(text, (f" {change}", "green" if value < first else "red"))
