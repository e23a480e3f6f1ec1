"""Everything about one node on one page: from the source line to the kernels that compute it."""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.lookup.nodes import ResolvedNode, find_nodes, other_nodes
from inspect_compile.analysis.lowering.operations import Operations
from inspect_compile.analysis.overview.node_rows import node_rows as rows_of_story
from inspect_compile.analysis.overview.node_story import KinRow, NodeStory, node_story
from inspect_compile.errors import CommandError
from inspect_compile.facts import Location, Pass, Tensor
from inspect_compile.graph import CompiledGraph, Id, outermost
from inspect_compile.graph.passes.changes import edit_lines
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.fusion.reasons import UNKNOWN, words_of
from inspect_compile.knowledge.origins import unknown_text
from inspect_compile.tables.block_lines import wrapped
from inspect_compile.tables.columns import Column, cell, plain, text_lines
from inspect_compile.tables.cost.cost_text import total_words
from inspect_compile.tables.fusion.why_text import apart_text, saved_text
from inspect_compile.tables.lookup_text import resolved
from inspect_compile.tables.lowering.nodes import value_text
from inspect_compile.tables.lowering.step_text import field, operation_lines, step_lines, symbol_text
from inspect_compile.tables.numerics.numerics import result_lines
from inspect_compile.tables.numerics.statements import blamed_lines
from inspect_compile.tables.parts import DeclaredTable, Request, command
from inspect_compile.tables.styled_text import Block, Fitted, Stack, StyledLine, joined, pointer, styled
from inspect_compile.tables.text import byte_text, line_text, lines_text, nested_name, number_of, one_line, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import Graphs

STAGE_WORDS: Final = {"dynamo": "Dynamo", "joint": "joint", "aot": "AOTAutograd", "post_grad": "post-grad"}
"""Stage → what people call its graph."""

_HANG = 10
"""Indentation of continuation lines: where the text begins after its label."""
_LONGEST = 4_000
"""Maximum characters of a line, and lines of a page; lowering.txt has everything."""
_MOST_KIN = 24
_MOST_EDITS = 24
_MOST_FUSED = 12
_MOST_NODES = 3
"""Nodes that one name stands for and that are told in full."""


class _Refusal(NamedTuple):
    """Fusions of the node's operations that were refused for one reason."""

    code: str
    times: int


KIN_COLUMNS: Final[tuple[Column[KinRow], ...]] = (
    Column("  graph", lambda row: f"{'▸' if row.is_own else ' '} {_stage(row)}"),
    Column("node", lambda row: _kin_name(row)),
    Column("operator", lambda row: row.op if row.op in ("placeholder", "output", "get_attr") else row.target),
    Column("value", lambda row: value_text(row.values)),
    Column("stride", lambda row: _strides(row.values), optional=True),
    Column("known by", lambda row: row.how, optional=True),
)
_REFUSED: Final[tuple[Column[_Refusal], ...]] = (
    Column("refused", lambda row: f"{row.times:,}×", right=True),
    Column("reason", lambda row: row.code),
    Column("what it means", lambda row: words_of(row.code) or UNKNOWN),
)
_APART: Final[tuple[Column[Miss], ...]] = (
    Column("saves", lambda row: saved_text(row), right=True),
    Column("first", lambda row: row.a),
    Column("second", lambda row: row.b),
    Column("why", lambda row: apart_text(row)),
)


def node_page(request: Request) -> Block:
    """The page of each name: nodes of any graph, buffers or operations; one that several graphs have, of each."""
    return Stack(
        [
            part
            for name in _asked(request.names)
            for part in _pages(request.dump, resolved(find_nodes(request.graphs, name)), name, request.dump_argument)
        ]
    )


def node_rows(graphs: "Graphs", names: tuple[str, ...]) -> Iterator[msgspec.Struct]:
    """The same for programs: a `node_page`, then the facts about the node."""
    for name in _asked(names):
        for meant in resolved(find_nodes(graphs, name)):
            for kin in meant.kins:
                yield from rows_of_story(node_story(graphs.dump, meant.lineage, kin))


