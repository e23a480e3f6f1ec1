"""The parts of a key of torch's caches of graphs and of the caches of kernels, in words.

Source: `FxGraphHashDetails` in torch/_inductor/codecache.py and `AOTAutogradCacheDetails` in
torch/_functorch/_aot_autograd/autograd_cache.py (2.11 to 2.15).
"""

from typing import Final

CONFIG: Final = {
    "inductor_config": "torch._inductor.config",
    "inductor_config_comms": "torch._inductor.config.aten_distributed_optimizations",
}
"""Part whose members are settings → the module that has them."""

PARTS: Final = {
    "gm": "the graph",
    "example_inputs": "inputs",
    "fx_kwargs": "arguments of the compile",
    "inputs_to_check": "inputs that are checked for alignment",
    "cache_key_tag": "torch.compiler.config.cache_key_tag",
    "user_defined_triton_source": "a Triton kernel of the program",
    "deterministic_algorithms_settings": "torch.use_deterministic_algorithms and what belongs to it",
    "cpp_runtime_thread_count": "the number of threads",
    "provenance_tracking_level": "the level of provenance tracking",
    "default_dtype": "torch.get_default_dtype()",
    "cuda_matmul_settings": "TF32 and reductions in reduced precision",
    "torch_version": "torch itself: its version, or a file of it",
    "system_info": "the GPU, its driver, or Triton",
    "precompile_enabled": "torch._dynamo.config.caching_precompile",
    "pre_grad_custom_pass": "a custom pass before autograd",
    "joint_custom_pre_pass": "a custom pass of the joint graph",
    "joint_custom_post_pass": "a custom pass of the joint graph",
    "post_grad_custom_pre_pass": "a custom pass after autograd",
    "post_grad_custom_post_pass": "a custom pass after autograd",
    "_pre_fusion_custom_pass": "a custom pass before fusion",
    "_post_fusion_custom_pass": "a custom pass after fusion",
    "_fuse_ddp_communication_passes": "passes that fuse the communication of DDP",
    "custom_backend_passes": "passes of the device's backend",
    "_custom_partitioner_fn": "a custom partitioner",
    "source": "the kernel's source",
    "command": "the compiler's command",
    "arguments": "types and values of the kernel's arguments",
    "options": "options of the kernel's compile",
    "backend": "the target, or what Triton compiles for it with",
    "environment": "environment",
    "triton_version": "Triton's version",
    "configurations": "the configurations to choose from",
}
"""Part → what it is; a part that is not here has its own name."""

OF_GRAPH: Final = frozenset({"gm", "example_inputs"})
"""The parts that another graph has other ones of."""
