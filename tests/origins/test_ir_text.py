"""The operations that are read from torch's texts of the schedule are those that were recorded."""

from pathlib import Path
from typing import Any

import pytest

from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Node, Operation, Tensor
from inspect_compile.origins.ir_text import buffer_bytes, operations_of
from inspect_compile.origins.output_code import read_code
from tests.conftest import DumpOf

_TOLD = (
    "graph", "phase", "order", "name", "kind", "node_type", "ir_type", "device", "members", "buffers", "numel",
    "rnumel", "reads", "writes", "users", "predecessors", "extern_kernel",
)  # fmt: skip

_DEPENDENCY = "MemoryDep('buf0', c0, {c0: 8})"


def told(operation: Operation) -> dict[str, Any]:
    return {name: getattr(operation, name) for name in _TOLD}


def text_of(dump: Dump, graph: str, name: str) -> str:
    text = dump.text(graph, name)
    assert text
    return text


@pytest.mark.parametrize("sample", ["softmax_mlp", "training_step", "attention_block", "dynamic_shapes"])
@pytest.mark.parametrize(
    ("phase", "file"), [("pre_fusion", paths.IR_PRE_FUSION), ("post_fusion", paths.IR_POST_FUSION)]
)
def test_each_operation_is_the_one_that_was_recorded(sample: str, phase: str, file: str, dump_of: DumpOf) -> None:
    dump = Dump(dump_of(sample).dump)
    for graph in dump.outermost():
        nodes = [node for node in dump.rows(Node, graph.graph) if node.op == "placeholder" and node.values]
        code = read_code(graph.graph, text_of(dump, graph.graph, f"{paths.OUTPUT_CODE}.py"))
        text = text_of(dump, graph.graph, file)
        read = operations_of(graph.graph, phase, text, {node.target: node.values[0] for node in nodes}, code.symbols)
        recorded = [row for row in dump.rows(Operation, graph.graph) if row.phase == phase]
        assert [told(row) for row in read] == [told(row) for row in recorded]
        assert read


def test_the_nodes_in_a_fused_node_are_its_members(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("softmax_mlp").dump)
    [graph] = dump.outermost()
    fused = operations_of(graph.graph, "post_fusion", text_of(dump, graph.graph, paths.IR_POST_FUSION))[-1]
    assert (fused.kind, fused.members) == ("fused", ("op3", "op4", "op5", "op6"))
    assert [write.buffer for write in fused.writes] == ["buf3", "buf4", "buf5", "buf6"]
    assert fused.users == ("OUTPUT",)


def test_without_tensors_of_the_inputs_their_bytes_are_not_known(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("softmax_mlp").dump)
    [graph] = dump.outermost()
    text = text_of(dump, graph.graph, paths.IR_PRE_FUSION)
    linear = operations_of(graph.graph, "pre_fusion", text)[0]
    assert [read.bytes for read in linear.reads] == [None, None, None]
    inputs = {"arg0_1": Tensor("float32", (256, 64), bytes=65536)}
    assert operations_of(graph.graph, "pre_fusion", text, inputs)[0].reads[0].bytes == 65536


def test_bytes_of_buffers_are_those_of_their_layouts(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("softmax_mlp").dump)
    [graph] = dump.outermost()
    sizes = buffer_bytes(text_of(dump, graph.graph, paths.IR_POST_FUSION))
    assert sizes == {
        "buf0": 32768, "buf1": 32768, "buf2": 1280, "buf3": 128, "buf4": 1280, "buf5": 128, "buf6": 1280,
    }  # fmt: skip


def test_a_torn_text_has_the_nodes_before_the_tear(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("softmax_mlp").dump)
    [graph] = dump.outermost()
    text = text_of(dump, graph.graph, paths.IR_POST_FUSION)
    whole = [row.name for row in operations_of("g", "post_fusion", text)]
    for end in range(0, len(text), 97):
        read = [row.name for row in operations_of("g", "post_fusion", text[:end])]
        assert read == whole[: len(read)]


_STRANGE = {
    "nothing": "",
    "no nodes": "\n\n\n" * 1000,
    "brackets": "op0: SchedulerNode(ComputedBuffer)\nop0.writes = " + "[" * 1_000_000,
    "one long list": f"op0: SchedulerNode(ComputedBuffer)\nop0.writes = [{', '.join([_DEPENDENCY] * 50_000)}]",
    "many lines": f"op0: SchedulerNode(ComputedBuffer)\nop0.writes = \n{(_DEPENDENCY + ',' + chr(10)) * 50_000}",
    "many users": "op0: A(B)\nop0.outputs = [\nbuf0: C\nbuf0.users = [\n" + "NodeUser(node=OUTPUT),\n" * 200_000,
    "nodes in nodes": "".join(f"op{depth}: A(B)\nop{depth}.snodes[0] =\n" for depth in range(50_000)),
    "a huge size": "op0: SchedulerNode(ComputedBuffer)\nop0.sizes = ([" + "9" * 5000 + ", 9999999999] ,[])",
    "many sizes": "op0: SchedulerNode(ComputedBuffer)\nop0.sizes = ([" + "999999999, " * 50_000 + "] ,[])",
    "mutations in a circle": "op0: A(B)\nop0.writes = [StarDep(name='buf0', mode=None)]\nop0.outputs = [\n"
    "buf0: C\nbuf0.layout = NoneLayout()\nbuf0.mutations = ['buf0']\n]",
}


@pytest.mark.parametrize("what", _STRANGE)
def test_a_strange_text_is_read_as_far_as_it_goes(what: str) -> None:
    read = operations_of("g", "pre_fusion", _STRANGE[what])
    assert [row.name for row in read] == (["op0"] if "op0" in _STRANGE[what] else [])
    buffer_bytes(_STRANGE[what])


def test_what_it_reads_is_not_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    write = f"open({str(made)!r}, 'w').write('x')"
    text = f"op0: SchedulerNode(ComputedBuffer)\nop0.writes = [MemoryDep('buf0', {write}, {{c0: {write}}})]\n"
    text += (
        f"op0.sizes = ([{write}], [])\nbuf0_layout = FixedLayout('cpu', torch.float32, size=[{write}], stride=[1])\n"
    )
    [row] = operations_of("g", "pre_fusion", text, symbols={"s0": 1})
    assert row.writes[0].bytes is None
    assert not made.exists()
