"""Which call of which graph started a kernel: forward and backward, graphs alike, and what else ran in a call."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from inspect_compile.analysis.runtime.attributed_time import LaunchTimes
from inspect_compile.analysis.runtime.attribution import CERTAIN, Attribution, attribute
from inspect_compile.dump import Dump
from inspect_compile.facts import Fact, Kernel
from inspect_compile.knowledge.kernels.library_kernels import can_launch, library_of
from inspect_compile.knowledge.targets.devices import device_named
from inspect_compile.profiles import GpuRun, HostCall, Profile, Span
from tests.handmade import at, graph, kernel, line, made, node, operation

FORWARD, BACKWARD = "model__0_forward_1.0", "model__0_backward_2.1"
CALL = "## Call CompiledFxGraph f123 ##"


def _dump(root: Path, graphs: dict[str, tuple[str, str, Sequence[str]]]) -> Dump:
    """Graph → kind, compile id, kernels in order; extern ones have a dot in their names."""
    facts: list[Fact] = []
    for name, (kind, compile_id, kernels) in graphs.items():
        facts.append(graph(name, kind=kind, compile_id=compile_id))
        for number, own in enumerate(kernels):
            more = {"graph": name, "kind": "extern" if "." in own else own.partition("_")[0]}
            facts.append(kernel(own, f"op{number}", launches=(101 + number,), nodes=(f"n{number}",), **more))
            facts.append(line(1 + number, "launch", graph=name, kernel=own, arguments=("x", f"buf{number}")))
            facts.append(node(f"n{number}", "aten.relu.default", graph=name, where=at(number, "relu(x)")))
            writes = {f"buf{number}": 4_800_000}
            facts.append(operation(f"op{number}", reads={}, writes=writes, nodes=(f"n{number}",), graph=name))
    return made(root, *facts)


class _Recorder:
    """A profile as torch.profiler writes it: ranges in each other on one thread after another, a kernel each."""

    def __init__(self) -> None:
        self.profile = Profile("torch.profiler", [], [], [], device="NVIDIA H200")
        self.clock = 0.0

    def call(
        self, around: Sequence[tuple[str, int | None]], operators: Sequence[tuple[str, str]], thread: int = 0
    ) -> None:
        """One call inside of the ranges `around`, each with its sequence number; operators and their kernels."""
        start, length = self.clock, 10.0 * len(operators) + 20
        for depth, (name, sequence) in enumerate(around):
            self.profile.spans.append(Span(name, start + depth, start + length - depth, thread, sequence=sequence))
        for number, (name, kernel_name) in enumerate(operators):
            begin, own = start + len(around) + 10 * number, len(self.profile.runs) + 1
            self.profile.spans.append(Span(name, begin, begin + 8, thread, external=own))
            self.profile.calls.append(HostCall("cuLaunchKernel", begin + 2, thread, own))
            self.profile.runs.append(GpuRun(own, "kernel", kernel_name, begin + 5, 1.0, correlation=own, external=own))
        self.clock += length + 1


def _meant(found: Attribution) -> list[tuple[str, str] | str]:
    return [(own.graph, own.launch.kernel.name) if own.launch else own.reason for own in found.joined]


def test_a_backward_belongs_to_its_forward(tmp_path: Path) -> None:
    """Two models launch the same kernels; autograd's numbers tell whose backward ran, on a thread of its own."""
    other = (FORWARD.replace("0", "1", 1), BACKWARD.replace("0", "1", 1))
    parts = (("forward", ["triton_a"]), ("backward", ["triton_b", "extern_kernels.mm"]))
    dump = _dump(
        tmp_path,
        {
            name: (kind, compile_id, kernels)
            for compile_id, names in (("0/0", (FORWARD, BACKWARD)), ("1/0", other))
            for name, (kind, kernels) in zip(names, parts, strict=True)
        },
    )
    recorder = _Recorder()
    for compile_id, sequence in (("0/0", 7), ("1/0", 8)):
        around = [(f"Torch-Compiled Region: {compile_id}", None), ("CompiledFunction", sequence), (CALL, None)]
        recorder.call(around, [("triton_a", "triton_a")])
    for sequence in (8, 7):
        backward: list[tuple[str, int | None]] = [
            ("autograd::engine::evaluate_function: CompiledFunctionBackward", sequence)
        ]
        backward += [("CompiledFunctionBackward", sequence), (CALL, None)]
        recorder.call(backward, [("triton_b", "triton_b"), ("aten::mm", "ampere_sgemm_32x32")], thread=1)

    found = attribute(dump, recorder.profile)

    assert _meant(found) == [
        (FORWARD, "triton_a"),
        (other[0], "triton_a"),
        (other[1], "triton_b"),
        (other[1], "extern_kernels.mm"),
        (BACKWARD, "triton_b"),
        (BACKWARD, "extern_kernels.mm"),
    ]
    assert {own.confidence for own in found.joined} == {CERTAIN}


