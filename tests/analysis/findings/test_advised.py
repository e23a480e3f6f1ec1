"""What a finding promises is what following its advice saves: the program, changed as advised, moves so much less."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.fusion.outcome import left_apart
from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Kernel, Node
from inspect_compile.graph import CompiledGraph, Graphs
from tests.running import inspected

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "advised.py"
LINES = {
    text.split("  # ")[1]: number
    for number, text in enumerate(PROGRAM.read_text("utf-8").splitlines(), 1)
    if "  # " in text
}
MATRIX = 64 * 64 * 4
"""Bytes of one of its matrices."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dump, Dump]:
    """As it is, and mended."""
    folder = tmp_path_factory.mktemp("advised")
    for name, arguments in (("plain", []), ("mended", ["mended"])):
        done = inspected([PROGRAM, *arguments], folder, options=["--dump", folder / name])
        assert done.returncode == 0, done.stderr
    return Dump(folder / "plain"), Dump(folder / "mended")


def at_line(dump: Dump, comment: str) -> Finding:
    (found,) = [
        row
        for row in findings(Graphs(dump))
        if any(part.where is not None and part.where.line == LINES[comment] for part in row.parts)
    ]
    return found


def is_of(dump: Dump, graph: Graph, comment: str) -> bool:
    nodes = dump.rows(Node, graph.graph)
    return any(row.where is not None and row.where.line == LINES[comment] for row in nodes)


def moved(dump: Dump, compile_id: str) -> int:
    (graph,) = dump.graphs_of_compile(compile_id)
    return CompiledGraph(dump, graph.graph).traffic.moved


@pytest.mark.parametrize(
    ("comment", "kind", "compile_id"),
    [
        ("turned", "missed-fusion", "0/0"),
        ("in another layout", "layout", "2/0"),
        ("turned for a line", "layout", "3/0"),
        ("another order of an input", "copy", "5/0"),
    ],
)
def test_the_advice_saves_what_the_finding_promises(
    recorded: tuple[Dump, Dump], comment: str, kind: str, compile_id: str
) -> None:
    plain, mended = recorded

    found = at_line(plain, comment)

    assert found.kind == kind
    assert found.to_do
    assert found.bytes == moved(plain, compile_id) - moved(mended, compile_id) > 0
    (graph,) = mended.graphs_of_compile(compile_id)
    assert [row for row in findings(Graphs(mended, graph.graph)) if row.kind == kind] == []


def test_a_copy_inside_of_a_larger_kernel(recorded: tuple[Dump, Dump]) -> None:
    """The sum reads one of the two parts in the same kernel, so that the copy alone reads the other."""
    plain, _ = recorded

    found = at_line(plain, "joined")

    assert (found.kind, found.parts[0].operator) == ("copy", "cat")
    assert found.bytes == MATRIX + 2 * MATRIX
    (kernel,) = [row for row in CompiledGraph(plain, found.graph).traffic.all() if row.kernel == found.names[0]]
    assert found.bytes < kernel.least


def test_a_convolution_along_a_line_has_no_channels_last(recorded: tuple[Dump, Dump]) -> None:
    """`torch.channels_last` takes four axes: of three it raises."""
    plain, _ = recorded

    assert "channels_last" in at_line(plain, "in another layout").to_do
    assert "channels" not in at_line(plain, "turned for a line").what + at_line(plain, "turned for a line").to_do


def test_a_padding_that_repeats_values_is_no_copy(recorded: tuple[Dump, Dump]) -> None:
    plain, _ = recorded

    lines = {part.where.line for row in findings(Graphs(plain)) for part in row.parts if part.where is not None}

    assert LINES["padded"] not in lines


def test_memory_that_is_only_written_over_is_accounted_for(recorded: tuple[Dump, Dump]) -> None:
    """torch leaves the allocation out: no operation is scheduled for it, and what reads it has a constant instead."""
    plain, _ = recorded
    (graph,) = plain.graphs_of_compile("6/0")

    (empty,) = [row for row in coverage(CompiledGraph(plain, graph.graph)).nodes if row.target.startswith("aten.empty")]

    assert empty.where == "inline"
    assert "empty" not in " ".join(kernel.name for kernel in plain.rows(Kernel, graph.graph))


