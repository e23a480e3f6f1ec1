"""Names for autotuning: templates for operations, configurations for kernels."""

from inspect_compile.torch_compat import Name

_SELECT = "torch._inductor.select_algorithm"

SELECT = Name(_SELECT, "AlgorithmSelectorCache.__call__", "2.11-2.15", "an operation has several ways, and gets one")
TUNE = Name(
    _SELECT,
    "AlgorithmSelectorCache.do_autotuning",
    "2.11-2.15",
    "the times of all ways, from a cache or measured; it may be asked for long after the operation was lowered",
)
MEASURE = Name(_SELECT, "AlgorithmSelectorCache.benchmark", "2.11-2.15", "the times are measured: no cache had them")
MEASURE_ONE = Name(
    _SELECT,
    "AlgorithmSelectorCache.benchmark_choice",
    "2.11-2.15",
    "why one has no time: torch only logs it",
)
NOT_COMPILED = Name(
    _SELECT, "_log_autotune_exceptions", "2.11-2.15", "why one has no time: what its compile raised, of all that failed"
)
EXTERN_NODE = Name(
    _SELECT,
    "ExternKernelCaller.output_node",
    "2.11-2.15",
    "the node that a function of a library becomes: of several that the scheduler could take it tells the one",
)
WORKER_ANSWER = Name(
    "torch._inductor.autotune_process",
    "TuningProcess.get",
    "2.11-2.15",
    "what a process that measures raised: its pool makes an infinite time of it",
)
WORKER_MEASURE = Name(
    "torch._inductor.autotune_process",
    "TuningProcessPool.target",
    "2.11-2.15",
    "one way is measured in a process of its own",
)
SWAP = Name(
    "torch._inductor.ir",
    "MultiTemplateBuffer.swap_as_triton_caller",
    "2.11-2.15",
    "for which template a buffer that has several stands while a fusion with it is measured",
)
FINISH = Name(
    "torch._inductor.ir",
    "MultiTemplateBuffer.finalize_as_triton_caller",
    "2.11-2.15",
    "which template such a buffer becomes",
)
FINISH_ALL = Name(
    "torch._inductor.ir",
    "MultiTemplateBuffer.finalize_as_triton_callers",
    "2.11-2.15",
    "the same, where torch compiles one for each of several hints",
)
FINISH_REST = Name(
    "torch._inductor.scheduler",
    "Scheduler.finalize_multi_template_buffers",
    "2.11-2.15",
    "what no fusion decided is decided here",
)
REPLACE = Name(
    "torch._inductor.scheduler",
    "_replace_operation_buffer",
    "2.11-2.15",
    "such a buffer becomes a call of a library",
)
BENCH = Name(
    "torch._inductor.runtime.triton_heuristics",
    "CachingAutotuner.bench",
    "2.11-2.15",
    "how fast a configuration of a Triton kernel is, or why torch does not run it",
)
TUNE_KERNEL = Name(
    "torch._inductor.runtime.triton_heuristics",
    "CachingAutotuner.autotune_to_one_config",
    "2.11-2.15",
    "a Triton kernel with several configurations is left with one, before its first call",
)
COMBO = Name(
    "torch._inductor.runtime.triton_heuristics",
    "CachingAutotuner._combo_sequential_autotune",
    "2.13-2.15",
    "the block sizes of a combo kernel's parts are tried one part after the other",
)
DESCEND = Name(
    "torch._inductor.runtime.triton_heuristics",
    "CachingAutotuner.coordinate_descent_tuning",
    "2.11-2.15",
    "configurations next to the best one are tried",
)
SENT = Name(
    "torch._inductor.async_compile",
    "CompiledTritonKernels.get",
    "2.11-2.15",
    "what a worker that compiles has sent, by the source",
)
PIPELINE_START = Name(
    "torch._inductor.autotune_process",
    "AsyncAutotuner.start",
    "2.11-2.15",
    "ways are measured in a process of its own while the compile goes on (`pipeline_max_autotune_gemm`)",
)
PIPELINE_RESULTS = Name(
    "torch._inductor.autotune_process", "AsyncAutotuner.get_results", "2.11-2.15", "the compile waits for their times"
)
