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
    Entry("torch._dynamo.utils", "inspect_compile.lowering.frontend.times:install"),
    Entry("torch._dynamo.utils", "inspect_compile.lowering.core.call_sites:install"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.core.compile_names:install_counted"),
    Entry("torch._dynamo.compiled_autograd", "inspect_compile.lowering.core.compile_names:install_resets"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.frontend.dynamo:install_frames"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.frontend.dynamo:install_skips"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.frontend.guarded_calls:install"),
    Entry("torch._dynamo.eval_frame", "inspect_compile.lowering.frontend.unguarded_calls:install"),
    Entry("torch._dynamo.decorators", "inspect_compile.lowering.frontend.unguarded_calls:install_alone"),
    Entry("torch._dynamo.output_graph", "inspect_compile.lowering.frontend.dynamo:install_graphs"),
    Entry("torch._dynamo.output_graph", "inspect_compile.lowering.frontend.call_path:install_backend"),
    Entry("torch._dynamo.backends.common", "inspect_compile.lowering.frontend.call_path:install_aot"),
    Entry("torch._functorch.aot_autograd", "inspect_compile.lowering.frontend.call_path:install_trace"),
    Entry("torch._functorch.aot_autograd", "inspect_compile.lowering.frontend.aot:install"),
    Entry("torch._functorch._aot_autograd.autograd_cache", "inspect_compile.lowering.frontend.aot:install_stored"),
    Entry("torch._functorch._aot_autograd.aot_autograd_result", "inspect_compile.lowering.frontend.aot:install_cached"),
    Entry(
        "torch._functorch._aot_autograd.subclass_codegen",
        "inspect_compile.lowering.frontend.artifacts:install_wrappers",
    ),
    Entry(
        "torch._functorch._aot_autograd.codegen",
        "inspect_compile.lowering.frontend.artifacts:install_wrappers_of_codegen",
    ),
    Entry("torch._dynamo.types", "inspect_compile.lowering.frontend.artifacts:install_bytecode"),
    Entry("torch._dynamo.guards", "inspect_compile.lowering.frontend.passed_over:install"),
    Entry("torch._dynamo.side_effects", "inspect_compile.lowering.frontend.side_effects:install"),
    Entry("torch._dynamo.utils", "inspect_compile.lowering.frontend.metrics:install"),
    Entry("torch.fx.experimental.symbolic_shapes", "inspect_compile.lowering.frontend.shapes:install"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.frontend.call_path:install_inductor"),
    Entry("torch._inductor.graph", "inspect_compile.lowering.frontend.call_path:install_graph"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.frontend.call_path:install_wrapper"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.frontend.times:install_first_calls"),
    Entry("torch._dynamo.symbolic_convert", "inspect_compile.lowering.frontend.dynamo:install_breaks"),
    Entry("torch._dynamo.guards", "inspect_compile.lowering.frontend.dynamo:install_guards"),
    Entry("torch.fx.passes.graph_transform_observer", "inspect_compile.lowering.passes.passes:install_observers"),
    Entry("torch.fx.graph", "inspect_compile.lowering.passes.passes:install_dead_code"),
    Entry("torch._inductor.pattern_matcher", "inspect_compile.lowering.passes.passes:install_patterns"),
    Entry("torch._inductor.fx_passes.pre_grad", "inspect_compile.lowering.passes.passes:install_pre_grad"),
    Entry("torch._inductor.fx_passes.joint_graph", "inspect_compile.lowering.passes.passes:install_joint"),
    Entry("torch._inductor.fx_passes.quantization", "inspect_compile.lowering.passes.passes:install_quantization"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.passes.passes:install_stages"),
    Entry("torch._functorch.partitioners", "inspect_compile.lowering.memory.min_cut:install"),
    Entry("torch._functorch.partitioners", "inspect_compile.lowering.memory.saved:install"),
    Entry("torch._functorch._aot_autograd.autograd_cache", "inspect_compile.lowering.caches.lookups:install_aot"),
    Entry("torch._inductor.codecache", "inspect_compile.lowering.caches.lookups:install_fx"),
    Entry("torch._inductor.compile_worker.subproc_pool", "inspect_compile.lowering.frontend.workers:install"),
    Entry("torch._dynamo.repro.after_aot", "inspect_compile.lowering.frontend.debug_files:install_repro"),
    Entry("torch._inductor.debug", "inspect_compile.lowering.frontend.debug_files:install"),
    Entry("torch._inductor.debug", "inspect_compile.lowering.schedule.schedule:install_debug"),
    Entry("torch._inductor.graph", "inspect_compile.lowering.ir.nodes:install"),
    Entry("torch._inductor.graph", "inspect_compile.lowering.ir.decisions:install"),
    Entry("torch._inductor.fx_passes.pad_mm", "inspect_compile.lowering.passes.padded_matmuls:install"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.runtime.cudagraphs:install_compiled"),
    Entry("torch._inductor.cudagraph_trees", "inspect_compile.lowering.runtime.cudagraphs:install_runs"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.runtime.cudagraph_runs:install_owners"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.runtime.cudagraph_runs:install_handed_over"),
    Entry("torch._inductor.cudagraph_trees", "inspect_compile.lowering.runtime.cudagraph_runs:install_trees"),
    Entry("torch._dynamo.convert_frame", "inspect_compile.lowering.runtime.cudagraph_runs:install_captures"),
    Entry("torch._inductor.subgraph_lowering", "inspect_compile.lowering.ir.pointwise_subgraphs:install"),
    Entry("torch._inductor.ir", "inspect_compile.lowering.ir.ir_text:install"),
    Entry("torch._inductor.loop_body", "inspect_compile.lowering.schedule.schedule_text:install_bodies"),
    Entry("torch._inductor.ir", "inspect_compile.lowering.core.loop_tags:install"),
    Entry("torch._inductor.loop_body", "inspect_compile.lowering.core.loop_tags:install_bodies"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.core.loop_tags:install_schedule"),
    Entry("torch._inductor.ir", "inspect_compile.lowering.ir.realize:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.schedule.schedule_text:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.schedule.schedule:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.lowering.fusion.fusion:install"),
    Entry("torch._inductor.choices", "inspect_compile.lowering.fusion.fusion:install_choices"),
    Entry("torch._inductor.utils", "inspect_compile.codegen.kernels.statements:install_lines"),
    Entry("torch._inductor.codegen.common", "inspect_compile.codegen.kernels.statements:install_variables"),
    Entry("torch._inductor.codegen.triton", "inspect_compile.codegen.kernels.statements:install_triton"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.kernels.cpp_bodies:install"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.kernels.statements:install_cpp"),
    Entry("torch._inductor.codegen.triton", "inspect_compile.codegen.kernels.kernels:install_triton"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.kernels.kernels:install_cpp"),
    Entry("torch._inductor.codegen.triton", "inspect_compile.codegen.kernels.tiling:install_triton"),
    Entry("torch._inductor.codegen.cpp", "inspect_compile.codegen.kernels.loops:install"),
    Entry("torch._inductor.codegen.wrapper", "inspect_compile.codegen.kernels.kernels:install_wrapper"),
    Entry("torch._inductor.codecache", "inspect_compile.codegen.kernels.kernel_caches:install_cpp"),
    Entry("triton.compiler.compiler", "inspect_compile.codegen.kernels.kernel_caches:install_triton"),
    Entry("torch._inductor.codegen.wrapper", "inspect_compile.codegen.wrapper.wrapper:install"),
    Entry("torch._inductor.scheduler", "inspect_compile.codegen.wrapper.plain_lines:install"),
    Entry("torch._inductor.runtime.triton_heuristics", "inspect_compile.codegen.kernels.stages:install"),
    Entry("torch._inductor.runtime.triton_heuristics", "inspect_compile.codegen.autotuning.configurations:install"),
    Entry("torch._inductor.select_algorithm", "inspect_compile.codegen.autotuning.templates:install"),
    Entry("torch._inductor.autotune_process", "inspect_compile.codegen.autotuning.templates:install_workers"),
    Entry("torch._inductor.runtime.triton_heuristics", "inspect_compile.codegen.autotuning.template_binaries:install"),
    Entry("torch._inductor.autotune_process", "inspect_compile.codegen.autotuning.templates:install_pipelined"),
    Entry("torch._inductor.ir", "inspect_compile.codegen.autotuning.templates:install_buffers"),
    Entry("torch._inductor.scheduler", "inspect_compile.codegen.autotuning.templates:install_scheduler"),
)

STOPS: Final = ("lowering.dynamo", "lowering.guarded_calls", "lowering.unguarded_calls")
"""The probes that see what stops or interrupts a compile, and count what runs eagerly because of it: that is recorded
also where the dump is full.
"""

MEASURE: Final[tuple[Entry, ...]] = (
    Entry("torch._inductor.graph", "inspect_compile.codegen.runtime.measure:install"),
    Entry("torch._inductor.graph", "inspect_compile.codegen.runtime.measure:install_replays"),
    Entry("torch._dynamo.eval_frame", "inspect_compile.codegen.runtime.measure:install_entries"),
    Entry("torch._dynamo.eval_frame", "inspect_compile.codegen.runtime.step_profile:install"),
    Entry("torch._inductor.graph", "inspect_compile.codegen.runtime.step_profile:install_compiles"),
)
"""Probes that are installed only if launches are timed."""

COLLECTIVES: Final = "inspect_compile.lowering.runtime.collectives:recorded"
"""Reads a rank's collectives at its end; `function() -> list[Collective]`."""
FAILED_CALL: Final = "inspect_compile.lowering.runtime.failed_calls:failed_call"
"""Tells whether the error that ended the program came out of a graph's code; `function(error, root) -> list[Fact]`."""

TORCH: Final = "torch"
PROGRAM: Final = "inspect_compile.lowering.intervention.cross_compile.program.program:MappedProgram"
"""The state of a program whose graphs are compiled for a target."""

MAPPING: Final[tuple[Entry, ...]] = (
    Entry(TORCH, "inspect_compile.lowering.intervention.cross_compile.program.mapped:install"),
    Entry(
        "torch._subclasses.fake_tensor",
        "inspect_compile.lowering.intervention.cross_compile.program.mapped_dynamo:install_fake_tensors",
    ),
    Entry("torch._meta_registrations", "inspect_compile.lowering.intervention.cross_compile.program.lacking:install"),
    Entry(
        "torch._dynamo.trace_rules",
        "inspect_compile.lowering.intervention.cross_compile.program.mapped_dynamo:install_rules",
    ),
    Entry(
        "torch._dynamo.variables.user_defined",
        "inspect_compile.lowering.intervention.cross_compile.program.mapped_dynamo:install_classes",
    ),
    Entry(
        "torch._dynamo.variables.tensor",
        "inspect_compile.lowering.intervention.cross_compile.program.mapped_dynamo:install_attributes",
    ),
    Entry(
        "triton.runtime.autotuner", "inspect_compile.lowering.intervention.cross_compile.program.user_kernels:install"
    ),
)
"""CUDA as such a program sees it; `function(program: Program) -> None`. Not probes: they change what happens."""

SENDER: Final = Entry(
    "torch._inductor.compile_fx", "inspect_compile.lowering.intervention.cross_compile.program.sender:install"
)
"""Compiles graphs for a target instead of Inductor. Not a probe either."""

TRACER: Final = Entry(
    "torch._dynamo.convert_frame", "inspect_compile.lowering.intervention.cross_compile.program.retrace:install"
)
"""Traces frames as for a target, if that makes a difference."""

TRIAL: Final = Entry("torch", "inspect_compile.lowering.intervention.trial.process:install")
"""Takes the place of all probes in a trial of `tune`; `install(asked: Mapping[str, str]) -> None`."""

STEER: Final = Entry("torch._inductor.scheduler", "inspect_compile.lowering.intervention.steer:install")
"""Intervenes in fusion, if a command asks for it. Not a probe either."""

STORES: Final[tuple[Entry, ...]] = tuple(
    Entry(module, "inspect_compile.lowering.intervention.steer:keep_out_of_cache")
    for module in ("torch._inductor.codecache", "torch._functorch._aot_autograd.autograd_cache")
)
"""Caches of whole graphs that must not store a steered compile."""

CHECK: Final = "inspect_compile.lowering.intervention.numerics.check:Check"
"""Checks the numerics of compiled graphs, if they are to be checked; `Check(tell, write)`."""

_LEFT_OUT: Final = "inspect_compile.lowering.intervention.numerics.upstream.left_out"
_PACKAGE_CHECK: Final = "inspect_compile.lowering.intervention.numerics.upstream.package_check"

CHECKED: Final[tuple[Entry, ...]] = (
    Entry("torch._inductor.graph", "inspect_compile.lowering.intervention.numerics.check:install"),
    Entry("torch._inductor.graph", "inspect_compile.codegen.runtime.checked:install"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.intervention.numerics.levels:install"),
    Entry("torch._inductor.codegen.common", "inspect_compile.codegen.numerics.operations:install"),
    Entry("torch._inductor.codecache", "inspect_compile.codegen.numerics.loaded_sources:install"),
    Entry("torch._inductor.compile_fx", "inspect_compile.lowering.intervention.numerics.upstream.origins:install"),
    Entry("torch._dynamo.convert_frame", f"{_LEFT_OUT}:install"),
    Entry("torch._dynamo.variables.invoke_subgraph", f"{_LEFT_OUT}:install_regions"),
    Entry("torch._dynamo.eval_frame", "inspect_compile.lowering.intervention.numerics.upstream.eager_check:install"),
    Entry("torch._inductor.output_code", "inspect_compile.lowering.intervention.numerics.recorder.around:install"),
    Entry("torch._inductor.codecache", f"{_PACKAGE_CHECK}:install_compiler"),
    Entry("torch._inductor", f"{_PACKAGE_CHECK}:install_packaging"),
    Entry("torch._inductor.package.package", f"{_PACKAGE_CHECK}:install_loading"),
)
"""Tell it what nodes are lowered to and what statements of kernels were generated for, and hand it the generated code,
the graph at each level and after each pass, what torch.compile returns, and what torch calls for a graph;
`function(check: Check) -> None`. No probes either.
"""


def watched(*, has_targets: bool = False, is_checked: bool = False) -> tuple[str, ...]:
    """The modules to wait for, each once, in the order of the lists."""
    checked = CHECKED if is_checked else ()
    entries = (*PROBES, *MEASURE, *checked, *((*MAPPING, SENDER, TRACER) if has_targets else ()))
    return tuple(dict.fromkeys(entry.watches for entry in entries))
