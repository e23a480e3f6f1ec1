"""Names for autotuning: templates for operations, configurations for kernels."""

from inspect_compile.torch_compat import Name

_PROCESS = "torch._inductor.autotune_process"
_IR = "torch._inductor.ir"
_HEURISTICS = "torch._inductor.runtime.triton_heuristics"
_SCHEDULER = "torch._inductor.scheduler"

_SELECT = "torch._inductor.select_algorithm"

SELECT = Name(_SELECT, "AlgorithmSelectorCache.__call__", "an operation has several ways, and gets one")
TUNE = Name(
    _SELECT,
    "AlgorithmSelectorCache.do_autotuning",
    "the times of all ways, from a cache or measured; it may be asked for long after the operation was lowered",
)
MEASURE = Name(_SELECT, "AlgorithmSelectorCache.benchmark", "the times are measured: no cache had them")
MEASURE_ONE = Name(_SELECT, "AlgorithmSelectorCache.benchmark_choice", "why one has no time: torch only logs it")
NOT_COMPILED = Name(
    _SELECT, "_log_autotune_exceptions", "why one has no time: what its compile raised, of all that failed"
)
EXTERN_NODE = Name(
    _SELECT,
    "ExternKernelCaller.output_node",
    "the node that a function of a library becomes: of several that the scheduler could take it tells the one",
)
WORKER_ANSWER = Name(
    _PROCESS, "TuningProcess.get", "what a process that measures raised: its pool makes an infinite time of it"
)
WORKER_MEASURE = Name(_PROCESS, "TuningProcessPool.target", "one way is measured in a process of its own")
SWAP = Name(
    _IR,
    "MultiTemplateBuffer.swap_as_triton_caller",
    "for which template a buffer that has several stands while a fusion with it is measured",
)
FINISH = Name(_IR, "MultiTemplateBuffer.finalize_as_triton_caller", "which template such a buffer becomes")
FINISH_ALL = Name(
    _IR,
    "MultiTemplateBuffer.finalize_as_triton_callers",
    "the same, where torch compiles one for each of several hints",
)
FINISH_REST = Name(_SCHEDULER, "Scheduler.finalize_multi_template_buffers", "what no fusion decided is decided here")
REPLACE = Name(_SCHEDULER, "_replace_operation_buffer", "such a buffer becomes a call of a library")
BENCH = Name(
    _HEURISTICS,
    "CachingAutotuner.bench",
    "how fast a configuration of a Triton kernel is, or why torch does not run it",
)
TUNE_KERNEL = Name(
    _HEURISTICS,
    "CachingAutotuner.autotune_to_one_config",
    "a Triton kernel with several configurations is left with one, before its first call",
)
COMBO = Name(
    _HEURISTICS,
    "CachingAutotuner._combo_sequential_autotune",
    "the block sizes of a combo kernel's parts are tried one part after the other",
    versions="2.13-2.15",
)
DESCEND = Name(
    _HEURISTICS, "CachingAutotuner.coordinate_descent_tuning", "configurations next to the best one are tried"
)
SENT = Name(
    "torch._inductor.async_compile", "CompiledTritonKernels.get", "what a worker that compiles has sent, by the source"
)
PIPELINE_START = Name(
    _PROCESS,
    "AsyncAutotuner.start",
    "ways are measured in a process of its own while the compile goes on (`pipeline_max_autotune_gemm`)",
)
PIPELINE_RESULTS = Name(_PROCESS, "AsyncAutotuner.get_results", "the compile waits for their times")
