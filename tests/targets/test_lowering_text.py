"""lowering.txt for a GPU that is not here tells what a hand-instrumented Inductor printed on one.

As tests/finish/test_lowering_text.py does for a CPU: there the same program takes another way. Here it is that of the
trace: the convolution is a library call without its bias, which a kernel of its own adds.
"""

from pathlib import Path

import pytest

from inspect_compile.dump import open_dump, paths
from tests.conftest import SAMPLES
from tests.running import inspected

pytestmark = pytest.mark.targets

SECTIONS: dict[str, tuple[str, ...]] = {
    "compile_fx, New compile_fx_inner": (
        "model__0_forward_1.0   forward   compile 0/0   compiled in",
        "_compile_fx_inner(",
        "  torch/_inductor/compile_fx.py:",
    ),
    "Module FLOP % Total": ("Global                12355.200K  100.00%",),
    "n: unsqueeze: a view, and its ReinterpretView": (
        "how     view   torch/_inductor/lowering.py:",
        "FixedLayout('cuda:0', torch.float32, size=[1, 10, 90, 80], stride=[72000, 7200, 80, 1]),",
    ),
    "n: convolution: layout_constraints, Not realizing primals_3 and primals_1": (
        "layout  its arguments were first converted to the layout of constrain_conv_to_fx_strides()",
        "stored  primals_3 already is: input of a convolution",
        "stored  primals_1 already is: input of a convolution",
    ),
    "Result after run_node: the bias as a Pointwise over the extern kernel's buffer": (
        "tmp0 = ops.load(buf0, i3 + 78 * i2 + 6864 * i1)",
        "tmp1 = ops.load(primals_2, i1)",
        "ranges=[1, 10, 88, 78],",
    ),
    "Realized StorageBox: buf1": (
        "ComputedBuffer(name='buf1', layout=FlexibleLayout('cuda:0', torch.float32, size=[1, 10, 88, 78], ",
    ),
    "Graph.lowering Output Pre-Realize, Node 0, 1, 2": (
        "  Node 0  %squeeze = TensorBox(ReinterpretView(StorageBox(ComputedBuffer buf1 f32[1, 10, 88, 78]) → f32[10, ",
        "  Node 1  %primals_1 = TensorBox(StorageBox(InputBuffer primals_1 f32[10, 10, 3, 3]))",
        "  Node 2  %unsqueeze = TensorBox(ReinterpretView(StorageBox(InputBuffer primals_3 f32[10, 90, 80]) → ",
    ),
    "Input Pre-Realize, Not realizing, Input Post-Realize": (
        "  primals_2  TensorBox(StorageBox(InputBuffer primals_2 f32[10]))  ",
        "→ not realized again: it is in memory, and nothing wrote to it",
    ),
    "Realized Graph.lowering Output, Node 0, 1, 2": (
        "Realized Graph.lowering Output\n  [ReinterpretView(\n",
        "      InputBuffer(name='primals_1', layout=FixedLayout('cuda:0', torch.float32, size=[10, 10, 3, 3], ",
    ),
    "ir.LoopBodyBlock": (
        "── op1: unsqueeze convolution ──",
        "load = ops.load('buf0', get_index)",
        "load_1 = ops.load('primals_2', get_index_1)",
        "add = ops.add(load, load_1)",
        "store = ops.store('buf1', get_index_2, add, None)",
    ),
    "ExternKernelSchedulerNode: flops, no predecessors, users": (
        "op0   extern   ExternKernelSchedulerNode   ExternKernelAlloc extern_kernels.convolution on cuda:0",
        "FLOP    12,355,200 (convolution), for convolution",
        "waits   no unmet dependency",
        "users   op1 (may write in place)",
    ),
    "SchedulerNode: last_usage, unmet_dependencies, users": (
        "op1   pointwise   SchedulerNode   ComputedBuffer(Pointwise) on cuda:0",
        "waits   for op0",
        "last    use of buf0 primals_2",
        "users   OUTPUT",
    ),
    "scheduler.codegen_extern_call, codegen.triton.call_kernel": (
        "buf0 = extern_kernels.convolution(reinterpret_tensor(primals_3, (1, 10, 90, 80), (72000, 7200, 80, 1), 0), ",
        "triton_poi_fused_convolution_unsqueeze_0.run(buf1, primals_2, 68640, stream=raw_stream0)",
    ),
    "ir.codegen_reference: buf1, primals_1": ("return         (reinterpret_tensor(buf1, (10, 88, 78), ",),
    "compile_to_module, compile_fx_inner.result": ("GraphLowering.compile_to_module  → ", "_compile_fx_inner  "),
    "inductor.triton_heuristics.bench": ("inductor.triton_heuristics, bench: what was timed", "No kernel was timed: "),
}
"""Section of the trace → what of it lowering.txt tells."""


def test_each_section_is_told(tmp_path: Path) -> None:
    done = inspected([SAMPLES / "conv_bias.py"], tmp_path, options=["--target", "sm_90"])
    assert done.returncode == 0, done.stderr
    dump = open_dump(tmp_path / "dump" / paths.target_folder("sm_90"))
    forward = next(found for found in dump.graphs() if found.kind == "forward")
    text = dump.text(forward.graph, paths.LOWERING) or ""

    missing = {title: [words for words in told if words not in text] for title, told in SECTIONS.items()}
    assert {title: words for title, words in missing.items() if words} == {}