def _asked(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise CommandError("node: name one: `show DUMP node NAME`; all names: show DUMP nodes")
    return names


def _pages(dump: "Dump", found: tuple[ResolvedNode, ...], name: str, dump_argument: str) -> Iterator[Block]:
    left = _MOST_NODES
    for meant in found:
        if meant.behind and left:
            names = unbroken(" ".join(kin.name[:_LONGEST] for kin in meant.kins))[:_LONGEST]
            where = f" of {unbroken(meant.kins[0].graph)}" if len(found) > 1 else ""
            yield joined(
                (unbroken(name[:_LONGEST]), "strong"),
                f"{where}  means {number_of(len(meant.kins), 'node')}: {names}",
            )
        yield from _pages_of(dump, meant, dump_argument, left)
        left = max(0, left - len(meant.kins))


def _pages_of(dump: "Dump", meant: ResolvedNode, dump_argument: str, most: int) -> Iterator[Block]:
    """The first `most` nodes in full; of the others the commands that show them."""
    for kin in meant.kins[:most]:
        story = node_story(dump, meant.lineage, kin)
        lines = list(itertools.islice(page_lines(dump, story), _LONGEST))
        more = [styled("  … the rest is in lowering.txt of the dump")] if len(lines) == _LONGEST else []
        yield Stack([Fitted(partial(_fitted, line)) for line in (*lines, *more)], gap=False)
        for other in other_nodes(meant.lineage, kin)[:_MOST_NODES]:
            path = meant.lineage.path(other)
            again = command(
                dump_argument, "node", f"{other.stage}:{path}/{other.name}" if path else f"{other.stage}:{other.name}"
            )
            words = f"Another node, of {other.graph} ({STAGE_WORDS.get(other.stage, other.stage)}), has this name too"
            yield pointer(words, again)
    for kin in meant.kins[most:]:
        yield pointer("…", command(dump_argument, "node", kin.name, "--graph", kin.graph))


def _fitted(line: StyledLine, width: int) -> Iterator[StyledLine]:
    """A line of the page; if it is too long for the terminal it goes on below its own beginning."""
    text = unbroken(line.plain[:_LONGEST])
    indent = len(text) - len(text.lstrip(" "))
    below = indent + _HANG if indent + 2 * _HANG < width else 0
    first, *rest = wrapped(cell(text, line.role), width)
    yield StyledLine(first)
    for part in wrapped(cell(" ".join(map(plain, rest)), line.role), width - below) if rest else ():
        yield StyledLine(part, indent=below)


def page_lines(dump: "Dump", story: NodeStory) -> Iterator[StyledLine]:
    """The page in lines; headings at the left, everything else indented."""
    return (styled(text, "" if text.startswith(" ") else "title") for text in _texts(dump, story))


def _texts(dump: "Dump", story: NodeStory) -> Iterator[str]:
    yield from _head(story)
    yield from ("", "Graphs: what it was made from, and what was made from it", *_graphs(story))
    yield from ("", "Passes that changed it", *_passes(dump, story))
    yield from ("", "Lowering", *_lowering(dump, story))
    if story.operations:
        operations = number_of(len(story.operations), "operation")
        yield from ("", f"Operations that compute it, before fusion: {operations}", *_operations(dump, story))
        yield from ("", "Fusion", *_fusion(story))
    yield from ("", f"Kernels that compute it: {number_of(len(story.ran), 'call')}", *_kernels(dump, story))
    if story.checked or story.blamed:
        yield from ("", "Numerics", *_numerics(story))
    if story.remarks:
        yield from ("", "Remarks")
        for row in story.remarks:
            knob = f"   {row.knob}" if row.knob else ""
            yield f"  {row.kind} {row.code}   {one_line(row.message)}{knob}"


def _head(story: NodeStory) -> Iterator[str]:
    node, where = story.node, story.where
    place = f"{STAGE_WORDS.get(node.stage, node.stage)} node {story.position:,} of {story.count:,} of {node.graph}"
    yield f"{node.name}   {node.target if node.op != 'output' else 'output'}   {place}"
    if where is not None:
        own = own_line(where) or where
        yield field("line", _line(own))
        if own is not where:
            yield field("below", _line(where))
        if where.caller is not None:
            yield field("reached", " → ".join(line_text(one) for one in reversed(tuple(where.calls()))))
    else:
        yield field("line", "none: torch records no line of the program")
    if node.module:
        yield field("module", f"{node.module} ({node.module_type})" if node.module_type else node.module)
    if node.arguments:
        yield field("reads", node.arguments)
    if node.users:
        yield field("users", " ".join(node.users))
    for row in story.symbols:
        yield field("symbol", symbol_text(row))
    if node.original_aten not in ("", node.target):
        yield field("was", f"{node.original_aten}, which was decomposed")
    if story.flops:
        yield field("FLOP", f"{story.flops:,} ({', '.join(story.flops_kinds)})")


def _line(where: Location) -> str:
    function = f" in {where.function}" if where.function else ""
    return f"{line_text(where)}{function}   {one_line(where.code)}".rstrip()


def _graphs(story: NodeStory) -> Iterator[str]:
    rows = story.kin_rows
    own = next(index for index, row in enumerate(rows) if row.is_own)
    first = max(0, own - _MOST_KIN)
    yield from _left_out(first, "earlier node")
    shown = rows[first : own + 1 + _MOST_KIN]
    yield from text_lines(KIN_COLUMNS, shown)
    yield from _left_out(len(rows) - first - len(shown), "later node")
    if story.why_none:
        yield f"  from no node of Dynamo's: {story.why_none}"


def _stage(row: KinRow) -> str:
    stage = STAGE_WORDS.get(row.stage, row.stage)
    return f"{stage} {_side(row.graph)}" if row.stage in ("aot", "post_grad") else stage


def _kin_name(row: KinRow) -> str:
    return row.name if row.stage in ("dynamo", "joint") else nested_name(row.graph, row.name)


def _side(graph: str) -> str:
    """Which of a compile's graphs: forward, backward or its full name."""
    return next((word for word in ("forward", "backward", "inference") if f"_{word}_" in graph), graph)


def _strides(values: tuple[Tensor, ...]) -> str:
    return f"({', '.join(map(str, values[0].stride))})" if values and values[0].stride else ""


def _passes(dump: "Dump", story: NodeStory) -> Iterator[str]:
    if not story.passes:
        yield f"  {unknown_text(dump.run.origin, 'passes') or 'none'}"
    last: Pass | None = None
    for row, edit in story.passes[:_MOST_EDITS]:
        if row is not last:
            yield f"  {row.stage}   {row.kind} {row.name}   {row.defined}".rstrip()
            if row.matched:
                yield f"    matched {' '.join(row.matched)}"
        last = row
        yield from (f"    {text}" for _, text in edit_lines(edit))
    yield from _left_out(len(story.passes) - _MOST_EDITS, "edit")


def _lowering(dump: "Dump", story: NodeStory) -> Iterator[str]:
    printed: set[str] = set()
    if unknown := unknown_text(dump.run.origin, "lowering"):
        yield f"  {unknown}"
        return
    if not story.lowered:
        yield "  nothing is left of it in a lowered graph"
    for one in story.lowered:
        graph = CompiledGraph(dump, one.kin.graph).outermost
        if one.step is None:
            yield f"  {one.kin.name} of {one.kin.graph} was not lowered"
            continue
        virtual = {Id.of(one.kin): one.inlined} if one.inlined is not None else {}
        title, *lines = step_lines(one.step, graph.provenance, graph.operation_of, printed, virtual)
        if len(story.lowered) > 1 or one.kin != story.kin:
            yield f"  {title}"
        yield from (line if len(story.lowered) == 1 and one.kin == story.kin else f"  {line}" for line in lines)
        mine = {id(ask) for ask in one.step.realizes}
        for ask in one.asks:
            if id(ask) not in mine:
                state = "was realized" if ask.realized else "was realized already"
                yield field(
                    "then", f"{ask.buffer or 'it'} {state} while {ask.node} was lowered: {ask.reason}   [{ask.caller}]"
                )
    yield from _left_out(story.left_out, "lowered node")


def _operations(dump: "Dump", story: NodeStory) -> Iterator[str]:
    known: dict[str, Operations] = {}
    for row in story.operations[:_MOST_FUSED]:
        outer = outermost(row.graph)
        operations = known.setdefault(outer, Operations(CompiledGraph(dump, outer)))
        yield from (f"  {line}" for line in operation_lines(operations, row))
        for number, line in enumerate(operations.body(row)):
            yield f"  {field('body' if number == 0 else '', line)}"
    yield from _left_out(len(story.operations) - _MOST_FUSED, "operation")


def _fusion(story: NodeStory) -> Iterator[str]:
    for row in story.fused[:_MOST_FUSED]:
        yield f"  round {row.round}   {row.a} + {row.b}   →   {row.into}   torch's score {byte_text(row.shared_bytes)}"
    yield from _left_out(len(story.fused) - _MOST_FUSED, "fusion")
    if not story.fused:
        yield "  none was done" if story.attempts else "  no pair with any of them was tried"
    yield from text_lines(_REFUSED, itertools.starmap(_Refusal, story.refused.items()), indent="  ")
    if story.missed:
        yield "  apart, although they share bytes"
        yield from text_lines(_APART, story.missed[:_MOST_FUSED], indent="    ")
    yield from _left_out(len(story.missed) - _MOST_FUSED, "pair")


def _kernels(dump: "Dump", story: NodeStory) -> Iterator[str]:
    if not story.ran:
        unknown = unknown_text(dump.run.origin, "kernels")
        yield f"  {unknown or 'none: the generated code computes nothing of it'}"
    for ran in story.ran[:_MOST_KIN]:
        launch, kernel = ran.launch, ran.launch.kernel
        line = f"output_code.py:{launch.line}" if launch.line is not None else "its call was not seen"
        yield f"  {kernel.name}   {kernel.kind}   {line}"
        yield f"  {field('runs', ' '.join(launch.groups) or '?')}"
        yield f"  {field('moves', ', '.join(total_words([ran.moved])))}"
        if kernel.defined_at is not None:
            yield f"  {field('source', f'{kernel.source}   output_code.py:{kernel.defined_at}-{kernel.defined_to}')}"
        others = [name for name in launch.nodes if name != story.kin.name]
        with_them = " ".join(others[:_MOST_KIN]) or "no other node"
        yield f"  {field('with', with_them)}   {lines_text(launch.lines)}".rstrip()
    yield from _left_out(len(story.ran) - _MOST_KIN, "call")


def _numerics(story: NodeStory) -> Iterator[str]:
    lines = list(result_lines(story.checked))
    yield from (f"  {line}" for line in lines[:_MOST_KIN])
    yield from _left_out(len(lines) - _MOST_KIN, "checked result")
    for row in story.blamed[:_MOST_KIN]:
        yield from (f"  {line.plain}" for line in blamed_lines(row))
    yield from _left_out(len(story.blamed) - _MOST_KIN, "wrong statement")


def _left_out(left: int, what: str) -> Iterator[str]:
    if left > 0:
        yield f"  … {number_of(left, what)} more"


TABLE: Final = DeclaredTable(node_page, node_rows)
