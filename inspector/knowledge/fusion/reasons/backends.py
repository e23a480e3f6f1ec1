"""Reasons of the backends: torch/_inductor/codegen/simd.py (Triton) and codegen/cutlass/scheduling.py."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import Reason

BACKENDS: Final = (
    # simd.py
    Reason(
        "numel-mismatch",
        ("numel/rnumel mismatch (non-reduce) (%s, %s), (%s, %s)",),
        "they have different numbers of elements, and a loop has only one length",
        "legality",
        "let both work on one shape: slice, pad or broadcast before the first, or after the second",
    ),
    Reason(
        "reduction-numel-mismatch",
        ("numel/rnumel mismatch (reduce) (%s, %s), (%s, %s)",),
        "the two reductions have different numbers of results, or reduce different numbers of"
        " elements, and so share no loop",
        "legality",
        "reduce over the same axes; where one is the second half of a reduction that torch split,"
        " the setting keeps that one whole",
        "triton.cooperative_reductions",
    ),
    Reason(
        "prologue-numel-mismatch",
        ("numel/rnumel mismatch prologue mismatch (%s, %s), (%s, %s)",),
        "the matmul's kernel already computes this input in a loop of another size",
        "legality",
    ),
    Reason(
        "numel-of-reduction",
        ("nodes numel incompatibility",),
        "the elementwise operation has the size of neither the reduction's input nor its result, and does not fit"
        " into its loop",
        "legality",
        "let the elementwise operation work on the reduction's input or on its result, not on another shape",
    ),
    Reason(
        "ranges-of-reduction",
        ("nodes numel/rnumel incompatibility",),
        "the elementwise operation has as many elements as the reduction's input, but its shape"
        " cannot be cut into the reduction's rows",
        "legality",
        "read the reduction's input in the same order: avoid reshapes that merge a kept axis and a reduced one",
    ),
    Reason(
        "tiling-of-reduction",
        ("invalid tiling for reduction",),
        "the elementwise operation is cut into other tiles than the reduction's rows, most often"
        " because it reads something transposed",
        "profit",
        "avoid the transposed read in it",
        "triton.tiling_prevents_reduction_fusion",
    ),
    Reason(
        "tiling-mismatch",
        ("tiling mismatch (%s, %s, %s)",),
        "each alone is cut into tiles that suit how it reads memory, such as one that reads"
        " transposed, and one kernel has one tiling",
        "profit",
        "avoid the transposed read in one of them, or make that operand contiguous before",
        "triton.tiling_prevents_pointwise_fusion",
    ),
    Reason(
        "split-scan",
        ("Split scan cannot fuse with reductions",),
        "one is a scan (such as cumsum) that is split over several blocks, the other a reduction:"
        " torch cannot write both into one kernel",
        "backend",
    ),
    Reason(
        "native-matmul-loops",
        ("invalid loop order and tiling for native matmul",),
        "the other operation's loops do not fit the tiles of the matrix product, which torch writes"
        " as a reduction here",
        "legality",
        knob="triton.native_matmul",
    ),
    Reason(
        "stages-would-be-lost",
        ("staged reduction plan would be lost",),
        "with it, torch could no longer write one kernel of several reductions that depend on each other",
        "backend",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "epilogue-of-stage-invalid",
        ("invalid sub-parent epilogue fusion",),
        "what follows the reduction reads parts of its rows in an order that one kernel cannot follow",
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
        "what follows the CUTLASS kernel has no separate buffer",
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
        "a CUTLASS kernel cannot include a reduction after it",
        "backend",
    ),
    Reason(
        "cutlass-epilogue-off",
        ("cutlass epilogue fusion is not enabled",),
        "epilogue fusion into CUTLASS kernels is switched off",
        "profit",
        knob="cutlass.cutlass_epilogue_fusion_enabled",
    ),
    Reason(
        "cutlass-not-tma",
        ("epilogue fusion is only supported for TMA-enabled gemm ops",),
        "only CUTLASS kernels that load with TMA (Hopper and newer) support epilogues",
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
