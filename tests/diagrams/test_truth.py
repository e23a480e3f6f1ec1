"""What pictures of kernels, nodes, frames, fusions and findings say, against the facts that they are of."""

from pathlib import Path

import pytest

from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.lookup.nodes import find_nodes
from inspect_compile.diagrams.dynamo import MOST_COMPILES, dynamo_picture
from inspect_compile.diagrams.kernel import kernel_picture
from inspect_compile.diagrams.node import node_picture
from inspect_compile.diagrams.picture import Arrow, Box, Picture, boxes_in
from inspect_compile.diagrams.schedule.findings import findings_picture
from inspect_compile.diagrams.schedule.joined import joined_picture
from inspect_compile.facts import (
    CacheLookup,
    Frame,
    GraphBreak,
    Kernel,
    Lowering,
    Node,
    Operation,
    Recompile,
    WrapperLine,
)
from inspect_compile.facts.frontend import FailedGuard
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.tables.lookup_text import resolved
from inspect_compile.tables.text import byte_text
from tests.diagrams.pictures import holds_together, recorded
from tests.handmade import at, graph, made

FOLDERS = ("tui/mixed", "tui/walks")


def boxes_of(picture: Picture) -> dict[str, Box]:
    return {box.id: box for box in picture.boxes()}


def ends(picture: Picture, kind: str) -> list[tuple[Box, Box, Arrow]]:
    boxes = boxes_of(picture)
    return [(boxes[one.tail], boxes[one.head], one) for one in picture.arrows() if one.kind == kind]


class TestKernel:
    """A kernel's inside."""

    @pytest.mark.parametrize("name", FOLDERS)
    def test_its_loads_and_stores_are_the_buffers_of_its_call(self, name: str) -> None:
        """The wrapper's call has the buffers; the schedule says which of them the kernel reads and which it writes."""
        dump = recorded(name)
        checked = 0
        for kernel in {(row.graph, row.name): row for row in dump.rows(Kernel) if row.kind == "cpp"}.values():
            picture = kernel_picture(dump, kernel, unfold=True, everything=True)
            calls = [
                row for row in dump.rows(WrapperLine, kernel.graph) if (row.what, row.kernel) == ("launch", kernel.name)
            ]
            if picture is None or len(calls) != 1:
                continue
            rows = [row for row in dump.rows(Operation, kernel.graph) if row.name in kernel.groups]
            rows = [row for row in rows if row.phase == "post_fusion"]
            into = {access.buffer: access.into for row in rows for access in row.writes if access.into}
            written = {buffer for row in rows for buffer in row.buffers}
            read = {access.buffer for row in rows for access in row.reads}
            given = set(calls[0].arguments)
            loads = {box.title.split()[1] for box in picture.boxes() if box.kind == "load"}
            stores = {box.title.split()[1] for box in picture.boxes() if box.kind == "store"}
            checked += 1
            named = {one for one in loads if "_ptr" not in one and "local_buffer" not in one}
            assert named <= read | written, kernel.name
            assert given & read - written <= loads, kernel.name
            kept = {one for one in given & written if one not in into}
            assert kept <= stores, kernel.name
            assert {one for one in stores if one in given} <= written | set(into.values()) | {
                other
                for line in dump.rows(WrapperLine, kernel.graph)
                for other in [line.buffer]
                if line.becomes in written
            }
        assert checked

    @pytest.mark.parametrize("name", FOLDERS)
    def test_each_statement_is_in_one_box(self, name: str) -> None:
        dump = recorded(name)
        for kernel in dump.rows(Kernel):
            for unfold in (True, False):
                picture = kernel_picture(dump, kernel, unfold=unfold, everything=True)
                if picture is None:
                    continue
                lines = [
                    line.partition(":")[0]
                    for box in picture.boxes()
                    for line in box.tooltip
                    if line.startswith("line ")
                ]
                told = int(picture.subtitles[1].partition(" ")[0].replace(",", ""))
                assert len(lines) == len(set(lines)) == told or any(
                    "lines more" in str(box.tooltip) for box in picture.boxes()
                )


