"""Names for the program's Triton kernels and operators."""

from inspect_compile.torch_compat import Name

_WRAP = "torch._higher_order_ops.triton_kernel_wrap"

HAS_TRITON = Name("torch.utils._triton", "has_triton", "is there a device that Triton compiles for?")
HAS_DESCRIPTORS = Name(
    "torch.utils._triton",
    "has_triton_tensor_descriptor_host_tma",
    "is there a device that takes descriptors for bulk copies from the host?",
)
DYNAMO = "torch._dynamo.variables.builder"
"""Uses both, 2.11 to 2.15, to recognise a kernel."""
CUSTOM_OPERATOR = Name("torch._library.custom_ops", "CustomOpDef", "an operator that torch.library.custom_op made")
RUN = Name("triton.runtime.jit", "JITFunction.run", "a kernel is launched: kernel[grid](…)")
RUN_TUNED = Name("triton.runtime.autotuner", "Autotuner.run", "times the configurations of a kernel that is launched")
SIDE_TABLE = Name(_WRAP, "kernel_side_table", "the kernels and constants that a graph's nodes have numbers of")
WRITTEN = Name(_WRAP, "get_mutated_tensors", "which arguments of a kernel it writes to")
MUTATING = Name(_WRAP, "triton_kernel_wrapper_mutation", "a node that launches a kernel")
COPYING = Name(_WRAP, "triton_kernel_wrapper_functional", "a node that launches a kernel and writes to copies")
