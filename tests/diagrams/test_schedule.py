"""The schedule as DOT: what it holds, told from the facts, and that it stays the same."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspect_compile.analysis.fusion.pair_choice import ResolvedOperations
from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.diagrams.picture import Arrow, Box, Frame, Picture
from inspect_compile.diagrams.schedule.schedule import PHASES, schedule_dot, schedule_picture
from inspect_compile.diagrams.schedule.units import Phase
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel, Operation
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.tables.lookup_text import resolved
from tests.conftest import TESTS, DumpOf, Golden
from tests.diagrams.transformer import GRAPH, write_transformer

DATA = TESTS / "data" / "draw"
RECORDED = ("conditional", "softmax_mlp_cuda")


def outer(dump: Dump) -> str:
    return dump.graphs()[0].graph


@pytest.fixture(params=["attention_block", "conditional", "training_step", "flex_attention"])
def dump(request: pytest.FixtureRequest, dump_of: DumpOf) -> Dump:
    return open_dump(dump_of(request.param).dump)


def pictures(dump: Dump, phase: Phase) -> Iterator[tuple[str, Picture]]:
    for graph in dump.graphs():
        if graph.parent is None and dump.rows(Operation, graph.graph):
            yield graph.graph, schedule_picture(CompiledGraph(dump, graph.graph), phase)


@pytest.mark.parametrize("phase", PHASES)
def test_each_operation_has_one_box(dump: Dump, phase: Phase) -> None:
    for graph, picture in pictures(dump, phase):
        told = [box.tooltip[0].partition(" · ")[0] for box in picture.boxes() if "·" in "".join(box.tooltip[:1])]
        assert sorted(told) == sorted(row.name for row in dump.rows(Operation, graph) if row.phase == "pre_fusion")


def test_each_kernel_of_the_compiler_has_a_frame_and_each_call_a_box(dump: Dump) -> None:
    for graph, picture in pictures(dump, "post_fusion"):
        kernels = dump.rows(Kernel, graph)
        frames = [frame.tooltip[0] for frame in picture.frames() if frame.kind == "kernel"]
        launches = [(kernel.name, max(len(kernel.launches), 1)) for kernel in kernels if kernel.kind != "extern"]
        assert sorted(frames) == sorted(name for name, number in launches for _ in range(number))
        called = [line for box in picture.boxes() if box.kind == "extern" for line in box.tooltip]
        for kernel in kernels:
            if kernel.kind == "extern":
                assert any(line.startswith(f"kernel: {kernel.name}") for line in called), kernel.name


@pytest.mark.parametrize("phase", PHASES)
def test_each_read_of_a_buffer_is_an_arrow(dump: Dump, phase: Phase) -> None:
    for graph, picture in pictures(dump, phase):
        told = "\n".join(line for arrow in picture.arrows() for line in arrow.tooltip)
        rows = [row for row in dump.rows(Operation, graph) if row.phase == "pre_fusion"]
        makers = {(row.graph, buffer): row for row in rows for buffer in row.buffers}
        reads = [
            (row.name, access.buffer)
            for row in rows
            for access in row.reads
            if access.kind != "weak" and makers.get((row.graph, access.buffer), row) is not row
        ]
        assert reads or len(rows) == 1
        for reader, buffer in reads:
            assert re.search(rf"^{reader} reads {buffer}\b", told, re.MULTILINE), (reader, buffer)


@pytest.mark.parametrize("phase", PHASES)
def test_arrows_join_boxes_of_their_section(dump: Dump, phase: Phase) -> None:
    for _, picture in pictures(dump, phase):
        ids = [box.id for box in picture.boxes()]
        assert len(ids) == len(set(ids))
        for arrow in picture.arrows():
            assert {arrow.tail, arrow.head} <= set(ids)
            assert arrow.into is None or arrow.into in {frame.id for frame in picture.frames()}


def test_inputs_have_the_program_s_names(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("attention_block").dump)
    picture = schedule_picture(CompiledGraph(dump, outer(dump)), "post_fusion")
    assert [box.title for box in picture.boxes() if box.kind == "input"] == ["x"]
    assert "reads qkv.weight, qkv.bias  198 kB" in [line for box in picture.boxes() for line in box.lines]


def test_no_path_of_the_machine(dump: Dump) -> None:
    for graph, _ in pictures(dump, "post_fusion"):
        for phase in PHASES:
            assert str(Path.home()) not in schedule_dot(CompiledGraph(dump, graph), phase)
            assert str(TESTS.parent) not in schedule_dot(CompiledGraph(dump, graph), phase)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", RECORDED)
def test_golden(name: str, phase: Phase, golden: Golden) -> None:
    dump = open_dump(DATA / name)
    golden.check(schedule_dot(CompiledGraph(dump, outer(dump)), phase), ".dot")


def test_buffers_that_never_leave_their_kernel() -> None:
    dump = open_dump(DATA / "softmax_mlp_cuda")
    removed = {buffer for kernel in dump.rows(Kernel) for buffer in kernel.removed}
    kept = [
        arrow
        for arrow in schedule_picture(CompiledGraph(dump, outer(dump)), "post_fusion").arrows()
        if arrow.kind == "kept"
    ]
    assert {line.split()[0] for arrow in kept for line in arrow.lines} == removed == {"buf5", "buf6"}
    before = schedule_picture(CompiledGraph(dump, outer(dump)), "pre_fusion")
    assert not [arrow for arrow in before.arrows() if arrow.kind == "kept"]


def test_nested_graphs_stand_in_frames_that_their_caller_runs() -> None:
    dump = open_dump(DATA / "conditional")
    picture = schedule_picture(CompiledGraph(dump, outer(dump)), "post_fusion")
    frames = {frame.id: frame for frame in picture.frames() if frame.kind == "graph"}
    assert {frame.text for frame in frames.values()} == {"graph true_graph_0", "graph false_graph_0"}
    calls = [arrow for arrow in picture.arrows() if arrow.kind == "call"]
    assert {arrow.tail for arrow in calls} == {"op2"}
    assert {arrow.into for arrow in calls} == set(frames)


def test_order_without_data_is_dashed(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("training_step").dump)
    optimizer = next(graph.graph for graph in dump.graphs() if graph.kind == "inference")
    order = [
        arrow
        for arrow in schedule_picture(CompiledGraph(dump, optimizer), "pre_fusion").arrows()
        if arrow.kind == "order"
    ]
    assert order
    assert all(arrow.lines == () and "only the order counts" in arrow.tooltip for arrow in order)
    weak = {
        (access.buffer, row.name)
        for row in dump.rows(Operation, optimizer)
        if row.phase == "pre_fusion"
        for access in row.reads
        if access.kind == "weak"
    }
    assert {(f"buf{arrow.tail.removeprefix('op')}", arrow.head) for arrow in order} <= weak


def test_refused_pairs_are_drawn_on_request(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("attention_block").dump)
    graph = outer(dump)
    plain = schedule_picture(CompiledGraph(dump, graph), "pre_fusion")
    asked = schedule_picture(CompiledGraph(dump, graph), "pre_fusion", refused=True)
    assert not [arrow for arrow in plain.arrows() if arrow.kind == "refused"]
    names = {row.name for row in dump.rows(Operation, graph) if row.phase == "pre_fusion"}
    pairs = {(row.a, row.b) for row in candidates(CompiledGraph(dump, graph)) if row.verdict == "refused"}
    expected = {pair for pair in pairs if names.issuperset(pair)}
    assert {(arrow.tail, arrow.head) for arrow in asked.arrows() if arrow.kind == "refused"} == expected != set()


def test_a_dump_without_operations_says_so(tmp_path: Path) -> None:
    write_transformer(tmp_path, 1)
    (tmp_path / "torchinductor" / GRAPH / "schedule.jsonl").unlink()
    text = schedule_dot(CompiledGraph(open_dump(tmp_path), GRAPH), "post_fusion")
    assert "nothing was scheduled" in text


def named(dump: Dump, name: str) -> ResolvedOperations:
    """What the name means in the only graph."""
    ((meant,),) = resolved(find_operations(Graphs(dump, GRAPH), (name,)))
    return meant


class TestAround:
    """A part of a large schedule."""

    @pytest.fixture(scope="class")
    def large(self, tmp_path_factory: pytest.TempPathFactory) -> Dump:
        root = tmp_path_factory.mktemp("large")
        write_transformer(root, 12)
        return open_dump(root)

    def operations(self, picture: Picture) -> set[str]:
        return {box.id for box in picture.boxes() if re.fullmatch(r"op\d+", box.id)}

    def test_near(self, large: Dump) -> None:
        none = schedule_picture(CompiledGraph(large, GRAPH), "pre_fusion", around=named(large, "op16"), depth=0)
        assert self.operations(none) == {"op16"}
        one = schedule_picture(CompiledGraph(large, GRAPH), "pre_fusion", around=named(large, "op16"), depth=1)
        assert self.operations(one) == {"op15", "op16", "op17"}
        assert {box.lines for box in one.boxes() if box.kind == "elsewhere"} == {("not drawn",)}

    @pytest.mark.parametrize("name", ["op16", "buf16", "gelu_16", "its kernel"])
    def test_any_name(self, large: Dump, name: str) -> None:
        if name == "its kernel":
            name = next(kernel.name for kernel in large.rows(Kernel) if "op16" in kernel.operations)
        found = schedule_picture(CompiledGraph(large, GRAPH), "post_fusion", around=named(large, name), depth=0)
        assert self.operations(found) == {"op16"}


class TestSections:
    """A schedule that is cut."""

    @pytest.fixture(scope="class")
    def picture(self, tmp_path_factory: pytest.TempPathFactory) -> Picture:
        root = tmp_path_factory.mktemp("cut")
        write_transformer(root, 24)
        return schedule_picture(CompiledGraph(open_dump(root), GRAPH), "post_fusion", fold=False)

    def test_several(self, picture: Picture) -> None:
        assert len(picture.sections) > 5

    def test_what_comes_from_elsewhere_has_a_name_there(self, picture: Picture) -> None:
        ids = [{box.id for box in Picture("", (), (section,)).boxes()} for section in picture.sections]
        own = {name: number for number, names in enumerate(ids, 1) for name in names}
        for number, section in enumerate(picture.sections, 1):
            arrows: tuple[Arrow, ...] = section.arrows
            assert all(own[arrow.tail] == own[arrow.head] == number for arrow in arrows)
            for box in Picture("", (), (section,)).boxes():
                if box.title.startswith("from "):
                    assert box.lines == (f"section {own[box.title.removeprefix('from ')]}",)

    def test_kernels_are_never_torn(self, picture: Picture) -> None:
        frames = [frame.id for frame in picture.frames() if frame.kind == "kernel"]
        assert len(frames) == len(set(frames))

    def test_frames_hold_boxes(self, picture: Picture) -> None:
        def check(inner: tuple[Frame | Box, ...]) -> None:
            assert inner
            for one in inner:
                if isinstance(one, Frame):
                    check(one.inner)

        for section in picture.sections:
            check(section.inner)
