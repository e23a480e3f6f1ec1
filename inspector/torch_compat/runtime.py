"""Names for what a compiled program does: its CUDA graphs, its launches that are timed, its collectives."""

from typing import Final

from inspect_compile.torch_compat import Name

_GRAPHS = "torch.cuda.graphs"
_TREES = "torch._inductor.cudagraph_trees"

ENTERED = Name(
    "torch._dynamo.eval_frame",
    "_callback_from_stance",
    "a compiled function is called: Dynamo is about to be turned on, its guards are not checked yet",
)
CAPTURE_BEGIN = Name(_GRAPHS, "CUDAGraph.capture_begin", "somebody captures a CUDA graph")
CAPTURE_END = Name(_GRAPHS, "CUDAGraph.capture_end", "a CUDA graph is captured")
REPLAY = Name(_GRAPHS, "CUDAGraph.replay", "a CUDA graph runs again, whoever drives it")
WARM_UP = Name(
    _TREES, "CUDAGraphTreeManager.run_eager", "a function runs as plain code in the memory pool of the CUDA graphs"
)
RECORD = Name(_TREES, "CUDAGraphTreeManager.record_function", "a function is recorded as a CUDA graph")
SIZES = Name(_TREES, "maybe_warning_due_to_dynamic_shape", "a function is about to be recorded at sizes that are new")
BACKEND: Final = "torch._dynamo.backends.cudagraphs"
"""Passes functions that are no Inductor graph to the trees."""
CUDA = Name("torch", "cuda", "events, and whether a CUDA graph is being captured")
NO_DISPATCH_MODES = Name(
    "torch.utils._python_dispatch", "_disable_current_modes", "a check computes without a mode of the program's"
)
DISPATCH_MODE = Name(
    "torch.utils._python_dispatch", "TorchDispatchMode", "a check sees each operator that a function comes down to"
)
IS_ZERO_TENSOR = Name("torch", "Tensor._is_zerotensor", "the zeros of a derivative, which are in no memory")
TRANSFORMS = Name("torch._C", "_functorch", "the transforms of torch.func that have begun, and what they wrapped")
NO_TRANSFORMS = Name(
    "torch._functorch.pyfunctorch",
    "temporarily_clear_interpreter_stack",
    "a check computes outside of transforms of torch.func",
)
ALLOW_HOOKS, WHY_NO_HOOKS = (
    Name("torch._C._autograd", name, "whether a transform of torch.func forbids hooks on saved tensors")
    for name in ("_saved_tensors_hooks_enable", "_saved_tensors_hooks_get_disabled_error_message")
)
SET_VERSION = Name(
    "torch._C._autograd",
    "_unsafe_set_version_counter",
    "a tensor that a check changed and put back counts as unchanged",
)
STORAGE_REFERENCE = Name(
    "torch.multiprocessing.reductions",
    "StorageWeakRef",
    "memory is known by its address, which is not used again while this is there",
)
LARGEST_OF_EACH = Name("torch", "_foreach_norm", "one reduction over all results of a call")
COPY_EACH = Name("torch", "_foreach_copy_", "one copy of all inputs of a call")
NEGATED = Name("torch", "_neg_view", "a copy of an input that is seen as the negative of its memory is seen so, too")
SPIN = Name("torch.cuda", "_sleep", "keeps a stream busy for so many cycles of the device's clock")
BUILT_FOR = Name("torch.version", "cuda", "the CUDA that torch is built for; None for another device")
FLIGHT_RECORDER = Name(
    "torch._C._distributed_c10d",
    "_dump_fr_trace",
    "the last collectives of a process, with their sizes and the Python frames that called them",
)
OF_NCCL: Final = "_dump_nccl_trace"
"""The same for NCCL, in builds of torch that have it."""
FAKE_STORE = Name(
    "torch.testing._internal.distributed.fake_pg", "FakeStore", "a process group of any size, in one process"
)
REGISTER_GROUP = Name(
    "torch._C._distributed_c10d", "_register_process_group", "a group has the name that a recorded graph calls it"
)
UNREGISTER_GROUP = Name("torch._C._distributed_c10d", "_unregister_process_group", "another group had that name")
MUTATED_INPUTS = Name(
    "torch._inductor.cudagraph_utils",
    "get_mutation_stack_trace",
    "why a graph that writes to its inputs is not captured, which torch finds out when it is called",
)
COMPILES = Name(
    "torch._dynamo.callback",
    "callback_handler",
    "a compile begins or ends, that of a backward and the recording of a CUDA graph too: steps are not steady there",
)
PROFILE_BEGINS = Name(
    "torch.autograd.profiler", "profile._prepare_trace", "somebody begins to profile: two cannot at the same time"
)
PROFILES = Name("torch._C._autograd", "_profiler_enabled", "whether somebody profiles on this thread")
PROFILER = Name("torch", "profiler", "profiles some steps where the person asked for it")
STACKS = Name(
    "torch.autograd.profiler_legacy", "profile", "what makes the settings of the profiler with Python's stacks"
)
STACKS_BEGIN = Name("torch.autograd", "_enable_profiler_legacy", "Python's stack at each operator, without a hook")
STACKS_END = Name("torch.autograd", "_disable_profiler_legacy", "what that profiler saw")
MARKS_CALLS = Name(
    "torch.autograd.profiler", "_set_is_profiler_enabled", "compiled graphs mark their calls for a profiler only"
)
