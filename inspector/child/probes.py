"""The list of all probes: which module of torch each one waits for, and its installer.

Names are texts, so that reading the list imports neither torch nor a probe.
"""

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """One probe.

    When the program has imported `watches`, `installer` is imported and called with the process's Probes.
    """

    watches: str
    """A module of torch or of what builds on it, `torch._inductor.graph`."""
    installer: str
    """`module:function`; `function(probes: Probes) -> None` wraps what it watches in that module."""


def _entry(watches: str, installer: str) -> Entry:
    return Entry(watches, f"inspect_compile.{installer}")


PROBES: Final[tuple[Entry, ...]] = (
    _entry("torch._dynamo.utils", "lowering.frontend.times:install"),
    _entry("torch.export._trace", "lowering.frontend.ahead:install_trace"),
    _entry("torch.export", "lowering.frontend.ahead:install_export"),
    _entry("torch._inductor.debug", "lowering.frontend.ahead:install_packages"),
    _entry("torch._inductor.package", "lowering.frontend.ahead:install_loads"),
    _entry("torch._dynamo.aot_compile", "lowering.frontend.ahead:install_functions"),
    _entry("torch.compiler._cache", "lowering.frontend.ahead:install_caches"),
    _entry("torch._dynamo.utils", "lowering.core.call_sites:install"),
    _entry("torch._dynamo.convert_frame", "lowering.core.compile_names:install_counted"),
    _entry("torch._dynamo.compiled_autograd", "lowering.core.compile_names:install_resets"),
    _entry("torch._dynamo.convert_frame", "lowering.frontend.dynamo:install_frames"),
    _entry("torch._dynamo.convert_frame", "lowering.frontend.dynamo:install_skips"),
    _entry("torch._dynamo.convert_frame", "lowering.frontend.guarded_calls:install"),
    _entry("torch._dynamo.eval_frame", "lowering.frontend.unguarded_calls:install"),
    _entry("torch._dynamo.decorators", "lowering.frontend.unguarded_calls:install_alone"),
    _entry("torch._dynamo.output_graph", "lowering.frontend.dynamo:install_graphs"),
    _entry("torch._dynamo.output_graph", "lowering.frontend.call_path:install_backend"),
    _entry("torch._dynamo.backends.common", "lowering.frontend.call_path:install_aot"),
    _entry("torch._functorch.aot_autograd", "lowering.frontend.call_path:install_trace"),
    _entry("torch._functorch.aot_autograd", "lowering.frontend.aot:install"),
    _entry("torch._functorch._aot_autograd.autograd_cache", "lowering.frontend.aot:install_stored"),
    _entry("torch._functorch._aot_autograd.aot_autograd_result", "lowering.frontend.aot:install_cached"),
    _entry("torch._functorch._aot_autograd.subclass_codegen", "lowering.frontend.artifacts:install_wrappers"),
    _entry("torch._functorch._aot_autograd.codegen", "lowering.frontend.artifacts:install_wrappers_of_codegen"),
    _entry("torch._dynamo.types", "lowering.frontend.artifacts:install_bytecode"),
    _entry("torch._dynamo.guards", "lowering.frontend.passed_over:install"),
    _entry("torch._dynamo.side_effects", "lowering.frontend.side_effects:install"),
    _entry("torch._dynamo.utils", "lowering.frontend.metrics:install"),
    _entry("torch.fx.experimental.symbolic_shapes", "lowering.frontend.shapes:install"),
    _entry("torch._inductor.compile_fx", "lowering.frontend.call_path:install_inductor"),
    _entry("torch._inductor.graph", "lowering.frontend.call_path:install_graph"),
    _entry("torch._inductor.output_code", "lowering.frontend.call_path:install_wrapper"),
    _entry("torch._inductor.output_code", "lowering.frontend.times:install_first_calls"),
    _entry("torch._dynamo.symbolic_convert", "lowering.frontend.dynamo:install_breaks"),
    _entry("torch._dynamo.guards", "lowering.frontend.dynamo:install_guards"),
    _entry("torch.fx.passes.graph_transform_observer", "lowering.passes.passes:install_observers"),
    _entry("torch.fx.graph", "lowering.passes.passes:install_dead_code"),
    _entry("torch._inductor.pattern_matcher", "lowering.passes.passes:install_patterns"),
    _entry("torch._inductor.fx_passes.pre_grad", "lowering.passes.passes:install_pre_grad"),
    _entry("torch._inductor.fx_passes.joint_graph", "lowering.passes.passes:install_joint"),
    _entry("torch._inductor.fx_passes.quantization", "lowering.passes.passes:install_quantization"),
    _entry("torch._inductor.compile_fx", "lowering.passes.passes:install_stages"),
    _entry("torch._functorch.partitioners", "lowering.memory.min_cut:install"),
    _entry("torch._functorch.partitioners", "lowering.memory.saved:install"),
    _entry("torch._functorch._aot_autograd.autograd_cache", "lowering.caches.lookups:install_aot"),
    _entry("torch._inductor.codecache", "lowering.caches.lookups:install_fx"),
    _entry("vllm.compilation.decorators", "lowering.caches.vllm_loads:install"),
    _entry("torch._inductor.compile_worker.subproc_pool", "lowering.frontend.workers:install"),
    _entry("torch._dynamo.repro.after_aot", "lowering.frontend.debug_files:install_repro"),
    _entry("torch._inductor.debug", "lowering.frontend.debug_files:install"),
    _entry("torch._inductor.debug", "lowering.schedule.schedule:install_debug"),
    _entry("torch._inductor.graph", "lowering.ir.nodes:install"),
    _entry("torch._inductor.graph", "lowering.ir.decisions:install"),
    _entry("torch._inductor.fx_passes.pad_mm", "lowering.passes.padded_matmuls:install"),
    _entry("torch._inductor.output_code", "lowering.runtime.cudagraphs:install_compiled"),
    _entry("torch._inductor.cudagraph_trees", "lowering.runtime.cudagraphs:install_runs"),
    _entry("torch._inductor.output_code", "lowering.runtime.cudagraph_runs:install_owners"),
    _entry("torch._inductor.compile_fx", "lowering.runtime.cudagraph_runs:install_handed_over"),
    _entry("torch._inductor.cudagraph_trees", "lowering.runtime.cudagraph_runs:install_trees"),
    _entry("torch._dynamo.convert_frame", "lowering.runtime.cudagraph_runs:install_captures"),
    _entry("torch._inductor.subgraph_lowering", "lowering.ir.pointwise_subgraphs:install"),
    _entry("torch._inductor.ir", "lowering.ir.ir_text:install"),
    _entry("torch._inductor.loop_body", "lowering.schedule.schedule_text:install_bodies"),
    _entry("torch._inductor.ir", "lowering.core.loop_tags:install"),
    _entry("torch._inductor.loop_body", "lowering.core.loop_tags:install_bodies"),
    _entry("torch._inductor.scheduler", "lowering.core.loop_tags:install_schedule"),
    _entry("torch._inductor.ir", "lowering.ir.realize:install"),
    _entry("torch._inductor.scheduler", "lowering.schedule.schedule_text:install"),
    _entry("torch._inductor.scheduler", "lowering.schedule.schedule:install"),
    _entry("torch._inductor.scheduler", "lowering.fusion.fusion:install"),
    _entry("torch._inductor.choices", "lowering.fusion.fusion:install_choices"),
    _entry("torch._inductor.utils", "codegen.kernels.statements:install_lines"),
    _entry("torch._inductor.codegen.common", "codegen.kernels.statements:install_variables"),
    _entry("torch._inductor.codegen.triton", "codegen.kernels.statements:install_triton"),
    _entry("torch._inductor.codegen.cpp", "codegen.kernels.cpp_bodies:install"),
    _entry("torch._inductor.codegen.cpp", "codegen.kernels.statements:install_cpp"),
    _entry("torch._inductor.codegen.triton", "codegen.kernels.kernels:install_triton"),
    _entry("torch._inductor.codegen.cpp", "codegen.kernels.kernels:install_cpp"),
    _entry("torch._inductor.codegen.triton", "codegen.kernels.tiling:install_triton"),
    _entry("torch._inductor.codegen.cpp", "codegen.kernels.loops:install"),
    _entry("torch._inductor.codegen.wrapper", "codegen.kernels.kernels:install_wrapper"),
    _entry("torch._inductor.codecache", "codegen.kernels.kernel_caches:install_cpp"),
    _entry("triton.compiler.compiler", "codegen.kernels.kernel_caches:install_triton"),
    _entry("torch._inductor.codegen.wrapper", "codegen.wrapper.wrapper:install"),
    _entry("torch._inductor.scheduler", "codegen.wrapper.plain_lines:install"),
    _entry("torch._inductor.runtime.triton_heuristics", "codegen.kernels.stages:install"),
    _entry("torch._inductor.runtime.triton_heuristics", "codegen.autotuning.configurations:install"),
    _entry("torch._inductor.select_algorithm", "codegen.autotuning.templates:install"),
    _entry("torch._inductor.autotune_process", "codegen.autotuning.templates:install_workers"),
    _entry("torch._inductor.runtime.triton_heuristics", "codegen.autotuning.template_binaries:install"),
    _entry("torch._inductor.autotune_process", "codegen.autotuning.templates:install_pipelined"),
    _entry("torch._inductor.ir", "codegen.autotuning.templates:install_buffers"),
    _entry("torch._inductor.scheduler", "codegen.autotuning.templates:install_scheduler"),
)

