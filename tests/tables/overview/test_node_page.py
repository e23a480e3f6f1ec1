"""`show node`: one node on one page, and what a name can mean."""

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from inspect_compile import tables
from inspect_compile.analysis.lookup.graphs import find_graph
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Checked, Symbol, Tensor
from inspect_compile.finish.lowering_text import lowering_text
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.lookup_text import only
from tests.conftest import DumpOf, Golden
from tests.handmade import GRAPH, at, graph, lowered, made, node, operation
from tests.normalised import normalised, of_golden_code

Capture = pytest.CaptureFixture[str]


def page(dump: Dump, *names: str, graph: str | None = None, width: int = 120) -> str:
    return plain_text(tables.table("node", Graphs(dump, graph), names=names, dump_argument="net"), width)


@of_golden_code
def test_a_convolution(dump_of: DumpOf, tmp_path: Path, golden: Golden) -> None:
    golden.check(page(normalised(dump_of("conv_bias").dump, tmp_path / "dump"), "convolution"))


@of_golden_code
def test_a_gradient(dump_of: DumpOf, tmp_path: Path, golden: Golden) -> None:
    dump = normalised(dump_of("training_step").dump, tmp_path / "dump")

    golden.check(page(dump, "exp", graph=only(find_graph(dump, "backward")).graph))


@of_golden_code
def test_a_node_of_dynamos_and_all_that_became_of_it(dump_of: DumpOf, tmp_path: Path, golden: Golden) -> None:
    golden.check(page(normalised(dump_of("training_step").dump, tmp_path / "dump"), "mse_loss"))


@pytest.mark.parametrize("width", [40, 80])
def test_it_is_never_wider_than_the_terminal(dump_of: DumpOf, width: int) -> None:
    dump = Dump(dump_of("conv_bias").dump)

    for name in ("conv2d", "convolution", "buf3", "op2", "output", "primals_1"):
        text = page(dump, name, width=width)
        assert "Kernels that compute it" in text
        assert max(map(cell_len, text.splitlines())) <= width


def test_every_section_tells_of_the_node(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)

    text = page(dump, "exp", graph=only(find_graph(dump, "backward")).graph)

    for words in (
        "training_step.py:",  # the line and its text
        "return F.mse_loss(model(x), y)",
        "input_3",  # Dynamo's node, whose gradient it is a part of
        "never realized: computed in 1 operation, ",  # inlined
        "body    class op",
        "round 1",  # fused
        "cpp_fused",  # where it runs
        "reads",
        "FLOP",
    ):
        assert words in text, words


def test_a_buffer_stands_for_the_nodes_behind_it(dump_of: DumpOf) -> None:
    text = page(Dump(dump_of("conv_bias").dump), "buf3")

    assert text.startswith("buf3  means 1 node: squeeze\n")
    assert "\nsqueeze   aten.squeeze.dim   post-grad node" in text


def test_another_node_of_that_name_is_told_of(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("conditional").dump)

    outer, inner = page(dump, "add"), page(dump, "false_graph_0/add")

    assert "conditional.py:14" in outer
    assert "conditional.py:12" in inner
    assert "show net node post_grad:false_graph_0/add" in " ".join(outer.split())
    assert page(dump, "dynamo:add").startswith("add   operator.add   Dynamo node")


def test_facts_for_programs(dump_of: DumpOf, capsys: Capture) -> None:
    assert main(["show", str(dump_of("conv_bias").dump), "node", "convolution", "--json"]) == 0

    first, *rows = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["fact"], first["node"], first["kernels"]) == (
        "node_page",
        "convolution",
        ["extern_kernels.convolution"],
    )
    found = first["ancestors"][0]
    assert [found[name] for name in ("stage", "graph", "name", "how")] == ["dynamo", "0/0", "conv2d", "from_node"]
    assert found["values"][0]["size"] == [10, 88, 78]
    assert {row["fact"] for row in rows} >= {"dynamo_node", "joint_node", "node", "lowering", "realize", "kernel"}


def test_what_a_check_of_numerics_said_of_its_value(tmp_path: Path, capsys: Capture) -> None:
    result = Checked(graph=GRAPH, call=1, index=0, kernel="cpp_fused_add_0", line=9, node="add", mismatch="int64[4]")
    dump = made(
        tmp_path,
        graph(),
        node("mul", "aten.mul.Tensor"),
        node("add", "aten.add.Tensor"),
        result,
        Checked(graph=GRAPH, call=1, index=-1, level="all passes", node="add", is_equal=True),
    )

    assert "\n\nNumerics\n  checked at output_code.py:9   add   wrong\n" in page(dump, "add")
    assert "Numerics" not in page(dump, "mul")
    assert main(["show", str(tmp_path), "node", "add", "--json"]) == 0
    rows = [row for row in map(json.loads, capsys.readouterr().out.splitlines()) if row["fact"] == "judged"]
    assert [(row["kernel"], row["verdict"]) for row in rows] == [(result.kernel, "wrong")]


def error(dump: Dump, name: str, graph: str | None = None) -> str:
    with pytest.raises(CommandError) as found:
        page(dump, *([name] if name else []), graph=graph)
    return str(found.value)


def test_a_name_that_means_nothing_or_too_much(tmp_path: Path) -> None:
    other = GRAPH.replace("forward_1.0", "backward_2.1")
    dump = made(
        tmp_path,
        graph(),
        graph(other, kind="backward"),
        node("convolution", "aten.convolution.default"),
        node("relu", "aten.relu.default"),
        node("relu", "aten.relu.default", graph=other),
        lowered("relu", "aten.relu.default", buffers=("buf0",)),
        operation("op0", reads={}, writes={"buf0": 4}, nodes=("relu",), phase="pre_fusion"),
    )

    assert "near: convolution" in error(dump, "convoluton")
    assert "no node matches" in error(dump, "zzz")
    heads = [line for line in page(dump, "relu").splitlines() if line.startswith("relu ")]
    assert [graph for graph in (GRAPH, other) for line in heads if graph in line] == [GRAPH, other]
    assert "name one" in error(dump, "")
    assert page(dump, "relu", graph=other).startswith("relu ")
    assert page(dump, "buf0").startswith("buf0  means 1 node: relu")


def test_text_of_a_dump_is_only_text(tmp_path: Path) -> None:
    bad = "[red]\x1b[31mx\x1b[0m[/red]\x9b2J :smile:"
    dump = made(tmp_path, graph(), node(bad, bad, module=bad, arguments=bad), lowered(bad, bad, result=bad, via=bad))

    text = page(dump, bad)

    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert ":smile:" in text


def test_symbols_of_its_sizes(tmp_path: Path) -> None:
    sizes = Tensor("float32", ("s0", "2*s1"), ("2*s1", 1), "cpu", None)
    dump = made(
        tmp_path,
        graph(),
        node("relu", "aten.relu.default", values=(sizes,)),
        Symbol(graph=GRAPH, name="s0", hint="8", lower="2", upper="int_oo", source="L['x'].size()[0]", where=at(4)),
        Symbol(graph=GRAPH, name="s2", hint="3"),
    )

    assert "  symbol  s0 = 8, 2 …: L['x'].size()[0], net.py:4\n" in page(dump, "relu")
    assert "s2" not in page(dump, "relu")
    assert "  symbol  s2 = 3\n" in lowering_text(CompiledGraph(dump, GRAPH))
