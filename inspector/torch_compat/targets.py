"""Names that are replaced in a process that stands in for a GPU, and in the program that it works for."""

from inspect_compile.torch_compat import Name

_UTILS = "torch._dynamo.utils"
_FAKE_TENSOR = "torch._subclasses.fake_tensor"
_SELECT = "torch._inductor.select_algorithm"

COMPILE_FX = Name("torch._inductor.compile_fx", "compile_fx", "Inductor, handed Dynamo's graph")
AOT_BACKEND = Name("torch._dynamo.backends.common", "aot_autograd", "traces forward and backward")
BOXED = Name("torch._functorch._aot_autograd.utils", "make_boxed_func", "a graph as AOTAutograd wants it compiled")
BREAKS = Name(
    "torch._dynamo.exc",
    "exceptions_allowed_to_be_fallback",
    "where a backend raises one of these, Dynamo breaks the graph and goes on",
)
MARK_DYNAMIC = tuple(
    Name(
        "torch._functorch._aot_autograd.runtime_wrappers",
        name,
        "what a compiled graph returns in sizes that are symbols: the graph after a break is traced with symbols, too",
        versions,
    )
    for name, versions in (
        ("mark_dynamo_propagated_dynamic_indices", "2.13-2.15"),
        ("maybe_mark_dynamic_helper", "2.11-2.12"),
    )
)
"""The same function under two names."""
RESTART = Name(
    "torch._dynamo.exc",
    "TensorifyScalarRestartAnalysis",
    "raised where a float cannot be a symbol: Dynamo traces the frame again, with the number",
)
COMPILE_FRAME = Name(
    "torch._dynamo.convert_frame", "compile_frame", "Dynamo's trace of one frame, with all its attempts"
)
FOREACH_DEVICES = Name(
    "torch.optim.optimizer",
    "_get_foreach_kernels_supported_devices",
    "for parameters on these, an optimizer that is told nothing else updates all of them at once",
)
ADD_GLOBAL = Name(_UTILS, "CleanupHook.create", "Dynamo leaves a name in the globals of a frame")
GLOBALS_COUNT = Name(_UTILS, "CleanupManager.count", "how many of those there are")
UNIQUE_IDS = Name("torch._dynamo.bytecode_transformation", "_unique_id_counter", "the numbers in those names")
COUNTERS = Name(_UTILS, "counters", "Dynamo's statistics, which a program can read")
OPERATIONS = Name(_UTILS, "op_count", "how many operations have been traced")
SET_DRIVER = Name(
    "torch._inductor.runtime.triton_helpers",
    "set_driver_to_gpu",
    "the source of each kernel calls it: it looks for the driver of the device",
)
AVOID_DEVICE = Name(
    _FAKE_TENSOR, "FakeTensorMode.avoid_device_init", "does a FakeTensor on a device go without that device?"
)
INIT_DEVICE = Name(_FAKE_TENSOR, "init_gpu_context", "wakes the device that a FakeTensor is made on")
CURRENT_STREAM = Name("torch._C", "_cuda_getCurrentRawStream", "the generated code imports it")
DEFAULT_GENERATOR = Name(
    "torch._C",
    "_accelerator_getDefaultGenerator",
    "the generator whose state a graph has as an input: asked where its operator is lowered",
    "2.15",
)
CACHES_MEMORY = Name(
    "torch._C",
    "_cuda_cudaCachingAllocator_is_enabled",
    "asked before CUDA graphs are prepared: the GPU's does",
    "2.13-2.15",
)
TIMINGS = Name("torch._inductor.codecache", "PersistentCache.lookup", "the timings of candidates, kept on disk")
PAD_TIMINGS, PAD_KNOWN, PAD_KEPT, PAD_TIMING_KEPT = (
    Name("torch._inductor.fx_passes.pad_mm", name, "what was timed of padded matmuls, kept on disk")
    for name in (
        "get_cached_base_mm_benchmark_time",
        "get_cached_should_pad",
        "set_cached_should_pad",
        "set_cached_base_mm_benchmark_time",
    )
)
PAD_WHATEVER_IT_TAKES = "_skip_do_bench_times"
"""In torch._inductor.fx_passes.pad_mm, 2.11 to 2.15: a matmul is padded whatever was timed."""
BENCHMARKS = tuple(
    Name(
        "torch._inductor.runtime.benchmarking",
        f"{owner}.benchmark_gpu",
        "times a callable on the device: there is none",
    )
    for owner in ("TritonBenchmarker", "InductorBenchmarker")
)
BENCHMARK_CHOICES = tuple(
    Name(
        _SELECT,
        f"AlgorithmSelectorCache.{method}",
        "times the candidates for a matmul, a convolution or flex_attention on the device: there is none",
    )
    for method in ("benchmark_in_current_process", "benchmark_in_sub_process")
)
CHOICE_LOGS = tuple(
    Name(_SELECT, attribute, "prints the timings of candidates: nobody has measured them")
    for attribute in ("AlgorithmSelectorCache.log_results", "_log_autotune_choices_stats")
)
FUSION_TIMED = Name(
    "torch._inductor.codegen.triton",
    "TritonScheduling.benchmark_codegened_module",
    "times a kernel, to tell whether a fusion with a template pays; keeps the timing on disk",
)
CUSTOM_OPERATORS = Name("torch._library.custom_ops", "OPDEFS", "which operators Python has made, and by which function")
FAKE_KERNELS = Name(
    "torch._library.simple_registry", "singleton", "which shape functions Python has given to operators"
)
TRITON_OPERATORS = "torch._library.triton"
"""In 2.11 to 2.15: the module of the function that torch.library.triton_op makes from the program's."""
NESTED = Name("torch.nested._internal.nested_tensor", "NestedTensor", "the class of jagged tensors")
NESTED_INT = Name(
    "torch.nested._internal.nested_int", "NestedIntNode", "the size of a ragged dimension that is no symbol"
)
RAGGED_VALUE = Name("torch.utils._sympy.singleton_int", "SingletonInt", "the same to sympy, in the values of symbols")
RAGGED_SIZE = Name(
    _FAKE_TENSOR, "FakeTensorMode.create_symbolic_nested_int", "makes the symbol that is the size of a ragged dimension"
)
PRECISION = Name("torch._C", "_get_fp32_precision_getter", "how float32 is multiplied, by backend and operation")
SET_PRECISION = Name("torch._C", "_set_fp32_precision_setter", "the order to it")
TEMPLATE = Name("torch._inductor.ir", "TritonTemplateCallerBase", "a candidate that Triton compiles")
FAKE_DISPATCH = Name(
    _FAKE_TENSOR,
    "FakeTensorMode._dispatch_impl",
    "finds the shape of what an operator makes, or computes it where all that it reads are constants",
)
CONVOLUTION_BACKEND = Name(
    "torch._C", "_select_conv_backend", "which library runs a convolution, asked by its shape function"
)
CONVOLUTION_FORMAT = Name(
    "torch._C", "_conv_determine_backend_memory_format", "how that library lays out what it makes"
)
CONVOLUTION_BACKENDS = Name("torch._C", "_ConvBackend", "the names of these libraries")
NATIVE_FUNCTIONS = ("torchgen", "packaged/ATen/native/native_functions.yaml")
"""Package and path in it of the list from which torch's operators are generated, 2.11 to 2.15."""
_C10D = "torch.distributed.distributed_c10d"

WORLD = Name(_C10D, "_world", "the process groups of this rank, their names and ranks")
GROUP_NAME = Name(_C10D, "_process_group_name", "names a new process group: it gets the name that a graph calls it by")
RESOLVE_GROUP = Name(_C10D, "_resolve_process_group", "the process group of a name")
DEVICE_MESH = Name("torch.distributed.device_mesh", "DeviceMesh", "the ranks that a tensor is spread over")
IS_WRAPPER = Name(
    "torch.utils._python_dispatch", "is_traceable_wrapper_subclass", "is a tensor made of others, as DTensor?"
)
SCRIPT_OBJECT = Name(
    "torch._library.fake_class_registry",
    "FakeScriptObject",
    "what Dynamo saw of an object that is no tensor, a mesh say",
)
CHECKPOINT_POLICY = "_checkpoint_context_fn"
"""In the meta of a checkpointed graph, torch._dynamo.variables.higher_order_ops, 2.11 to 2.15: the function that makes
the contexts of selective checkpointing.
"""