STOPS: Final = ("lowering.dynamo", "lowering.guarded_calls", "lowering.unguarded_calls")
"""The probes that see what stops or interrupts a compile, and count what runs eagerly because of it: that is recorded
also where the dump is full.
"""

MEASURE: Final[tuple[Entry, ...]] = (
    _entry("torch._inductor.graph", "codegen.runtime.measure:install"),
    _entry("torch._inductor.graph", "codegen.runtime.measure:install_replays"),
    _entry("torch._dynamo.eval_frame", "codegen.runtime.measure:install_entries"),
    _entry("torch._dynamo.eval_frame", "codegen.runtime.step_profile:install"),
    _entry("torch._inductor.graph", "codegen.runtime.step_profile:install_compiles"),
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
    _entry(TORCH, "lowering.intervention.cross_compile.program.mapped:install"),
    _entry(
        "torch._subclasses.fake_tensor",
        "lowering.intervention.cross_compile.program.mapped_dynamo:install_fake_tensors",
    ),
    _entry("torch._meta_registrations", "lowering.intervention.cross_compile.program.refusals:install"),
    _entry("torch.nn.attention.flex_attention", "lowering.intervention.cross_compile.program.refusals:install"),
    _entry("torch._dynamo.trace_rules", "lowering.intervention.cross_compile.program.mapped_dynamo:install_rules"),
    _entry(
        "torch._dynamo.variables.user_defined",
        "lowering.intervention.cross_compile.program.mapped_dynamo:install_classes",
    ),
    _entry(
        "torch._dynamo.variables.tensor", "lowering.intervention.cross_compile.program.mapped_dynamo:install_attributes"
    ),
    _entry(
        "torch.distributed.fsdp._fully_shard._fully_shard",
        "lowering.intervention.cross_compile.program.mapped:install_sharding",
    ),
    _entry("triton.runtime.autotuner", "lowering.intervention.cross_compile.program.user_kernels:install"),
)
"""CUDA as such a program sees it; `function(program: Program) -> None`. Not probes: they change what happens."""

