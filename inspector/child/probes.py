"""The list of all probes: which module of torch each one waits for, and its installer.

Names are texts, so that reading the list imports neither torch nor a probe.
"""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """One probe.

    When the program has imported `watches`, `installer` is imported and called with the process's Probes.
    """

    watches: str
    """A module of torch, `torch._inductor.graph`."""
    installer: str
    """`module:function`; `function(probes: Probes) -> None` wraps what it watches in that module."""


PROBES: Final[tuple[Entry, ...]] = (
    Entry("torch._dynamo.utils", "inspect_compile.lowering.times:install"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.compile_names:install_counted"),
    Entry("torch._dynamo.compiled_autograd", "inspect_compile.lowering.compile_names:install_resets"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.dynamo:install_frames"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.dynamo:install_skips"),
    Entry("torch._dynamo.output_graph", "inspect_compile.lowering.dynamo:install_graphs"),
    Entry("torch._dynamo.output_graph", "inspect_compile.lowering.call_path:install_backend"),
    Entry("torch._dynamo.backends.common", "inspect_compile.lowering.call_path:install_aot"),
    Entry("torch._functorch.aot_autograd", "inspect_compile.lowering.call_path:install_trace"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.call_path:install_inductor"),
    Entry("torch._inductor.graph", "inspect_compile.lowering.call_path:install_graph"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.call_path:install_wrapper"),
    Entry("torch._dynamo.symbolic_convert", "inspect_compile.lowering.dynamo:install_breaks"),
    Entry("torch._dynamo.guards", "inspect_compile.lowering.dynamo:install_guards"),
    Entry("torch.fx.passes.graph_transform_observer", "inspect_compile.lowering.passes:install_observers"),
    Entry("torch.fx.graph", "inspect_compile.lowering.passes:install_dead_code"),
    Entry("torch._inductor.pattern_matcher", "inspect_compile.lowering.passes:install_patterns"),
    Entry("torch._inductor.fx_passes.pre_grad", "inspect_compile.lowering.passes:install_pre_grad"),
    Entry("torch._inductor.fx_passes.joint_graph", "inspect_compile.lowering.passes:install_joint"),
    Entry("torch._inductor.fx_passes.quantization", "inspect_compile.lowering.passes:install_quantization"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.passes:install_stages"),
    Entry("torch._functorch.partitioners", "inspect_compile.lowering.min_cut:install"),
    Entry("torch._functorch.partitioners", "inspect_compile.lowering.saved:install"),
    Entry("torch._functorch._aot_autograd.autograd_cache", "inspect_compile.lowering.caches:install_aot"),
    Entry("torch._inductor.codecache", "inspect_compile.lowering.caches:install_fx"),
    Entry("torch._inductor.compile_worker.subproc_pool", "inspect_compile.lowering.workers:install"),
    Entry("torch._dynamo.repro.after_aot", "inspect_compile.lowering.debug_door:install_repro"),
    Entry("torch._inductor.debug", "inspect_compile.lowering.debug_door:install"),
    Entry("torch._inductor.debug", "inspect_compile.lowering.schedule:install_debug"),
    Entry("torch._inductor.graph", "inspect_compile.lowering.nodes:install"),
    Entry("torch._inductor.graph", "inspect_compile.lowering.decisions:install"),
    Entry("torch._inductor.fx_passes.pad_mm", "inspect_compile.lowering.padded_matmuls:install"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.cudagraphs:install_compiled"),
    Entry("torch._inductor.cudagraph_trees", "inspect_compile.lowering.cudagraphs:install_runs"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.cudagraph_runs:install_owners"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.cudagraph_runs:install_handed_over"),
    Entry("torch._inductor.cudagraph_trees", "inspect_compile.lowering.cudagraph_runs:install_trees"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.cudagraph_runs:install_captures"),
    Entry("torch._inductor.subgraph_lowering", "inspect_compile.lowering.pointwise_subgraphs:install"),
    Entry("torch._inductor.ir", "inspect_compile.lowering.ir_text:install"),
    Entry("torch._inductor.loop_body", "inspect_compile.lowering.schedule_text:install_bodies"),
    Entry("torch._inductor.ir", "inspect_compile.lowering.loop_tags:install"),
    Entry("torch._inductor.loop_body", "inspect_compile.lowering.loop_tags:install_bodies"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.loop_tags:install_schedule"),
    Entry("torch._inductor.ir", "inspect_compile.lowering.realize:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.schedule_text:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.schedule:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.fusion:install"),
    Entry("torch._inductor.choices", "inspect_compile.lowering.fusion:install_choices"),
    Entry("torch._inductor.utils", "inspect_compile.codegen.statements:install_lines"),
    Entry("torch._inductor.codegen.common", "inspect_compile.codegen.statements:install_variables"),
    Entry("torch._inductor.codegen.triton", "inspect_compile.codegen.statements:install_triton"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.cpp_bodies:install"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.statements:install_cpp"),
    Entry("torch._inductor.codegen.triton", "inspect_compile.codegen.kernels:install_triton"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.kernels:install_cpp"),
    Entry("torch._inductor.codegen.triton", "inspect_compile.codegen.tiling:install_triton"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.loops:install"),
    Entry("torch._inductor.codegen.wrapper", "inspect_compile.codegen.kernels:install_wrapper"),
    Entry("torch._inductor.codegen.wrapper", "inspect_compile.codegen.wrapper:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.codegen.plain_lines:install"),
    Entry("torch._inductor.runtime.triton_heuristics", "inspect_compile.codegen.stages:install"),
    Entry("torch._inductor.runtime.triton_heuristics", "inspect_compile.codegen.configurations:install"),
    Entry("torch._inductor.select_algorithm", "inspect_compile.codegen.templates:install"),
    Entry("torch._inductor.autotune_process", "inspect_compile.codegen.templates:install_workers"),
    Entry("torch._inductor.runtime.triton_heuristics", "inspect_compile.codegen.template_binaries:install"),
    Entry("torch._inductor.autotune_process", "inspect_compile.codegen.pipelined:install"),
    Entry("torch._inductor.ir", "inspect_compile.codegen.templates:install_buffers"),
    Entry("torch._inductor.scheduler", "inspect_compile.codegen.templates:install_scheduler"),
)

MEASURE: Final[tuple[Entry, ...]] = (
    Entry("torch._inductor.graph", "inspect_compile.codegen.measure:install"),
    Entry("torch._inductor.graph", "inspect_compile.codegen.measure:install_replays"),
)
"""Probes that are installed only if launches are timed."""

COLLECTIVES: Final = "inspect_compile.lowering.collectives:recorded"
"""Reads a rank's collectives at its end; `function() -> list[Collective]`."""

TORCH: Final = "torch"
PROGRAM: Final = "inspect_compile.lowering.shadow.program:Program"
"""The state of a program whose graphs are compiled for a target."""

SHADOW: Final[tuple[Entry, ...]] = (
    Entry(TORCH, "inspect_compile.lowering.shadow.mapped:install"),
    Entry("torch._subclasses.fake_tensor", "inspect_compile.lowering.shadow.mapped_dynamo:install_fake_tensors"),
    Entry("torch._meta_registrations", "inspect_compile.lowering.shadow.lacking:install"),
    Entry("torch._dynamo.trace_rules", "inspect_compile.lowering.shadow.mapped_dynamo:install_rules"),
    Entry("torch._dynamo.variables.user_defined", "inspect_compile.lowering.shadow.mapped_dynamo:install_classes"),
    Entry("torch._dynamo.variables.tensor", "inspect_compile.lowering.shadow.mapped_dynamo:install_attributes"),
    Entry("triton.runtime.autotuner", "inspect_compile.lowering.shadow.user_kernels:install"),
)
"""CUDA as such a program sees it; `function(program: Program) -> None`. Not probes: they change what happens."""

SENDER: Final = Entry("torch._inductor.compile_fx", "inspect_compile.lowering.shadow.sender:install")
"""Compiles graphs for a target instead of Inductor. Not a probe either."""

TRACER: Final = Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.shadow.retrace:install")
"""Traces frames as for a target, if that makes a difference."""

STEER: Final = Entry("torch._inductor.scheduler", "inspect_compile.lowering.steer:install")
"""Intervenes in fusion, if a command asks for it. Not a probe either."""

STORES: Final[tuple[Entry, ...]] = tuple(
    Entry(module, "inspect_compile.lowering.steer:keep_out_of_cache")
    for module in ("torch._inductor.codecache", "torch._functorch._aot_autograd.autograd_cache")
)
"""Caches of whole graphs that must not store a steered compile."""


def watched(*, has_targets: bool = False) -> tuple[str, ...]:
    """The modules to wait for, each once, in the order of the lists."""
    entries = (*PROBES, *MEASURE, *((*SHADOW, SENDER, TRACER) if has_targets else ()))
    return tuple(dict.fromkeys(entry.watches for entry in entries))