def test_graphs_that_can_not_be_told_apart_are_called_ambiguous(tmp_path: Path) -> None:
    """A backward whose forward the profile does not show."""
    other = BACKWARD.replace("0", "1", 1)
    dump = _dump(tmp_path, {name: ("backward", "0/0", ["triton_b"]) for name in (BACKWARD, other)})
    recorder = _Recorder()
    recorder.call([("CompiledFunctionBackward", 3), (CALL, None)], [("triton_b", "triton_b")])

    assert _meant(attribute(dump, recorder.profile)) == [
        f"ambiguous: {BACKWARD}, {other} launch the same kernels in the same order"
    ]


def test_what_else_ran_in_a_call_is_not_one_of_its_launches(tmp_path: Path) -> None:
    """A copy of a misaligned input, and a kernel of the same name that does not stand there in the order."""
    dump = _dump(tmp_path, {FORWARD: ("inference", "0/0", ["triton_a", "extern_kernels.mm", "triton_c"])})
    around = [("Torch-Compiled Region: 0/0", None), (CALL, None)]
    recorder = _Recorder()
    operators = [("aten::clone", "copy"), ("triton_a", "triton_a"), ("aten::mm", "gemm"), ("triton_c", "triton_c")]
    recorder.call(around, operators)
    recorder.call(around, [("triton_a", "triton_other"), ("aten::mm", "gemm"), ("triton_c", "triton_c")])

    found = _meant(attribute(dump, recorder.profile))

    assert found == [
        f"in a call of {FORWARD}, by no launch of it: aten::clone",
        (FORWARD, "triton_a"),
        (FORWARD, "extern_kernels.mm"),
        (FORWARD, "triton_c"),
        "started by triton_a, whose function in the dump is triton_a",
        (FORWARD, "extern_kernels.mm"),
        (FORWARD, "triton_c"),
    ]


def test_on_a_cpu_operators_are_joined_and_silent_kernels_told(tmp_path: Path) -> None:
    """C++ kernels are there only with enable_kernel_profile, the number of their graph before their names."""
    dump = _dump(tmp_path, {FORWARD: ("inference", "0/0", ["cpp_fused_a_0", "extern_kernels.mm", "cpp_fused_b_1"])})
    for row in dump.rows(Kernel):
        assert row.kind == ("extern" if "." in row.name else "cpp")
    around = [("Torch-Compiled Region: 0/0", None), (CALL, None)]
    for operators, unseen in (
        (["graph_0_cpp_fused_a_0", "aten::mm", "graph_0_cpp_fused_b_1"], ()),
        (["aten::mm"], ("cpp_fused_a_0", "cpp_fused_b_1")),
    ):
        recorder = _Recorder()
        recorder.call(around, [(name, "") for name in operators])
        recorder.profile.runs.clear()

        found = attribute(dump, recorder.profile)

        expected = [name.replace("graph_0_", "").replace("aten::", "extern_kernels.") for name in operators]
        assert _meant(found) == [(FORWARD, name) for name in expected]
        assert found.unseen == unseen


def test_one_of_several_operators_of_a_name_is_not_guessed(tmp_path: Path) -> None:
    """Two matmuls in the code, and one in the profile, whose call began before it."""
    kernels = ["extern_kernels.mm", "triton_a", "torch.ops.aten.mm.out"]
    dump = _dump(tmp_path, {FORWARD: ("inference", "0/0", kernels)})
    recorder = _Recorder()
    around = [("Torch-Compiled Region: 0/0", None), (CALL, None)]
    recorder.call(around, [("triton_a", "triton_a"), ("aten::mm", "gemm")])

    assert _meant(attribute(dump, recorder.profile)) == [
        (FORWARD, "triton_a"),
        f"no one launch of {FORWARD} is meant: aten::mm",
    ]


def test_the_trace_of_another_program_is_refused(tmp_path: Path) -> None:
    """It has a matmul too, and a kernel of the same kind and number: that is no other name of the same one."""
    dump = _dump(tmp_path, {FORWARD: ("inference", "0/0", ["extern_kernels.mm", "triton_poi_fused_add_relu_0"])})
    around = [("Torch-Compiled Region: 0/0", None), (CALL, None)]
    for kernels in (["triton_poi_fused_sin_mul_0"], ["triton_poi_fused_add_relu_0", "triton_poi_fused_sin_1"], []):
        recorder = _Recorder()
        recorder.call(around, [("aten::mm", "gemm"), *((name, name) for name in kernels)])

        assert set(_meant(attribute(dump, recorder.profile))) == {
            f"the kernels of this call are not those of {FORWARD}"
        }


def test_bytes_and_the_roof_are_those_of_all_runs(tmp_path: Path) -> None:
    """4.8 MB in a microsecond is the bandwidth of an H200."""
    dump = _dump(tmp_path, {FORWARD: ("inference", "0/0", ["triton_a"])})
    recorder = _Recorder()
    for _ in range(3):
        recorder.call([("Torch-Compiled Region: 0/0", None), (CALL, None)], [("triton_a", "triton_a")])

    (row,) = LaunchTimes(dump, attribute(dump, recorder.profile)).by("kernel", device_named("NVIDIA H200"))

    assert (row.runs, row.microseconds, row.bytes) == (3, 3.0, 3 * 4_800_000)
    assert row.bandwidth_share == 1.0