class TestNode:
    """A node's way."""

    @pytest.mark.parametrize("name", FOLDERS)
    def test_each_step_is_recorded(self, name: str) -> None:
        dump = recorded(name)
        checked = 0
        for one in dump.outermost():
            rows = dump.rows(Operation, one.graph)
            before = {row.name: row for row in rows if row.phase == "pre_fusion"}
            after = {row.name: row for row in rows if row.phase == "post_fusion"}
            kernels = {row.name: row for row in dump.rows(Kernel, one.graph)}
            lowered = {row.node: row for row in dump.rows(Lowering, one.graph)}
            nodes = [
                node for node in dump.rows(Node, one.graph) if node.stage == "post_grad" and node.op.startswith("call")
            ]
            for node in nodes[::12]:
                (meant,) = resolved(find_nodes(Graphs(dump, one.graph), node.name))
                picture = node_picture(dump, meant, node.name, everything=True)
                holds_together(picture)
                boxes = boxes_of(picture)
                level = {box.id: box.id.partition("_")[0] for box in boxes.values()}
                for arrow in picture.arrows():
                    tail, head = boxes[arrow.tail], boxes[arrow.head]
                    pair = level[tail.id], level[head.id]
                    if pair == ("buffer", "operation"):
                        assert tail.title in before[head.title].buffers
                    elif pair == ("operation", "group"):
                        assert before[tail.title].name in after[head.tooltip[0]].members
                    elif pair == ("group", "kernel"):
                        assert tail.tooltip[0] in kernels[head.tooltip[0]].groups
                    elif pair[1] == "buffer":
                        assert tail.kind in ("node", "asked")
                        owner = next(row for row in before.values() if head.title in row.buffers)
                        assert tail.title in owner.nodes
                        if not arrow.lines:
                            assert head.title in lowered[tail.title].buffers
                    elif pair == ("kernel", "launch"):
                        line = int(head.title.rpartition(":")[2])
                        assert line in kernels[tail.tooltip[0]].launches
                    else:
                        continue
                    checked += 1
        assert checked > 20

    def test_of_a_node_that_nothing_computes(self) -> None:
        dump = recorded("tui/mixed")
        inputs = [node for node in dump.rows(Node) if node.stage == "post_grad" and node.op == "placeholder"]
        (meant, *_) = resolved(find_nodes(Graphs(dump, inputs[0].graph), inputs[0].name))
        picture = node_picture(dump, meant, inputs[0].name)
        assert [box.title for box in picture.boxes() if box.kind == "asked"] == [inputs[0].name]


class TestFusion:
    """What fusion joined."""

    @pytest.mark.parametrize("name", FOLDERS)
    def test_each_fusion_is_a_line_within_one_group(self, name: str) -> None:
        dump = recorded(name)
        for one in dump.outermost():
            picture = joined_picture(CompiledGraph(dump, one.graph), fold=False)
            if picture is None:
                continue
            group_of = {
                member: row.name
                for row in dump.rows(Operation, one.graph)
                if row.phase == "post_fusion"
                for member in row.members
            }
            lines = ends(picture, "joined")
            done = [row for row in candidates(CompiledGraph(dump, one.graph)) if row.verdict == "fused"]
            assert len(lines) == len(done)
            for row, (tail, head, arrow) in zip(done, lines, strict=False):
                first, second = tail.tooltip[0].partition(" · ")[0], head.tooltip[0].partition(" · ")[0]
                assert group_of[first] == group_of[second]
                assert arrow.tooltip[0] == f"{row.a} and {row.b} were fused in round {row.round}"
                parts = {*row.a.split("_"), *row.b.split("_")}
                assert {first, second} <= parts
                assert not {first, second} <= set(row.a.split("_"))
                assert not {first, second} <= set(row.b.split("_"))

    def test_a_graph_without_fusions(self) -> None:
        dump = recorded("draw/conditional")
        assert joined_picture(CompiledGraph(dump, dump.graphs()[0].graph)) is None

    @pytest.mark.parametrize("name", FOLDERS)
    def test_folded_each_kernel_stands_alone(self, name: str) -> None:
        """A frame for each kernel of several operations that differs, and how many are like it."""
        for one in Graphs(recorded(name)):
            picture = joined_picture(one, fold=True)
            if picture is None:
                continue
            groups = [group for launch in one.launches if (group := launch.operations) and len(group) > 1]
            frames = [one for section in picture.sections for one in section.inner if not isinstance(one, Box)]
            assert len(frames) == sum(len(section.inner) for section in picture.sections)
            counts = [int((frame.text.rpartition("×")[2] or "1") if "×" in frame.text else "1") for frame in frames]
            assert sum(counts) == len(groups)
            assert not [box for box in picture.boxes() if box.kind in ("elsewhere", "input", "output")]


