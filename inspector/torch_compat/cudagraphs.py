"""Names for following CUDA graphs at run time."""

from typing import Final

from inspect_compile.torch_compat import Name

CAPTURE_BEGIN = Name("torch.cuda.graphs", "CUDAGraph.capture_begin", "2.11-2.15", "somebody captures a CUDA graph")
CAPTURE_END = Name("torch.cuda.graphs", "CUDAGraph.capture_end", "2.11-2.15", "a CUDA graph is captured")
REPLAY = Name("torch.cuda.graphs", "CUDAGraph.replay", "2.11-2.15", "a CUDA graph runs again, whoever drives it")
WARM_UP = Name(
    "torch._inductor.cudagraph_trees",
    "CUDAGraphTreeManager.run_eager",
    "2.11-2.15",
    "a function runs as plain code in the memory pool of the CUDA graphs",
)
RECORD = Name(
    "torch._inductor.cudagraph_trees",
    "CUDAGraphTreeManager.record_function",
    "2.11-2.15",
    "a function is recorded as a CUDA graph",
)
SIZES = Name(
    "torch._inductor.cudagraph_trees",
    "maybe_warning_due_to_dynamic_shape",
    "2.11-2.15",
    "a function is about to be recorded at sizes that are new",
)
BACKEND: Final = "torch._dynamo.backends.cudagraphs"
"""Passes functions that are no Inductor graph to the trees."""