SENDER: Final = _entry("torch._inductor.compile_fx", "lowering.intervention.cross_compile.program.sender:install")
"""Compiles graphs for a target instead of Inductor. Not a probe either."""

TRACER: Final = _entry("torch._dynamo.convert_frame", "lowering.intervention.cross_compile.program.retrace:install")
"""Traces frames as for a target, if that makes a difference."""

TRIAL: Final = _entry("torch", "lowering.intervention.trial.process:install")
"""Takes the place of all probes in a trial of `tune`; `install(asked: Mapping[str, str]) -> None`."""

STEER: Final = _entry("torch._inductor.scheduler", "lowering.intervention.steer:install")
"""Intervenes in fusion, if a command asks for it. Not a probe either."""

STORES: Final[tuple[Entry, ...]] = tuple(
    _entry(module, "lowering.intervention.steer:keep_out_of_cache")
    for module in ("torch._inductor.codecache", "torch._functorch._aot_autograd.autograd_cache")
)
"""Caches of whole graphs that must not store a steered compile."""

CHECK: Final = "inspect_compile.lowering.intervention.numerics.check:Check"
"""Checks the numerics of compiled graphs, if they are to be checked; `Check(tell, write)`."""

CHECKED: Final[tuple[Entry, ...]] = (
    _entry("torch._inductor.graph", "lowering.intervention.numerics.check:install"),
    _entry("torch._inductor.graph", "codegen.runtime.checked:install"),
    _entry("torch._inductor.compile_fx", "lowering.intervention.numerics.levels:install"),
    _entry("torch._inductor.codegen.common", "codegen.numerics.operations:install"),
    _entry("torch._inductor.codecache", "codegen.numerics.loaded_sources:install"),
    _entry("torch._inductor.compile_fx", "lowering.intervention.numerics.upstream.origins:install"),
    _entry("torch._dynamo.convert_frame", "lowering.intervention.numerics.upstream.left_out:install"),
    _entry(
        "torch._dynamo.variables.invoke_subgraph", "lowering.intervention.numerics.upstream.left_out:install_regions"
    ),
    _entry("torch._dynamo.eval_frame", "lowering.intervention.numerics.upstream.eager_check:install"),
    _entry("torch._inductor.output_code", "lowering.intervention.numerics.recorder.around:install"),
    _entry("torch._inductor.codecache", "lowering.intervention.numerics.upstream.package_check:install_compiler"),
    _entry("torch._inductor", "lowering.intervention.numerics.upstream.package_check:install_packaging"),
    _entry("torch._inductor.package.package", "lowering.intervention.numerics.upstream.package_check:install_loading"),
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
