"""Everything about one kernel, with the FX node and source line of each statement."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.cost.extern_calls import ExternCall, extern_calls
from inspect_compile.analysis.kernels.autotuning import Autotuned, autotuned, of_kernel
from inspect_compile.analysis.kernels.launch_times import measured
from inspect_compile.analysis.kernels.tiling import form_of, shape
from inspect_compile.analysis.lookup.kernels import find_kernels
from inspect_compile.analysis.numerics.statements import kernel_statements
from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.errors import CommandError
from inspect_compile.facts import Kernel, KernelBody
from inspect_compile.graph import CompiledGraph, Graphs, Id, Once, gathered, grouped
from inspect_compile.graph.kernels.launches import USER_TRITON, Launch
from inspect_compile.graph.kernels.statements import Annotated, Computed
from inspect_compile.tables.columns import Column, lines_cell
from inspect_compile.tables.cost.cost_text import count_text, moved_text, total_words
from inspect_compile.tables.kernels.autotune import sheet
from inspect_compile.tables.kernels.tiling_text import tiling_lines
from inspect_compile.tables.lookup_text import resolved
from inspect_compile.tables.numerics.numerics import result_lines
from inspect_compile.tables.parts import DeclaredTable, Request, command, limited
from inspect_compile.tables.runtime.measured import rate_text
from inspect_compile.tables.styled_text import Block, Stack, indented, joined, pointer, styled
from inspect_compile.tables.text import lines_text, number_of, one_line, time_text, unbroken

_MOST_KERNELS: Final = 3
_LONGEST: Final = 2_000
_MOST_CHOICES: Final = 8
_MOST_CALLS: Final = 12
_MOST_CHECKED: Final = 8
"""Maximum number of checked results shown."""
_MOST_BESIDE: Final = 3
"""Maximum number of calls whose nodes stand beside each other at a statement."""
_MOST_STATEMENTS: Final = 2_000
"""Maximum number of statements shown; `--json` has all."""


class _Statement(NamedTuple):
    """A statement of a kernel's source."""

    calls: tuple[Annotated, ...]
    """What it is in each call that is shown; the calls share the source."""
    code: str
    """The user's code; empty where the statement before it is of the same."""


def _nodes(row: _Statement) -> str:
    each = [one_line(" ".join(one.nodes)) or "?" for one in row.calls]
    text = " | ".join(each if len(set(each)) > 1 else each[:1])
    return text if any(one.nodes for one in row.calls) else "no node is known"


def _modules(row: _Statement) -> str:
    return one_line(" ".join(dict.fromkeys(name for one in row.calls for name in one.modules)))


_COLUMNS: Final[tuple[Column[_Statement], ...]] = (
    Column("line", lambda row: str(row.calls[0].line), right=True),
    Column(
        "statement", lambda row: unbroken(row.calls[0].text[:_LONGEST]), stretch=True, least=32, most=80, middle=True
    ),
    Column("nodes", _nodes, role="name", stretch=True, least=16, most=40),
    Column("module", _modules, stretch=True, least=10, most=24, drop=2),
    Column(
        "program",
        lambda row: lines_cell(dict.fromkeys(where for one in row.calls for where in one.lines)),
        role="dim",
        stretch=True,
        least=11,
        most=32,
    ),
    Column("code", lambda row: row.code, stretch=True, least=20, most=80, drop=1),
)
_MOST_EXTERN: Final = 100

_EXTERN: Final[tuple[Column[ExternCall], ...]] = (
    Column("line", lambda row: "?" if row.line is None else str(row.line), right=True),
    Column("operations", lambda row: " ".join(row.operations), stretch=True, least=10, most=24, drop=2),
    Column("nodes", lambda row: one_line(" ".join(row.nodes)), role="name", stretch=True, least=12, most=40),
    Column("FLOP", lambda row: count_text(row.flops, row.uncounted), right=True),
    Column("reads", lambda row: moved_text(row.read, is_unsure=row.is_read_unsure), right=True),
    Column("writes", lambda row: moved_text(row.written, is_unsure=row.is_written_unsure), right=True),
    Column("program", lambda row: lines_cell(row.lines), stretch=True, least=11, most=44),
    Column("call", lambda row: unbroken(row.text[:_LONGEST]), stretch=True, least=20, most=200, drop=1),
)