class TestFindings:
    """What stayed apart."""

    def test_lines_are_between_the_launches_of_the_pair(self) -> None:
        dump = recorded("tui/walks")
        one = dump.outermost()[0]
        picture = findings_picture(CompiledGraph(dump, one.graph))
        assert picture is not None
        pairs = [*ends(picture, "missed"), *ends(picture, "apart")]
        misses = fusion(CompiledGraph(dump, one.graph)).apart
        assert pairs
        assert len(pairs) <= len(misses)
        for tail, head, arrow in pairs:
            found = [
                miss
                for miss in misses
                if arrow.lines[0].startswith("not fused: ")
                and byte_text(miss.saved_bytes) in arrow.lines[0]
                and set(miss.a.split("_")) <= _operations(tail)
                and set(miss.b.split("_")) <= _operations(head)
            ]
            assert len(found) == 1

    def test_without_a_schedule(self, tmp_path: Path) -> None:
        dump = made(tmp_path, graph())
        assert findings_picture(CompiledGraph(dump, dump.graphs()[0].graph)) is None


def _operations(box: Box) -> set[str]:
    """The operations of a launch, as the box's tooltip has them."""
    told = next((line.removeprefix("operations: ") for line in box.tooltip if line.startswith("operations: ")), "")
    return set(told.split(", ")) if told else {box.tooltip[0].partition(" · ")[0]}


class TestDynamo:
    """Frames, breaks and recompiles."""

    def test_breaks_lead_to_the_rest_of_their_function(self) -> None:
        dump = recorded("tui/walks")
        picture = dynamo_picture(dump)
        assert picture is not None
        holds_together(picture)
        titles = {box.id: frame.text for frame in picture.frames() for box in boxes_in(frame.inner)}
        breaks = [box for box in picture.boxes() if box.kind == "stop"]
        rows = dump.rows(GraphBreak)
        places = {(row.where.file, row.where.line, row.explanation or row.reason) for row in rows if row.where}
        assert len(breaks) == len(places)
        for box in breaks:
            row = next(row for row in rows if row.where is not None and f":{row.where.line} " in box.lines[0])
            tails = [tail.title for tail, head, _ in ends(picture, "break") if head is box]
            heads = [titles[head.id] for tail, head, _ in ends(picture, "break") if tail is box]
            assert row.graph in tails
            if heads:
                assert row.where is not None
                (head,) = heads
                assert head.startswith(
                    f"{row.where.function.rpartition('.')[2]}, the rest after line {row.where.line} "
                )

    def test_recompiles_say_what_changed(self) -> None:
        dump = recorded("tui/walks")
        picture = dynamo_picture(dump)
        assert picture is not None
        told = {(tail.title, head.title): arrow for tail, head, arrow in ends(picture, "recompile")}
        rows = dump.rows(Recompile)
        assert rows
        for row in rows:
            (arrow,) = [one for (_, head), one in told.items() if head == row.graph]
            assert next(tail for tail, head in told if head == row.graph) in {one.compile_id for one in row.failed}
            failed = row.failed[0]
            if failed.before and failed.after:
                assert f"{failed.before} → {failed.after}" in " ".join(arrow.lines)

    def test_many_compiles_of_one_function(self, tmp_path: Path) -> None:
        """The first ones and the last; a break of each is one box."""
        facts: list[Frame | Recompile | GraphBreak] = []
        for number in range(30):
            compile_id = f"0/{number}"
            facts.append(Frame(graph=compile_id, function="f", file="m.py", line=3, status="compiled", graphs=1))
            facts.append(GraphBreak(graph=compile_id, reason="no", where=at(7, "print(x)")))
            if number:
                guard = FailedGuard(compile_id=f"0/{number - 1}", condition="n", what="n", before="1", after="2")
                facts.append(
                    Recompile(graph=compile_id, function="f", file="m.py", line=3, reasons=(), failed=(guard,))
                )
        picture = dynamo_picture(made(tmp_path, *facts))
        assert picture is not None
        holds_together(picture)
        kinds = [box.kind for box in picture.boxes()]
        assert kinds.count("compile") == MOST_COMPILES
        assert kinds.count("stop") == 1
        assert "30 compiles" in picture.subtitles[0]
        assert [box.title for box in picture.boxes() if box.kind == "elsewhere"] == ["… 24 more compiles"]

    def test_a_compile_that_did_not_end_has_no_function_yet(self, tmp_path: Path) -> None:
        picture = dynamo_picture(made(tmp_path, CacheLookup(graph="2/0", cache="fx_graph", outcome="miss")))
        assert picture is not None
        holds_together(picture)
        assert [frame.text for frame in picture.frames()] == ["an unknown function"]
        assert [box.title for box in picture.boxes()] == ["2/0"]
