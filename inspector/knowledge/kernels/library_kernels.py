"""Names of the GPU kernels that libraries launch, the extern calls that can have launched them, and the calls that
torch can generate a kernel for instead.

Sources. cuBLAS: names in NVIDIA's own profiles (`sm80_xmma_gemm_…`, `ampere_sgemm_128x64_tn`, `nvjet_…` from CUDA
12.8, `gemv2T_kernel_val`, `splitKreduce_kernel`, and, seen on an H200, `…_execute_split_k_kernel__5x_cublas`, which
sums the parts of the `…_execute_kernel__5x_cublas` before it). cuDNN: `sm80_xmma_fprop_…`, `cudnn::…`,
`implicit_convolve_sgemm`, `convolve_common_engine_…` (seen on an H200). CUTLASS: kernels are instances of
`cutlass::Kernel`, and device kernels of `cutlass::gemm` or `cutlass::conv`. Attention: `flash_fwd_kernel` and its kin,
and `fmha_cutlass…` of the memory efficient one, in `pytorch/aten/src/ATen/native/transformers/cuda`; cuDNN's
`cudnn_generated_fort_native_sdpa_…`. PyTorch: the `at::native` kernels of `pytorch/aten/src/ATen/native/cuda`. NCCL:
`ncclDevKernel_…`.
"""

import re
from typing import Final

import msgspec


class Library(msgspec.Struct, frozen=True):
    """A family of kernels that one library launches for one kind of call."""

    name: str
    """Name of the library."""
    does: str
    """What they compute: matmul, convolution, attention, helper (for another kernel of the library), …"""
    pattern: re.Pattern[str]


CALLS: Final[dict[str, frozenset[str]]] = {
    "matmul": frozenset(
        (
            *("mm", "addmm", "bias_addmm", "bmm", "baddbmm", "addbmm", "mm_plus_mm", "addmv", "mv", "dot"),
            *("_scaled_mm", "_scaled_grouped_mm", "_grouped_mm", "_int_mm"),
            *("convolution", "convolution_backward"),
        )
    ),
    "convolution": frozenset(("convolution", "convolution_backward", "cudnn_convolution", "miopen_convolution")),
    "attention": frozenset(
        name + end
        for name in (
            *("_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention"),
            *("_scaled_dot_product_cudnn_attention", "_scaled_dot_product_fused_attention_overrideable"),
            *("_flash_attention", "_efficient_attention", "_flash_attention_forward", "_efficient_attention_forward"),
        )
        for end in ("", "_backward")
    ),
    "collective": frozenset(
        name + end
        for name in (
            *("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "broadcast", "all_to_all_single"),
            *("all_reduce_coalesced", "all_gather_into_tensor_coalesced", "reduce_scatter_tensor_coalesced"),
        )
        for end in ("", "_", "_out")
    ),
}
"""What a kernel computes → the operators, without namespace and overload, whose calls launch such kernels.

A convolution may be computed as a matmul.
"""


_LAYOUT_CHANGE: Final = re.compile(r"nchwToNhwc|nhwcToNchw")
"""cuDNN's kernels that turn a tensor around, as seen on an H200."""


def changes_layout(kernel: str) -> bool:
    """Does it only turn a tensor into another memory layout?"""
    return _LAYOUT_CHANGE.search(kernel) is not None


def _library(name: str, does: str, pattern: str) -> Library:
    return Library(name, does, re.compile(pattern, re.ASCII))


LIBRARIES: Final = (
    _library(
        "cuBLAS",
        "helper",
        r"splitKreduce|execute_split_k_kernel|cublasLt::(?:epilogue|splitK)|scal_kernel|reduce_1Block_kernel",
    ),
    _library(
        "cuDNN",
        "helper",
        r"nchwToNhwc|nhwcToNchw|cudnn::ops::|nchwAddPadding|nhwcAddPadding|cask__5x_cudnn::(?:(?!cask__5x).)*transform",
    ),
    _library("flash-attention", "attention", r"flash_(?:fwd|bwd)|pytorch_flash::|flash::Flash"),
    _library("CUTLASS", "attention", r"fmha_cutlass|PyTorchMemEffAttention|AttentionKernel<|AttentionBackwardKernel"),
    _library("cuDNN", "attention", r"cudnn_generated(?:(?!cudnn_g).)*sdpa|cudnn(?:(?!cudnn).)*(?:flash|sdpa)"),
    _library("NCCL", "collective", r"ncclDevKernel|ncclKernel"),
    _library(
        "cuDNN",
        "convolution",
        r"_xmma_(?:fprop|dgrad|wgrad)|convolve_|implicit_convolve|cudnn::(?:cnn|detail|winograd|gemm)|_scudnn_|_wgrad|_dgrad"
        r"|_fprop|winograd|cutlass(?:(?!cutlass).)*(?:[Cc]onv|[Ff]prop|[Dd]grad|[Ww]grad)|conv2d_grouped_direct|conv_depthwise"
        r"|dgrad2d|wgrad2d|cudnn_infer|cudnn::(?:(?!cudnn::).)*conv",
    ),
    _library(
        "cuBLAS",
        "matmul",
        r"_xmma_gemm|nvjet_|(?:ampere|volta|turing|hopper|maxwell|pascal|sm\d+)_[a-z0-9]*gemm|gemv|gemmk1|gemmSN|dot_kernel"
        r"|cublas|sgemm|dgemm|hgemm|cgemm|gemm_kernel|Cijk_",
    ),
    _library("CUTLASS", "matmul", r"cutlass(?:_80|::gemm|::Kernel|::device_kernel|_\w*gemm)|cutlass"),
    _library("PyTorch", "operator", r"at::native|at_cuda_detail|at::cuda|\bcub::|thrust::|native::"),
)
"""The first match counts."""

TEMPLATED: Final = frozenset(
    {
        # torch/_inductor/kernel/{mm,bmm,mm_plus_mm,mm_grouped,conv}.py, on a GPU
        *("mm", "addmm", "bias_addmm", "bmm", "baddbmm", "mm_plus_mm", "_int_mm", "_scaled_mm"),
        *("_grouped_mm", "_scaled_grouped_mm", "convolution"),
        # what the same operators become on a CPU: torch/_inductor/mkldnn_lowerings.py
        *("_linear_pointwise", "_convolution_pointwise", "_mkl_linear"),
    }
)
"""Operators that a template of Inductor replaces under `max_autotune`."""


def library_of(name: str) -> Library | None:
    """The library that launches a kernel of that name."""
    return next((library for library in LIBRARIES if library.pattern.search(name)), None)


def operator_of(kernel: str) -> str:
    """`addmm` of `extern_kernels.addmm`, `sort` of `torch.ops.aten.sort.stable`."""
    parts = kernel.removeprefix("torch.ops.").split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def is_collective(kernel: str) -> bool:
    """True for an extern call that moves its bytes over the links between devices."""
    return operator_of(kernel) in CALLS["collective"]


def is_wait(kernel: str) -> bool:
    """True for the call that waits for a collective: it moves nothing itself."""
    return operator_of(kernel) == "wait_tensor"


def can_launch(kernel: str, library: Library) -> bool:
    """True if an extern call of that name can have launched a kernel of this family."""
    if library.does in CALLS:
        return operator_of(kernel) in CALLS[library.does]
    return library.does != "helper" or any(operator_of(kernel) in CALLS[does] for does in ("matmul", "convolution"))