class _Page:
    """What the pages of one graph's kernels need."""

    def __init__(self, graph: "CompiledGraph") -> None:
        self.dump = graph.dump
        self.statements = graph.statements
        self.moved = graph.traffic
        self.tuned: list[Autotuned] = autotuned(graph)
        self.measured = measured(Graphs(graph.dump))
        self.checked = grouped(judged(graph), lambda row: Id(row.graph, row.kernel))
        self.wrong_statements = grouped(kernel_statements(graph), lambda row: Id(row.graph, row.kernel))
        self.calls = grouped(self.moved.launches, lambda launch: Id(launch.graph, launch.kernel.name))
        self._graph = graph

    @cached_property
    def _extern(self) -> dict[Id, list[ExternCall]]:
        return grouped(extern_calls(self._graph), lambda call: Id(call.graph, call.kernel))

    def extern(self, kernel: Kernel) -> list[ExternCall]:
        """The calls of an extern kernel."""
        return self._extern.get(Id.of(kernel), [])


@Once
def _page(graph: "CompiledGraph") -> _Page:
    return _Page(graph)


def _page_of(graphs: "Graphs", kernel: Kernel) -> _Page:
    """That of the outermost graph of a kernel."""
    return _page(CompiledGraph(graphs.dump, kernel.graph).outermost)


def kernel_page(request: Request) -> Block:
    """The page of each kernel that the names match."""
    graphs, dump_argument = request.graphs, request.dump_argument
    parts: list[Block] = []
    for name in _asked(request.names):
        found = resolved(find_kernels(graphs, name, extern=True))
        for kernel in found[:_MOST_KERNELS]:
            parts.append(Stack(_parts(_page_of(graphs, kernel), kernel, dump_argument), gap=False))
        for kernel in found[_MOST_KERNELS:]:
            parts.append(pointer("…", command(dump_argument, "kernel", kernel.name)))
    return Stack(parts)


def kernel_rows(graphs: "Graphs", names: tuple[str, ...]) -> Iterator[msgspec.Struct]:
    """The same for programs: for each kernel its fact, its rows of `tiling`, `autotune` and `statements`, then one row
    for each statement.
    """
    for name in _asked(names):
        for kernel in resolved(find_kernels(graphs, name, extern=True)):
            page = _page_of(graphs, kernel)
            if kernel.kind == "extern":
                known = Id.of(kernel)
                yield from (row for row in graphs.dump.rows(Kernel, kernel.graph) if Id.of(row) == known)
                yield from page.extern(kernel)
                continue
            yield kernel
            found = shape(graphs.dump, kernel)
            yield from (*found.tilings, *found.nests)
            yield from of_kernel(page.tuned, kernel)
            bodies = page.statements.bodies.get(Id.of(kernel), [])
            yield from bodies
            for body in bodies:
                yield from page.statements.all_annotated(kernel, body.operations)


