"""The compile stage of each of torch's timers. Source: `dynamo_timed` in torch 2.11 to 2.15."""

from typing import Final

DYNAMO, GUARDS, AOT, PASSES, PARTITION = "Dynamo", "guards", "AOTAutograd", "graph passes", "partitioning"
LOWERING, SCHEDULING, CODEGEN = "lowering", "scheduling and fusion", "code generation"
BUILDING, TUNING, CACHES, COLLECTING, OTHER = "building kernels", "autotuning", "caches", "garbage collection", "other"
PROBES = "our probes"

STAGES: Final = (
    DYNAMO,
    GUARDS,
    AOT,
    PARTITION,
    PASSES,
    LOWERING,
    SCHEDULING,
    CODEGEN,
    BUILDING,
    TUNING,
    CACHES,
    COLLECTING,
    OTHER,
    PROBES,
)
"""In order; the last is the cost of recording, which is subtracted from all others."""

_EXACT: Final[dict[str, str]] = {
    "dynamo": DYNAMO,
    "entire_frame_compile": DYNAMO,
    "_compile.compile_inner": DYNAMO,
    "bytecode_tracing": DYNAMO,
    "fullgraph_capture": DYNAMO,
    "insert_deferred_runtime_asserts": DYNAMO,
    "build_guards": GUARDS,
    "guard_collective": GUARDS,
    "backend_compile": AOT,
    "OutputGraph.call_user_compiler": AOT,
    "create_aot_dispatcher_function": AOT,
    "aot_collect_metadata": AOT,
    "aot_trace_joint_graph": AOT,
    "entire_backward_compile": AOT,
    "backward._backward_impl": AOT,
    "compile_fx.<locals>.fw_compiler_base": AOT,
    "compile_fx.<locals>.bw_compiler": AOT,
    "compiled_autograd": AOT,
    "min_cut_rematerialization_partition": PARTITION,
    "_recursive_pre_grad_passes": PASSES,
    "_recursive_joint_graph_passes": PASSES,
    "_recursive_post_grad_passes": PASSES,
    "additional_fake_tensor_prop": PASSES,
    "convert_conv_weights_to_channels_last": PASSES,
    "GraphLowering.run": LOWERING,
    "compile_fx_inner": LOWERING,
    "inductor_compile": LOWERING,
    "fx_codegen_and_compile": LOWERING,
    "Scheduler.__init__": SCHEDULING,
    "Scheduler.fused_nodes": SCHEDULING,
    "Scheduler.create_combo_kernel_nodes": SCHEDULING,
    "GraphLowering.compile_to_fn": CODEGEN,
    "GraphLowering.compile_to_module": CODEGEN,
    "code_gen": CODEGEN,
    "GraphLowering.codegen": CODEGEN,
    "GraphLowering.codegen_subgraph": CODEGEN,
    "Scheduler.codegen": CODEGEN,
    "PythonWrapperCodegen.generate": CODEGEN,
    "CppWrapperCpu.generate": CODEGEN,
    "CppWrapperGpu.generate": CODEGEN,
    "generate_kernel_code_from_nodes": CODEGEN,
    "compile_file": BUILDING,
    "PyCodeCache.load_by_key_path": BUILDING,
    "async_compile.wait": BUILDING,
    "async_compile.precompile": BUILDING,
    "StaticAutotunerFuture.warm_precompile": BUILDING,
    "CachingAutotuner.slow_precompile_config": BUILDING,
    "reload_kernel_in_parent": BUILDING,
    "AotCodeCompiler.compile": BUILDING,
    "benchmark_fused_nodes": TUNING,
    "benchmark_codegened_module": TUNING,
    "CachingAutotuner.benchmark_all_configs": TUNING,
    "CachingAutotuner.coordinate_descent_tuning": TUNING,
    "CachingAutotuner.combo_sequential_autotune": TUNING,
    "inductor_codecache_torch_key": CACHES,
    "CacheBase.get_system.triton_key": CACHES,
    "AOTAutogradCache.inductor_load": CACHES,
    "gc": COLLECTING,
}
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
