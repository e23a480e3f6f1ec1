"""Graphs that were compiled again: figures of each compile beside the first, and the differences."""

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.compare import replays as analysis
from inspect_compile.analysis.compare.replays import Compiled, Counts, Replays, name_of, replay_rows
from inspect_compile.analysis.dumps.parts import asked
from inspect_compile.analysis.dumps.parts import replays as replays_of
from inspect_compile.analysis.lookup.answer import Found
from inspect_compile.analysis.lookup.pairs import find_pair, standing
from inspect_compile.facts import Remark
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.columns import Cell, Column, Span, cell
from inspect_compile.tables.compare.differences import differences
from inspect_compile.tables.compare.second_compile import agreement_text
from inspect_compile.tables.lookup_text import unresolved_text
from inspect_compile.tables.parts import DeclaredTable, Request
from inspect_compile.tables.styled_text import Block, Stack, Table, joined, styled
from inspect_compile.tables.text import byte_text, clean, exception_text, one_line, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_Value = Callable[[Compiled | Counts], int | None]


def _figure(title: str, value: _Value, *, drop: int = 0, optional: bool = False) -> Column[Compiled]:
    """A count, and by how many it differs from that of the first compile."""
    return Column(
        title, lambda row: _changed(row, value, "{:,}".format, "{:+,}".format), right=True, drop=drop, optional=optional
    )


def _bytes(title: str, value: _Value) -> Column[Compiled]:
    """Bytes, and by which share they differ from those of the first compile."""
    return Column(title, lambda row: _changed(row, value, byte_text, None), right=True)


COLUMNS: Final[tuple[Column[Compiled], ...]] = (
    Column("compile", name_of, role="name"),
    _figure("kernels", lambda row: row.kernels),
    _figure("groups", lambda row: row.groups),
    _bytes("read", lambda row: row.read_bytes),
    _bytes("written", lambda row: row.written_bytes),
    _figure("registers", lambda row: row.registers, optional=True, drop=1),
    _figure("spills", lambda row: row.spills, optional=True, drop=2),
    Column("time", lambda row: _time(row), right=True, drop=3),
    Column("code", lambda row: _code(row), optional=True),
    Column(
        "with",
        lambda row: one_line(asked(row.target, row.config, row.denied)),
        stretch=True,
        least=12,
        most=200,
        optional=True,
    ),
)


def replays(request: Request, *, only: Collection[int] | None = None) -> Block:
    """For each graph one row for each compile; then the differences from the first."""
    found = analysis.replays(request.dump, request.graph, only)
    if not found:
        return Stack(
            [
                styled("No graph was compiled again. To compile one again:"),
                styled("   inspect-compile replay DUMP --graph G --config NAME=VALUE", "accent"),
            ],
            gap=False,
        )
    return Stack(part for one in found for part in _graph(request, one))


def _graph(request: Request, found: Replays) -> Iterator[Block]:
    rows = [found.first, *(row for row, _ in found.again)]
    yield Table(COLUMNS, rows, title=styled(clean(found.first.graph), "strong"))
    for row, differ in found.again:
        lines: list[Block] = list(_lines(request.dump, row))
        here = f"{request.dump_argument} --replay {row.replay}"
        lines += differences(differ, lambda difference, here=here: here, limit=request.limit)  # type: ignore[misc]
        if lines:
            yield Stack(lines, gap=False)


def _lines(dump: "Dump", row: Compiled) -> Iterator[Block]:
    name = name_of(row)
    if row.exception is not None:
        first = row.exception.strip().partition("\n")[0]
        yield styled(f" {name} failed: {exception_text(first)}", "bad")
    if row.replay is not None:
        again = replays_of(dump)[row.replay].dump
        if row.agreement is not None:
            yield joined((f" {name}  ", "strong"), one_line(agreement_text(row.agreement)))
        for a, b in row.denied if row.status == "compiled" else ():
            yield _apart(name, again, row.graph, a, b)
        for remark in again.rows(Remark):
            if remark.code.startswith("replay-"):
                yield joined((f" {name}  ", "strong"), (one_line(remark.message), "warn"))


def _apart(name: str, again: "Dump", graph: str, a: str, b: str) -> Block:
    """Whether the pair stayed apart. A CPU kernel can contain two groups, which then still share a kernel."""
    answer = find_pair(CompiledGraph(again, graph), a, b)
    if not isinstance(answer, Found):  # another setting can give other operations
        return joined((f" {name}  ", "strong"), (one_line(f"{a} and {b}: {unresolved_text(answer)}"), "warn"))
    found = standing(again, answer.all[0])
    if found.is_fused:
        return joined((f" {name}  ", "strong"), (one_line(f"{a} and {b} are still in one group"), "bad"))
    kernels = f"in two kernels, {_names(found.kernels_a)} and {_names(found.kernels_b)}"
    if found.kernels_a == found.kernels_b:
        kernels = f"in two launches of {_names(found.kernels_a)}"
    if found.is_one_kernel:
        shared = [kernel for kernel in found.kernels_a if kernel in found.kernels_b]
        kernels = f"still in one launch, of {_names(shared)}, as separate loops"
    sentence = f"{a} and {b} are apart, in {_names(found.a)} and {_names(found.b)}, {kernels}"
    return joined((f" {name}  ", "strong"), one_line(sentence))


def _names(names: Collection[str]) -> str:
    return ", ".join(names) or "none"


def _is_logged(row: Compiled | Counts) -> bool:
    """Whether they are figures of a log: one that says nothing of the schedule, or nothing of what is moved."""
    return row.groups is None or row.read_bytes is None


def _time(row: Compiled) -> Cell:
    if row.seconds is not None:
        return cell(seconds_text(row.seconds))
    return cell("not known", "dim") if row.replay is None and _is_logged(row) else ()


def _code(row: Compiled) -> Cell:
    if row.status != "compiled":
        return cell(row.status, "bad")
    if row.replay is None or row.same_code is None:
        return ()
    return cell("the same", "good") if row.same_code else cell("other", "warn")


def _changed(
    row: Compiled, of: _Value, text: Callable[[int], str], difference: Callable[[int], str] | None
) -> str | Cell:
    """A figure beside its change: a difference, or else a share. Empty if nothing came of the compile."""
    value, first = of(row), of(row.first) if row.first is not None else None
    if value is None and row.replay is None and _is_logged(row):
        return cell("not known", "dim")
    if value is None or (row.status == "failed" and not row.kernels):
        return ""
    if first is None or value == first:
        return text(value)
    share = f"{value / first - 1:+.0%}" if first else ""
    change = difference(value - first) if difference is not None else share
    if change in ("", "+0%", "-0%"):
        return text(value)
    return (Span(f"{text(value)} "), Span(change, "good" if value < first else "bad"))


TABLE: Final = DeclaredTable(replays, replay_rows)
