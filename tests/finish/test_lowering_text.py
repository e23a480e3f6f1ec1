"""lowering.txt tells what a hand-instrumented Inductor printed of the same program.

`SECTIONS` are the sections of that trace, made years ago by prints inside of torch on a GPU: a 3×3 convolution of 10
channels with bias on an image of 10×90×80. Today's torch on a CPU takes the same program another way (channels last, so
copies around the convolution), which changes values but not what there is to tell.
"""

from pathlib import Path

import pytest

from inspect_compile.dump import open_dump, paths
from inspect_compile.facts import Lowering, Operation
from inspect_compile.finish import ARTIFACTS, finish
from tests.conftest import DumpOf
from tests.tables.test_tables import hostile_dump


@pytest.fixture
def text(dump_of: DumpOf) -> str:
    dump = open_dump(dump_of("conv_bias").dump)
    (only,) = dump.graphs()
    return dump.text(only.graph, paths.LOWERING) or ""


SECTIONS: dict[str, tuple[str, ...]] = {
    "compile_fx, auto_autograd compiler_fn, New compile_fx_inner": (
        "model__0_forward_1.0   forward   compile 0/0   compiled in",
        "frame   Edges.forward",
        "nodes   Dynamo 5   joint 12   AOTAutograd 7   after all passes 7",
        "Who called whom: backend (compiler_fn), compile_fx, AOTAutograd (auto_autograd), compile_fx_inner",
        "backend inductor(GraphModule, 5 nodes, 3 inputs)  torch/__init__.py:",
        "  compile_fx(GraphModule, 5 nodes, 3 inputs)  torch/_inductor/compile_fx.py:",
        "    aot_autograd(GraphModule, 5 nodes, 3 inputs)  torch/_dynamo/backends/common.py:",
        "        _compile_fx_inner(GraphModule, 7 nodes, 3 inputs)  torch/_inductor/compile_fx.py:",
    ),
    "Module FLOP % Total": (
        "FLOP table: Module, FLOP, % Total",
        "Module                      FLOP  % Total",
        "Global                12355.200K  100.00%",
        " - aten.convolution   12355.200K  100.00%",
        " conv (Conv2d)        12355.200K  100.00%",
    ),
    "Compile_inner graph: GraphLowering, GraphLowering.run": (
        "GraphLowering.run(GraphModule, 7 nodes, 3 inputs)  torch/_inductor/graph.py:",
        "→ GraphLowering, 4 operations, 4 buffers",
        "GraphLowering.run: Graph.run_node of each node",
    ),
    "Graph.run_node: n: primals_2, super().run_node(n), Start placeholder in graph": (
        "primals_2   placeholder",
        "how     placeholder: an input of the graph",
    ),
    "Result after run_node of an input": (
        "InputBuffer(name='primals_2', layout=FixedLayout('cpu', torch.float32, size=[10], stride=[1]))",
    ),
    "n: unsqueeze, Overloadpacket, Flop count": (
        "unsqueeze   aten.unsqueeze.default   conv_bias.py:17   return self.conv(image)   in conv   0 FLOP",
    ),
    "n: convolution, Flop count: 12355200": (
        "convolution   aten.convolution.default   conv_bias.py:17   return self.conv(image)   in conv   12,355,200 ",
    ),
    "Case 2: n.target in layout_constraints": (
        "layout  its arguments were first converted to the layout of constrain_conv_to_fx_strides()",
    ),
    "Case 4, Call_function in graph, Before calling out": ("how     lowering   torch/_inductor/kernel/conv.py:",),
    "Target, Args, Kwargs, as the IR that they were": (
        "in      %unsqueeze, %primals_1, %primals_2, [1, 1], [0, 0], [1, 1], False, [0, 0], 1",
        "%unsqueeze = TensorBox(StorageBox(ComputedBuffer buf1 f32[1, 10, 90, 80] stride [72000, 1, 800, 10]))",
        "%primals_2 = TensorBox(StorageBox(InputBuffer primals_2 f32[10]))",
    ),
    "Not realizing StorageBox with name: primals_2": (
        "stored  primals_2 already is: input of a convolution",
        "through ExternKernel.realize_input torch/_inductor/ir.py:",
    ),
    "Ir.ExternKernel.copy_input pre-realize, Realized StorageBox with its text": (
        "stored  buf3, a Pointwise until now:",
        "through ExternKernel.copy_input torch/_inductor/ir.py:",
        "name='buf3', layout=FlexibleLayout('cpu', torch.float32, size=[10, 88, 78], stride=[6864, 78, 1])",
        "tmp0 = ops.load(buf2, i0 + 10 * i2 + 780 * i1)",
        "ranges=[10, 88, 78],",
        "origins=OrderedSet([squeeze])",
    ),
    "Result after run_node": (
        "out     TensorBox(StorageBox(",
        "name=buf2,",
        "kwargs={'stride': (1, 1), 'padding': (0, 0), 'dilation': (1, 1), 'transposed': False,",
    ),
    "buf1 (what it made)": (
        "made    buf2 op2 ExternKernelAlloc extern_kernels.convolution",
        "made    buf3 op3 ComputedBuffer(Pointwise)",
    ),
    "Graph.lowering Output Pre-Realize, Node 0, 1, 2": (
        "output   output",
        "Graph.lowering Output Pre-Realize\n",
        "  Node 0  %squeeze = TensorBox(StorageBox(ComputedBuffer buf3 f32[10, 88, 78]))",
        "  Node 1  %primals_1 = TensorBox(StorageBox(ComputedBuffer buf0 f32[10, 10, 3, 3] stride [90, 1, 30, 10]))",
        "  Node 2  %unsqueeze = TensorBox(StorageBox(ComputedBuffer buf1 f32[1, 10, 90, 80] stride ",
    ),
    "IR realize_input of the outputs, Not realizing": ("stored  buf3 (the value of squeeze) already is:",),
    "Graph.lowering Input Pre-Realize, Not realizing primals_1, Input Post-Realize": (
        "Graph.lowering Input Pre-Realize → Input Post-Realize\n",
        "  primals_2  TensorBox(StorageBox(InputBuffer primals_2 f32[10]))  ",
        "→ not realized again: it is in memory, and nothing wrote to it",
        "stored  primals_1 already is: ",
        "stored  primals_3 already is: ",
    ),
    "Realized Graph.lowering Output, Node 0, 1, 2, Finished Graph.lowering Output": (
        "Realized Graph.lowering Output\n  [StorageBox(\n",
        "    ComputedBuffer(name='buf3', layout=FixedLayout('cpu', torch.float32, size=[10, 88, 78], ",
        "    ComputedBuffer(name='buf1', layout=FixedLayout('cpu', torch.float32, size=[1, 10, 90, 80], ",
    ),
    "Init Scheduler, ir.LoopBodyBlock: the graph of the loop's body": (
        "Init Scheduler: LoopBodyBlock, the body of each operation's loops",
        "── op3: squeeze ──",
        "class op3_loop_body:",
        "var_ranges = {p0: 10, p1: 6864}",
        "load = ops.load('buf2', get_index)",
        "store = ops.store('buf3', get_index_1, load, None)",
    ),
    "New nodes after processing: class, flops, node": (
        "New nodes after processing: the scheduler's operations before fusion",
        "op2   extern   ExternKernelSchedulerNode   ExternKernelAlloc extern_kernels.convolution on cpu",
        "FLOP    12,355,200 (convolution), for convolution",
        "op3   pointwise   SchedulerNode   ComputedBuffer(Pointwise) on cpu   from squeeze",
    ),
    "min_order, max_order, group, _sizes": ("order   3   group (cpu, (68640, 1))",),
    "inverse_users, unmet_dependencies, recursive_predecessors": (
        "waits   for op0 op1",
        "waits   for op2",
        "after these: op0 op1 (recursive predecessors)",
    ),
    "read_writes: reads, writes, var_ranges": (
        "reads   buf2[c0 + 10*c1]   {c0=10, c1=6864}   274,560 B   written by op2",
        "writes  buf3[c0]   {c0=68640}   274,560 B",
        "reads   buf0, all of it   3,600 B   written by op0",
    ),
    "users": ("users   op2   OUTPUT", "users   OUTPUT"),
    "last_usage": ("last    use of buf2", "last    use of primals_2"),
    "origins": ("from squeeze", "from convolution"),
    "Finished scheduler init (what fusion left)": (
        "Finished scheduler init: fusion",
        "After fusion, in the order of the generated code:",
        "conv_bias.py:17  cpp_fused_squeeze_1 ",
    ),
    "Scheduler.codegen, scheduler.codegen_extern_call, ir.codegen_reference": (
        "Scheduler.codegen: extern calls, kernels, allocations and frees, by line of output_code.py",
        "buf2 = extern_kernels.convolution(buf1, buf0, primals_2, stride=(1, 1), padding=(0, 0), dilation=(1, 1)",
    ),
    "codegen.triton.call_kernel": ("cpp_fused_squeeze_1(buf2, buf3)", "runs op3   reads 274,560 B, writes 274,560 B"),
    "ir.codegen_reference: buf1, primals_1 (the outputs)": ("return         (buf3, buf0, buf1, )",),
    "graph.compile_to_module, compile_fx_inner.result, compile_fx.fw_compiler_base": (
        "graph.compile_to_module, compile_fx_inner.result, compile_fx.fw_compiler: what was returned",
        "  GraphLowering.compile_to_module  → Runner.call ",
        "  _compile_fx_inner                → CompiledFxGraph of Runner.call ",
        "  backend inductor                 → aot_module_simplified.<locals>.forward ",
    ),
    "inductor.triton_heuristics.bench (on a GPU: ms, GB, GB/s)": (
        "inductor.triton_heuristics, bench: what was timed",
        "No kernel was timed: none has more than one configuration.",
    ),
}
"""Section of the trace → what of it lowering.txt tells for this program on a CPU."""