def test_what_autograd_turns_around_is_no_finding(recorded: tuple[Dump, Dump]) -> None:
    """The gradient of a cumulative sum is one from the other end."""
    plain, _ = recorded
    (backward,) = [
        graph
        for graph in plain.outermost()
        if graph.kind == "backward" and is_of(plain, graph, "turned around by autograd")
    ]

    apart = [miss for miss in left_apart(CompiledGraph(plain, backward.graph)) if not miss.between]

    lines = {(part.operator, part.where.line) for miss in apart for part in miss.parts if part.where is not None}
    assert ("flip", LINES["turned around by autograd"]) in lines
    assert [row for row in findings(Graphs(plain, backward.graph)) if row.kind == "missed-fusion"] == []


def test_a_join_is_one_finding_with_advice_of_its_own(recorded: tuple[Dump, Dump]) -> None:
    """Each part of a `cat` is a scheduler node."""
    plain, _ = recorded

    found = at_line(plain, "joined")

    assert (found.count, len(found.buffers)) == (1, 2)
    assert "parts" in found.to_do
    assert "transpose" not in found.to_do


def test_of_a_join_the_part_that_is_not_computed_is_a_copy(recorded: tuple[Dump, Dump]) -> None:
    """Both parts have the FX nodes of the whole `cat`, also that of the sigmoid."""
    plain, _ = recorded

    found = at_line(plain, "a part is computed")

    assert (found.kind, found.bytes) == ("copy", 2 * MATRIX)


def test_a_layer_of_each_batch_is_not_advised(recorded: tuple[Dump, Dump]) -> None:
    plain, _ = recorded

    assert "reads the weights again" in at_line(plain, "a part is computed").to_do


def test_a_join_in_front_of_a_layer_whose_results_are_large_is_no_finding(recorded: tuple[Dump, Dump]) -> None:
    """A product of each part makes one more result, which is written and read."""
    plain, mended = recorded
    (compile_id,) = {one.compile_id for one in plain.outermost() if is_of(plain, one, "a layer of each costs more")}
    assert compile_id is not None

    lines = {part.where.line for row in findings(Graphs(plain)) for part in row.parts if part.where is not None}

    assert moved(mended, compile_id) > moved(plain, compile_id)
    assert LINES["a layer of each costs more"] not in lines


def test_what_is_turned_around_is_no_copy_for_a_layout(recorded: tuple[Dump, Dump]) -> None:
    plain, _ = recorded

    kinds = [
        row.kind
        for row in findings(Graphs(plain))
        for part in row.parts
        if part.where is not None and part.where.line == LINES["turned around"]
    ]

    assert "layout" not in kinds


def test_a_model_that_is_channels_last_is_not_told_to_be(recorded: tuple[Dump, Dump]) -> None:
    plain, _ = recorded

    found = at_line(plain, "joined for a convolution")

    assert found.kind == "layout"
    assert "is channels-last already" in found.to_do


def test_what_a_forward_saves_of_weights_does_not_tell_how_they_are_stored(recorded: tuple[Dump, Dump]) -> None:
    """It saves the copies that it has made in channels-last memory."""
    plain, _ = recorded
    backward = next(
        one
        for one in plain.outermost()
        if one.kind == "backward" and is_of(plain, one, "with a gradient in another layout")
    )

    told = [
        row for row in findings(Graphs(plain, backward.graph)) if row.kind == "layout" and row.graph == backward.graph
    ]

    assert told
    assert all("keep them in channels-last memory" in row.to_do for row in told)


def test_what_an_earlier_join_has_written_is_copied_for_a_convolution_in_any_layout(
    recorded: tuple[Dump, Dump],
) -> None:
    """The model and its inputs are channels-last. A convolution of each part leaves the copy and the `cat` out, and
    makes one more result.
    """
    plain, mended = recorded

    (found,) = [row for row in findings(Graphs(plain, plain.graphs_of_compile("9/0")[0].graph)) if row.kind == "layout"]

    assert "conv2d to each part" in found.to_do
    assert found.bytes is not None
    assert 0 < found.bytes <= moved(plain, "9/0") - moved(mended, "9/0")


def test_an_einsum_is_not_told_about_attention(recorded: tuple[Dump, Dump]) -> None:
    plain, _ = recorded

    found = at_line(plain, "batch axes inside")

    assert found.kind == "copy"
    assert "torch.einsum" in found.to_do
    assert "attention" not in found.to_do


def test_an_optimizer_that_makes_its_state_is_compiled_twice(recorded: tuple[Dump, Dump]) -> None:
    """One step without torch.compile makes it, so that the compiled function is compiled once."""
    plain, mended = recorded

    (found,) = [row for row in findings(Graphs(plain)) if row.kind == "recompile"]

    assert "run the first step without torch.compile" in found.to_do
    assert [row for row in findings(Graphs(mended)) if row.kind == "recompile"] == []
