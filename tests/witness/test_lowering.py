"""One lowering row for each node of each graph and subgraph, as torch's own fx_graph_transformed.py lists them."""

import pytest

from inspect_compile.dump import open_dump
from inspect_compile.facts import Lowering
from tests.conftest import DumpOf
from tests.witness.output_code import fx_nodes

SAMPLES = (
    "conv_bias",
    "softmax_mlp",
    "attention_block",
    "training_step",
    "graph_breaks",
    "dynamic_shapes",
    "two_models",
    "conditional",
    "flex_attention",
)


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_node_is_lowered_once(dump_of: DumpOf, sample: str) -> None:
    dump = open_dump(dump_of(sample).dump)
    outermost = [graph.graph for graph in dump.graphs() if graph.parent is None]
    assert outermost

    for graph in outermost:
        text = dump.text(graph, "fx_graph_transformed.py")
        assert text is not None
        listed = fx_nodes(text)
        rows = dump.rows(Lowering, graph)
        for part, names in listed.items():
            own = [row.node for row in rows if row.graph == f"{graph}/{part}".rstrip("/")]
            assert len(own) == len(set(own))
            missing = [name for name in names if name not in own]
            assert not missing, f"{graph}/{part}"
            more = [name for name in own if name not in names and not name.startswith("output")]
            # On the CPU flex_attention's mask is lowered from a copy with these three nodes added to it.
            assert more == (["qk_data", "full", "where"] if part == "sdpa_mask0" else []), f"{graph}/{part}"


def test_a_conditional_has_three_graphs(dump_of: DumpOf) -> None:
    graphs = open_dump(dump_of("conditional").dump).graphs()

    first = [graph for graph in graphs if graph.compile_id == "0/0"]
    assert first[0].name == "model__0_inference_0"
    assert {graph.name for graph in first[1:]} == {"true_graph_0", "false_graph_0"}  # torch 2.15 lowers the other first
    assert len(first) == 3
    assert all(graph.parent == first[0].graph for graph in first[1:])
