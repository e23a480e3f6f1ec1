"""Reasons of the backends: torch/_inductor/codegen/simd.py (Triton) and codegen/cutlass/scheduling.py."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import Reason

BACKENDS: Final = (
    # simd.py
    Reason(
        "numel-mismatch",
        ("numel/rnumel mismatch (non-reduce) (%s, %s), (%s, %s)",),
        "their loops run over different numbers of elements",
        "legality",
        "let both work on one shape: cut, pad or broadcast before the first, or after the second",
    ),
    Reason(
        "reduction-numel-mismatch",
        ("numel/rnumel mismatch (reduce) (%s, %s), (%s, %s)",),
        "the two reductions have different numbers of results, or add up different numbers of elements",
        "legality",
        "reduce over the same axes; where one is the second stage of a split reduction, the knob keeps that one whole",
        "triton.cooperative_reductions",
    ),
    Reason(
        "prologue-numel-mismatch",
        ("numel/rnumel mismatch prologue mismatch (%s, %s), (%s, %s)",),
        "what the template computes for this input already has other loops",
        "legality",
    ),
    Reason(
        "numel-of-reduction",
        ("nodes numel incompatibility",),
        "the pointwise loop fits neither the reduction's rows nor its elements",
        "legality",
        "let the pointwise operation work on the reduction's input or on its result, not on another shape",
    ),
    Reason(
        "ranges-of-reduction",
        ("nodes numel/rnumel incompatibility",),
        "the pointwise loop has as many elements as the reduction, and can't be cut into its rows",
        "legality",
        "let the pointwise operation go over the reduction's input in the same order: without reshapes that join a kept"
        " axis and a reduced one",
    ),
    Reason(
        "tiling-of-reduction",
        ("invalid tiling for reduction",),
        "the pointwise loop wants tiles of another shape than the reduction's rows",
        "profit",
        "avoid the transposed read in it",
        "triton.tiling_prevents_reduction_fusion",
    ),
    Reason(
        "tiling-mismatch",
        ("tiling mismatch (%s, %s, %s)",),
        "each alone is cut into tiles that suit its strides, and one kernel has only one tiling",
        "profit",
        "avoid the transposed read in one of them, or make that operand contiguous before",
        "triton.tiling_prevents_pointwise_fusion",
    ),
    Reason(
        "split-scan",
        ("Split scan cannot fuse with reductions",),
        "one of them is a scan (cumsum) that is split over several blocks, the other is a reduction",
        "backend",
    ),
    Reason(
        "native-matmul-loops",
        ("invalid loop order and tiling for native matmul",),
        "the loops of the other one do not fit the tiles of a matrix product that is written as a reduction",
        "legality",
        knob="triton.native_matmul",
    ),
    Reason(
        "stages-would-be-lost",
        ("staged reduction plan would be lost",),
        "with it, a kernel of several stages of reductions could no longer be written",
        "backend",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "epilogue-of-stage-invalid",
        ("invalid sub-parent epilogue fusion",),
        "what follows the reduction goes over parts of its rows in a way that the kernel can't write",
        "backend",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    # cutlass/scheduling.py
    Reason(
        "cutlass-not-computed",
        ("{} is not a ComputedBuffer",),
        "what follows the CUTLASS kernel is not a computation in a loop",
        "backend",
    ),
    Reason(
        "cutlass-not-pointwise",
        ("{} is not a Pointwise op",),
        "what follows the CUTLASS kernel is not pointwise",
        "backend",
    ),
    Reason(
        "cutlass-no-name",
        ("{} does not have a computed buffer name",),
        "what follows the CUTLASS kernel has no buffer of its own",
        "backend",
    ),
    Reason(
        "cutlass-sizes",
        ("{}'s size: {} differs from {}'s size: {}",),
        "what follows the CUTLASS kernel has another shape than its result",
        "legality",
        "leave reshapes until after the pointwise operations",
    ),
    Reason(
        "cutlass-mutates",
        ("{} has aliasing or mutation",),
        "what follows the CUTLASS kernel writes in place or shares memory with another buffer",
        "legality",
        "write it without in-place operations",
    ),
    Reason(
        "cutlass-reduction",
        ("{} is a reduction which is not yet supported by EVT",),
        "a CUTLASS kernel takes no reduction after it",
        "backend",
    ),
    Reason(
        "cutlass-epilogue-off",
        ("cutlass epilogue fusion is not enabled",),
        "taking operations into a CUTLASS kernel is switched off",
        "profit",
        knob="cutlass.cutlass_epilogue_fusion_enabled",
    ),
    Reason(
        "cutlass-not-tma",
        ("epilogue fusion is only supported for TMA-enabled gemm ops",),
        "only CUTLASS kernels that load with TMA (Hopper and newer) take operations after them",
        "backend",
    ),
    Reason(
        "cutlass-operation",
        ("Cannot fuse epilogue node {} into {}, likely due to unsupported operation: {}",),
        "CUTLASS has no such operation for what follows a product",
        "backend",
    ),
    Reason(
        "cutlass-dtype",
        ("Cannot fuse epilogue node {} into {}. Reason: {}",),
        "CUTLASS can't write what follows the product, often because of its dtype",
        "backend",
    ),
    Reason(
        "cutlass-strided-read",
        (
            (
                "external read {} with size {} is a non-contiguous compatible reshape of template size {}, which"
                " CUTLASS EVT cannot align to the accumulator shape"
            ),
        ),
        "what follows the CUTLASS kernel reads a tensor of another shape that is not contiguous",
        "backend",
        "make that tensor contiguous",
        versions="2.15",
    ),
)
