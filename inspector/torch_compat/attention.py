"""Names for how scaled_dot_product_attention is taken apart."""

from inspect_compile.torch_compat import Name

GUARD_OR_FALSE = Name(
    "torch.fx.experimental.symbolic_shapes",
    "guard_or_false",
    "2.11-2.15",
    "what torch's own choice does with a size: it becomes a guard, or False where nothing is known",
)
PRIORITY = Name(
    "torch._C", "_get_sdp_priority_order", "2.11-2.15", "in which order sdpa_kernel wants the kernels tried"
)