def _asked(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise CommandError("kernel: name one: `show DUMP kernel NAME`, or a part of its name; all: show DUMP kernels")
    return names


def _parts(page: _Page, kernel: Kernel, dump_argument: str) -> Iterator[Block]:
    calls = page.calls.get(Id.of(kernel), [])
    moved = [page.moved.of(call) for call in calls]
    form = f"{form_of(kernel)} on {kernel.device or 'no device'}"
    are_known = any(call.line is not None for call in calls)
    words = [form, *kernel.numel, number_of(len(calls), "call") if are_known else "calls not known"]
    words += total_words(moved) if are_known else ()
    yield joined((unbroken(kernel.name[:_LONGEST]), "strong"), "   ", (one_line("   ".join(words)), "dim"))
    yield from indented(_measured_lines(page, calls))
    yield from indented(_checked_lines(page, kernel))
    if kernel.kind == "extern":
        for call in calls:  # each is a separate row, of another operation
            for row in of_kernel(page.tuned, call.kernel):
                yield sheet(row, _MOST_CHOICES, dump_argument)
        yield from _extern_lines(page.extern(kernel), dump_argument)
        return
    yield from indented(tiling_lines(kernel, shape(page.dump, kernel)))
    for row in of_kernel(page.tuned, kernel):
        yield sheet(row, _MOST_CHOICES, dump_argument)
    first = calls[0] if calls else None
    body = page.statements.body(kernel.graph, kernel.name, first.operations if first is not None else ())
    if body is None:
        why = "a kernel that the program defines" if kernel.kind == USER_TRITON else "this was not recorded"
        yield styled(f"  no statement is mapped to a node: {why}", "dim")
        return
    if len(calls) > 1:
        yield from indented(_call_lines(page, calls))
    else:
        origins = len(kernel.nodes if first is None else first.nodes)
        is_reading = first is None or bool(page.moved.of(first).read) or not page.moved.of(first).is_known
        yield from indented(computes_lines(page.statements.computed(body), origins, is_reading=is_reading))
    bodies = _bodies(page, kernel, calls)
    each = [page.statements.all_annotated(kernel, own.operations) for own, _ in bodies]
    rows = each[0] if each else page.statements.all_annotated(kernel, body.operations)
    if not rows:
        yield styled("  its source is not in the dump", "dim")
        return
    if len(bodies) > 1:
        places = " | ".join(str(line) for _, line in bodies[:_MOST_BESIDE])
        beside = f"  its statements, each with its nodes in the calls at output_code.py:{places}"
        more = len(bodies) - _MOST_BESIDE
        yield joined(
            (f"{beside}; in {number_of(more, 'more call')}: " if more > 0 else beside, "dim"),
            (f"{command(dump_argument, 'kernel', kernel.name)} --json" if more > 0 else "", "accent"),
        )
    every = f"{command(dump_argument, 'kernel', kernel.name)} --json"
    yield limited(_COLUMNS, list(_statements(rows, each[1:_MOST_BESIDE])), _MOST_STATEMENTS, every)


def _checked_lines(page: _Page, kernel: Kernel) -> Iterator[str]:
    """What a check of numerics said of its results."""
    lines = list(result_lines(page.checked.get(Id.of(kernel), ())))
    yield from lines[:_MOST_CHECKED]
    if len(lines) > _MOST_CHECKED:
        yield f"{number_of(len(lines) - _MOST_CHECKED, 'more checked result')}: show numerics"
    for row in page.wrong_statements.get(Id.of(kernel), ()):
        if row.blamed is not None:
            yield f"wrong statement, line {row.blamed.line}: {row.blamed.text}"


def _bodies(page: _Page, kernel: Kernel, calls: Iterable[Launch]) -> list[tuple[KernelBody, int | None]]:
    """Each group of operations that the source runs for, with the line of its call, in the order of the calls."""
    found: dict[int, tuple[KernelBody, int | None]] = {}
    for call in calls:
        body = page.statements.body(kernel.graph, kernel.name, call.operations)
        if body is not None:
            found.setdefault(id(body), (body, call.line))
    return list(found.values())


def _call_lines(page: _Page, calls: list[Launch]) -> Iterator[str]:
    """For several calls of the same source: what each computes and moves, and its source lines."""
    for call in calls[:_MOST_CALLS]:
        moved = page.moved.of(call)
        place = f"output_code.py:{call.line}" if call.line is not None else "its call was not seen"
        words = [place, " ".join(call.groups) or "?", *total_words([moved]), lines_text(call.lines)]
        yield one_line("   ".join(word[:_LONGEST] for word in words if word))
        body = page.statements.body(call.graph, call.kernel.name, call.operations)
        if body is not None:
            computed = page.statements.computed(body)
            computes = computes_lines(computed, len(call.nodes), is_reading=bool(moved.read or not moved.is_known))
            yield from (f"  {line}" for line in computes)
    if len(calls) > _MOST_CALLS:
        yield f"… {number_of(len(calls) - _MOST_CALLS, 'more call')}"


def _measured_lines(page: _Page, calls: Iterable[Launch]) -> Iterator[str]:
    """Time of each launch, if the program was run with --measure."""
    for call in calls:
        own = page.measured.get(call.key)
        if own is not None:
            moved = page.moved.of(call)
            has_rate = moved.is_known and bool(own.milliseconds)
            rate = rate_text(moved.least / own.milliseconds / 1e6 if has_rate else None, is_unsure=bool(moved.unsure))
            took, least = time_text(own.milliseconds / 1e3), time_text(own.least / 1e3)
            runs = "the first call, cold" if own.is_cold else f"median; least {least}; {number_of(own.calls, 'call')}"
            speed = f"{rate} GB/s" if rate else "no GB/s: its traffic is not known"
            yield f"output_code.py:{call.line} took {took} ({runs}), {speed}"


_NOTHING: Final = {
    True: "nothing: it only moves values",
    False: "no arithmetic: it writes indices or constants",
    None: "no arithmetic: it writes indices, constants or existing values",
}


def computes_lines(computed: Iterable[Computed], origins: int, *, is_reading: bool | None = None) -> Iterator[str]:
    """What a call of a kernel computes, in words: which of its origins, which of them again, which in stages.

    `is_reading`: whether it reads any buffer; None if the caller does not know.
    """
    found = list(computed)
    names = " ".join(row.node for row in found) or _NOTHING[is_reading]
    yield one_line(f"computes {names[:_LONGEST]} ({len(found)} of {number_of(origins, 'origin')})")
    for word, others in (
        ("computed again in", {row.node: row.recomputed for row in found if row.recomputed}),
        ("other stages in", {row.node: row.staged for row in found if row.staged}),
    ):
        kernels = gathered((where, node) for node, where in others.items())
        for where, nodes in kernels.items():
            yield one_line(f"{' '.join(nodes)[:_LONGEST]}: {word} {' '.join(where)[:_LONGEST]}")


def _statements(rows: Iterable[Annotated], others: Iterable[list[Annotated]]) -> Iterator[_Statement]:
    """`others`: the same statements for other calls; they are other nodes, modules and lines of the program."""
    beside = [{row.line: row for row in own} for own in others]
    before = ""
    for row in rows:
        each = [row, *(own[row.line] for own in beside if row.line in own)]
        code = one_line(row.lines[0].code) if row.lines else ""
        yield _Statement(tuple(each), code if code != before else "")
        before = code


def _extern_lines(rows: list[ExternCall], dump_argument: str) -> Iterator[Block]:
    """Its calls, for below the line with its name."""
    for why, own in _reasons(rows).items():
        of = "" if len(own) == len(rows) else f" ({number_of(len(own), 'call')}: {' '.join(own)})"
        yield joined((one_line(f"  extern because: {why or 'not known'}{of}")[:_LONGEST], "dim"))
    yield limited(_EXTERN, rows, _MOST_EXTERN, f"{command(dump_argument, 'kernel', rows[0].kernel)} --json")


def _reasons(rows: Iterable[ExternCall]) -> dict[str, list[str]]:
    """Reason for being extern → nodes of the calls that have it."""
    return gathered((row.why, " ".join(row.nodes) or f"line {row.line}") for row in rows)


TABLE: Final = DeclaredTable(kernel_page, kernel_rows)