@pytest.mark.parametrize("section", SECTIONS)
def test_each_section_is_told(text: str, section: str) -> None:
    assert [words for words in SECTIONS[section] if words not in text] == []


def test_in_the_order_of_the_trace(text: str) -> None:
    marks = [
        "\nWho called whom: ",
        "\nFLOP table: ",
        "Module  ",
        "\nGraphLowering.run: ",
        "\nprimals_1  ",
        "\nunsqueeze  ",
        "\nconvolution  ",
        "\nsqueeze  ",
        "\noutput  ",
        "\nGraph.lowering: ",
        "Graph.lowering Output Pre-Realize",
        "Graph.lowering Input Pre-Realize",
        "Realized Graph.lowering Output",
        "\nInit Scheduler: ",
        "\n── op3: ",
        "\nNew nodes after processing: ",
    ]
    marks += ["\nop0 ", "\nop3 ", "\nFinished scheduler init: ", "\nScheduler.codegen: ", "cpp_fused_squeeze_1(buf2"]
    marks += ["return  ", "\ngraph.compile_to_module", "\ninductor.triton_heuristics"]

    places = [text.index(mark) for mark in marks]

    assert places == sorted(places)


def test_every_node_is_told_once(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("training_step").dump)

    for found in dump.graphs():
        lines = (dump.text(found.graph, paths.LOWERING) or "").splitlines()
        nodes = [line.split("   ")[0] for line in lines if line and not line.startswith((" ", "=", "-", "─"))]
        rows = dump.rows(Lowering, found.graph)
        operations = [row.name for row in dump.rows(Operation, found.graph) if row.phase == "pre_fusion"]
        assert len(rows) > 10
        assert [name for name in nodes if name in {row.node for row in rows}] == [row.node for row in rows]
        assert [name for name in nodes if name in set(operations)] == operations


def test_nested_graphs_are_told_where_they_are_lowered(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("conditional").dump)
    text = dump.text(dump.graphs()[0].graph, paths.LOWERING) or ""

    # Which branch comes first is torch's choice.
    for graph, node in (("true_graph_0", "tanh"), ("false_graph_0", "exp")):
        assert text.rindex("── in ", 0, text.index(f"\n{node} ")) == text.index(f"── in {graph}")
    back, cond = text.index("── back in the outer graph"), text.index("\ncond   cond")
    assert max(text.index("\ntanh "), text.index("\nexp ")) < back < cond


def test_text_of_a_dump_moves_no_cursor(tmp_path: Path) -> None:
    dump = hostile_dump(tmp_path)

    finish(dump)

    for name in (name for name in ARTIFACTS if name.endswith((".txt", ".json"))):
        text = (dump.folder(dump.graphs()[0].graph) / name).read_text(encoding="utf-8")
        assert text
        assert "\x1b" not in text, name
        assert "\x9b" not in text, name
