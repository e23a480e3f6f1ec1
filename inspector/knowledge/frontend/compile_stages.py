"""The compile stage of each of torch's timers. Source: `dynamo_timed` in torch 2.11 to 2.15."""

from typing import Final

DYNAMO, GUARDS, AOT, PASSES, PARTITION = "Dynamo", "guards", "AOTAutograd", "graph passes", "partitioning"
LOWERING, SCHEDULING, CODEGEN = "lowering", "scheduling and fusion", "code generation"
BUILDING, TUNING, CACHES, COLLECTING, OTHER = "building kernels", "autotuning", "caches", "garbage collection", "other"
CAPTURE = "CUDA graph capture"
EXPORT, PACKAGES = "export", "packages"
"""Of programs that are compiled ahead of time: tracing them; writing and loading what was compiled."""
PROBES = "our probes"
AHEAD: Final = "compile_fx_aot"
"""The timer of a compile that belongs to no frame of Dynamo's."""

STAGES: Final = (
    EXPORT, DYNAMO, GUARDS, AOT, PARTITION, PASSES, LOWERING, SCHEDULING, CODEGEN, BUILDING, TUNING, CACHES, PACKAGES,
    CAPTURE, COLLECTING, OTHER, PROBES,
)  # fmt: skip
"""In order; the last is the cost of recording, which is subtracted from all others."""

_NAMES: Final[dict[str, tuple[str, ...]]] = {
    EXPORT: ("torch.export.export",),
    DYNAMO: (
        *("dynamo", "entire_frame_compile", "_compile.compile_inner", "bytecode_tracing", "fullgraph_capture"),
        *("insert_deferred_runtime_asserts", "aot_compile"),
    ),
    GUARDS: ("build_guards", "guard_collective"),
    AOT: (
        *("backend_compile", "OutputGraph.call_user_compiler", "create_aot_dispatcher_function"),
        *("aot_collect_metadata", "aot_trace_joint_graph", "entire_backward_compile", "backward._backward_impl"),
        *("compile_fx.<locals>.fw_compiler_base", "compile_fx.<locals>.bw_compiler", "compiled_autograd"),
        AHEAD,
    ),
    PARTITION: ("min_cut_rematerialization_partition",),
    PASSES: (
        *("_recursive_pre_grad_passes", "_recursive_joint_graph_passes", "_recursive_post_grad_passes"),
        *("additional_fake_tensor_prop", "convert_conv_weights_to_channels_last"),
    ),
    LOWERING: ("GraphLowering.run", "compile_fx_inner", "inductor_compile", "fx_codegen_and_compile"),
    SCHEDULING: ("Scheduler.__init__", "Scheduler.fused_nodes", "Scheduler.create_combo_kernel_nodes"),
    CODEGEN: (
        *("GraphLowering.compile_to_fn", "GraphLowering.compile_to_module", "code_gen", "GraphLowering.codegen"),
        *("GraphLowering.codegen_subgraph", "Scheduler.codegen", "PythonWrapperCodegen.generate"),
        *("CppWrapperCpu.generate", "CppWrapperGpu.generate", "generate_kernel_code_from_nodes"),
    ),
    BUILDING: (
        *("compile_file", "PyCodeCache.load_by_key_path", "async_compile.wait", "async_compile.precompile"),
        *("StaticAutotunerFuture.warm_precompile", "CachingAutotuner.slow_precompile_config"),
        *("reload_kernel_in_parent", "AotCodeCompiler.compile"),
    ),
    TUNING: (
        *("benchmark_fused_nodes", "benchmark_codegened_module", "CachingAutotuner.benchmark_all_configs"),
        *("CachingAutotuner.coordinate_descent_tuning", "CachingAutotuner.combo_sequential_autotune"),
    ),
    CACHES: ("inductor_codecache_torch_key", "CacheBase.get_system.triton_key", "AOTAutogradCache.inductor_load"),
    CAPTURE: ("cudagraphify.get_container", "CUDAGraphNode.record"),
    PACKAGES: (
        *("torch.export.save", "torch.export.load", "aoti_compile_and_package", "aoti_load_package"),
        *("save_compiled_function", "load_compiled_function", "save_cache_artifacts", "load_cache_artifacts"),
    ),
    COLLECTING: ("gc",),
}
LOADS: Final = frozenset({"aoti_load_package", "load_compiled_function"})
"""Calls that load what was compiled before, and can be run."""
COMPILES: Final = frozenset({"aoti_compile_and_package", "aot_compile"})
"""Calls that compile ahead of time."""
BUILDERS: Final = frozenset(
    {"compile_file", "StaticAutotunerFuture.warm_precompile", "CachingAutotuner.slow_precompile_config"}
)
"""Timers of single runs of a compiler, several of which may run at a time."""
_EXACT: Final = {name: stage for stage, names in _NAMES.items() for name in names}
_BEGINS: Final[tuple[tuple[str, str], ...]] = (
    ("compile_attempt_", DYNAMO),
    ("bytecode_hooks_", DYNAMO),
    ("invoke_subgraph_", DYNAMO),
    ("pass.", PASSES),
    ("fx.", PASSES),
    ("aoti_", BUILDING),
    ("TritonBundler.", CACHES),
    ("pgo.", CACHES),
    ("precompile_", CACHES),
    ("GraphPickler.", CACHES),
    ("CompiledArtifact.", CACHES),
)
_ENDS: Final[tuple[tuple[str, str], ...]] = (("_template_precompiling", BUILDING), ("_template_autotuning", TUNING))


def stage_of(name: str) -> str:
    """The stage of the timer of that name."""
    if name in _EXACT:
        return _EXACT[name]
    begins = next((stage for start, stage in _BEGINS if name.startswith(start)), None)
    return begins or next((stage for end, stage in _ENDS if name.endswith(end)), OTHER)


def is_stage(name: str) -> bool:
    """True for the timers of whole stages, not of single passes: they are few, and tell where a compile is."""
    return name in _EXACT
