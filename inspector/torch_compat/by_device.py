"""Names for how operators are decomposed by device, above all scaled_dot_product_attention."""

from inspect_compile.torch_compat import Name

GUARD_OR_FALSE = Name(
    "torch.fx.experimental.symbolic_shapes",
    "guard_or_false",
    "what torch's own choice does with a size: it becomes a guard, or False where nothing is known",
)
PRIORITY = Name("torch._C", "_get_sdp_priority_order", "in which order sdpa_kernel wants the kernels tried")
IS_GPU = Name("torch._inductor.decomposition", "is_gpu", "a convolution's backward sums the bias's gradient apart")
DEVICE_HINT = Name(
    "torch._meta_registrations", "device_hint", "the layout of a result follows the library of the device"
)
ASKING = tuple(
    Name(module, attribute, "a decomposition that asks its tensors whether they are on the CPU")
    for module, attributes in {
        "torch._inductor.decomposition": ("mm", "addmm", "bmm", "grid_sampler_2d"),
        "torch._decomp.decompositions": (
            "native_batch_norm_helper",
            "log_sigmoid_forward",
            "_addmm_activation",
            "_upsample_get_cubic_coefficients",
            "_upsample_linear",
            "_upsample_nearest",
            "_grid_sampler_2d",
            "_reflection_or_replication_pad",
        ),
        "torch._decomp.decompositions_for_rng": ("bernoulli_", "bernoulli_p"),
        "torch._refs": ("native_group_norm", "native_layer_norm"),
    }.items()
    for attribute in attributes
)
