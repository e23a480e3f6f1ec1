"""Names for the program's Triton kernels and operators."""

from inspect_compile.torch_compat import Name

_WRAP = "torch._higher_order_ops.triton_kernel_wrap"

HAS_TRITON = Name("torch.utils._triton", "has_triton", "2.11-2.15", "is there a device that Triton compiles for?")
HAS_DESCRIPTORS = Name(
    "torch.utils._triton",
    "has_triton_tensor_descriptor_host_tma",
    "2.11-2.15",
    "is there a device that takes descriptors for bulk copies from the host?",
)
DYNAMO = "torch._dynamo.variables.builder"
"""Uses both, 2.11 to 2.15, to recognise a kernel."""
CUSTOM_OPERATOR = Name(
    "torch._library.custom_ops", "CustomOpDef", "2.11-2.15", "an operator that torch.library.custom_op made"
)
RUN = Name("triton.runtime.jit", "JITFunction.run", "2.11-2.15", "a kernel is launched: kernel[grid](…)")
RUN_TUNED = Name(
    "triton.runtime.autotuner", "Autotuner.run", "2.11-2.15", "times the configurations of a kernel that is launched"
)
SIDE_TABLE = Name(
    _WRAP, "kernel_side_table", "2.11-2.15", "the kernels and constants that a graph's nodes have numbers of"
)
WRITTEN = Name(_WRAP, "get_mutated_tensors", "2.11-2.15", "which arguments of a kernel it writes to")
NODES = (
    Name(_WRAP, "triton_kernel_wrapper_mutation", "2.11-2.15", "a node that launches a kernel"),
    Name(_WRAP, "triton_kernel_wrapper_functional", "2.11-2.15", "a node that launches a kernel and writes to copies"),
)
