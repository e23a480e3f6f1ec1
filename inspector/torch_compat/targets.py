"""Names that are changed in a process that stands for a GPU which is not here, and in the program that it works for."""

from inspect_compile.torch_compat import Name

COMPILE_FX = Name("torch._inductor.compile_fx", "compile_fx", "2.11-2.15", "Inductor as a backend of Dynamo")
SET_DRIVER = Name(
    "torch._inductor.runtime.triton_helpers",
    "set_driver_to_gpu",
    "2.11-2.15",
    "the source of each kernel calls it: it looks for the driver of the device",
)
AVOID_DEVICE = Name(
    "torch._subclasses.fake_tensor",
    "FakeTensorMode.avoid_device_init",
    "2.11-2.15",
    "does a FakeTensor on a device go without that device?",
)
INIT_DEVICE = Name(
    "torch._subclasses.fake_tensor", "init_gpu_context", "2.11-2.15", "wakes the device that a FakeTensor is made on"
)
ONLY_WITH_CUDA = {
    "_cuda_getCurrentRawStream": "the generated code imports it",
    "_cuda_cudaCachingAllocator_is_enabled": "asked before CUDA graphs are prepared",
}
"""Names of torch._C in builds with CUDA, 2.11 to 2.15, and why a build without needs them, too."""
TIMINGS = Name(
    "torch._inductor.codecache", "PersistentCache.lookup", "2.11-2.15", "the timings of candidates, kept on disk"
)
BENCHMARKS = tuple(
    Name(
        "torch._inductor.runtime.benchmarking",
        f"{owner}.benchmark_gpu",
        "2.11-2.15",
        "times a callable on the device: there is none",
    )
    for owner in ("TritonBenchmarker", "InductorBenchmarker")
)
BENCHMARK_CHOICES = tuple(
    Name(
        "torch._inductor.select_algorithm",
        f"AlgorithmSelectorCache.{method}",
        "2.11-2.15",
        "times the candidates for a matmul, a convolution or flex_attention on the device: there is none",
    )
    for method in ("benchmark_in_current_process", "benchmark_in_sub_process")
)