def test_devices_are_known_by_the_names_that_profilers_give() -> None:
    named = {name: device_named(name) for name in ("NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB")}
    assert {name: target.gpu for name, target in named.items() if target} == {
        "NVIDIA H200": "H200",
        "NVIDIA H100 80GB HBM3": "H100",
        "NVIDIA A100-SXM4-80GB": "A100",
    }
    assert device_named("NVIDIA H100 PCIe") is None
    assert device_named("") is None


def test_libraries_are_known_by_their_kernels() -> None:
    """Names that profilers printed, and what can have launched them."""
    known = {
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma_execute_kernel__5x_cublas": "mm",
        "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTN": "addmm",
        "ampere_sgemm_128x64_tn": "bmm",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_nn_align8>(T1::Params)": "mm",
        "void convolve_common_engine_float_NHWC<float, float>(int)": "convolution",
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16": "convolution",
        "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc": "convolution_backward",
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>": "_scaled_dot_product_flash_attention",
        "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)": (
            "_scaled_dot_product_efficient_attention"
        ),
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "all_reduce_",
    }
    for name, operator in known.items():
        library = library_of(name)
        assert library is not None, name
        assert can_launch(f"torch.ops.aten.{operator}.default", library), (name, library.does)
        assert not can_launch("torch.ops.aten.sort.stable", library), name
    assert library_of("triton_poi_fused_relu_0") is None


def _split(root: Path, buckets: int) -> Dump:
    """One compile with several graphs, whose kernels have the same names, as of DistributedDataParallel."""
    graphs = {f"model__{number}_forward_{number}.{number}": "forward" for number in range(buckets)}
    graphs |= {
        f"model__{number}_backward_{buckets + number}.{2 * buckets - 1 - number}": "backward"
        for number in reversed(range(buckets))
    }
    return _dump(root, {name: (kind, "4/0", ["triton_a", "extern_kernels.mm"]) for name, kind in graphs.items()})


SAME = [("triton_a", "triton_a"), ("aten::mm", "ampere_sgemm_32x32")]


def _forwards(recorder: _Recorder, sequences: Sequence[int], thread: int = 0) -> None:
    """One run of the compiled frame."""
    start = len(recorder.profile.spans)
    begun = recorder.clock
    for sequence in sequences:
        recorder.call([("CompiledFunction", sequence), (CALL, None)], SAME, thread)
    region = Span("Torch-Compiled Region: 4/0", begun - 0.5, recorder.clock - 0.5, thread)
    recorder.profile.spans.insert(start, region)


def _backward(recorder: _Recorder, sequence: int, forward_thread: int, thread: int = 9) -> None:
    recorder.call([("CompiledFunctionBackward", sequence), (CALL, None)], SAME, thread)
    spans = recorder.profile.spans
    place = next(index for index in reversed(range(len(spans))) if spans[index].name == "CompiledFunctionBackward")
    spans[place] = msgspec.structs.replace(spans[place], forward_thread=forward_thread)


def _graphs(found: Attribution) -> list[str]:
    """`0f` and `0b`, forward and backward of the first graph; `?` where it is not told."""
    return [f"{own.graph[7]}{own.graph.split('_')[3][0]}" if own.launch else "?" for own in found.joined][::2]


def test_graphs_of_one_compile_are_told_by_the_order_of_their_calls(tmp_path: Path) -> None:
    dump, recorder = _split(tmp_path, 3), _Recorder()
    for first in (10, 20):
        _forwards(recorder, range(first, first + 3))
        for sequence in reversed(range(first, first + 3)):
            _backward(recorder, sequence, 1)

    found = attribute(dump, recorder.profile)

    assert _graphs(found) == ["0f", "1f", "2f", "2b", "1b", "0b"] * 2
    assert {own.confidence for own in found.joined} == {CERTAIN}


def test_each_thread_counts_its_own_sequence_numbers(tmp_path: Path) -> None:
    dump, recorder = _split(tmp_path, 2), _Recorder()
    _forwards(recorder, (5, 6), thread=1)
    _forwards(recorder, (6, 7), thread=2)
    for sequence, forward_thread in ((6, 1), (5, 1), (7, 2), (6, 2)):
        _backward(recorder, sequence, forward_thread)

    assert _graphs(attribute(dump, recorder.profile))[4:] == ["1b", "0b", "1b", "0b"]


def test_a_region_with_other_calls_than_the_compile_has_graphs_tells_none(tmp_path: Path) -> None:
    """As of a frame whose beginning the profile cut off, or of two compiles with one id."""
    dump, recorder = _split(tmp_path, 3), _Recorder()
    _forwards(recorder, (5, 6))
    _backward(recorder, 6, 1)
    _backward(recorder, 8, 1)

    found = attribute(dump, recorder.profile)

    assert _graphs(found) == ["?"] * 4
    assert all(own.reason.startswith("ambiguous: ") for own in found.joined)
