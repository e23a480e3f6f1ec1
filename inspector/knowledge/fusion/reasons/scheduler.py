"""Reasons of the scheduler for any two nodes: torch/_inductor/scheduler.py and choices.py, torch 2.11 to 2.15."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import Reason

_SAME_ORDER: Final = (
    "give both the same memory layout: move a transpose after the computation; compute each slice separately"
)

SCHEDULER: Final = (
    # can_fuse_vertical: one reads what the other writes.
    Reason(
        "intermediate-nodes",
        ("intermediate nodes between node1 & node2",),
        "another operation must run between the two: it needs the first one's result, and the second needs its result",
        "legality",
        "see what runs between the two (a library call, a reduction over other axes, a copy) and"
        " compute it earlier, later, or not at all",
    ),
    Reason(
        "memory-deps-mismatch",
        ("memory deps did not match",),
        "the second reads the first one's result in another order, so that in one loop a value would"
        " be read before it is written",
        "legality",
        "read it in the order in which it is written: without the transpose, flip, shift or broadcast between the two",
    ),
    # Scheduler.can_fuse
    Reason(
        "device-mismatch",
        ("device mismatch (%s vs %s)",),
        "they run on different devices, and a kernel runs on one",
        "legality",
        "put what both use on one device: often a scalar, a step counter or an index that was made on the CPU",
    ),
    Reason(
        "extern-or-nop",
        ("node1 is extern or nop", "node2 is extern or nop", "node1 is nop", "node1 is extern but not a triton kernel"),
        "one of the two is a library call (cuBLAS, oneDNN, ATen), or runs no code:"
        " there is no generated kernel to fuse into",
        "legality",
        "on a GPU, mode='max-autotune' lets torch generate matrix products and convolutions itself,"
        " together with the operations around them",
    ),
    Reason(
        "wrong-order",
        ("node1 must go before node2",),
        "torch looked at the two in the wrong order here: the first needs what the second computes",
        "legality",
    ),
    Reason(
        "would-make-a-cycle",
        ("will create cycle",),
        "in one kernel they would have to run both before and after a third operation, which another"
        " fusion has tied to one of them",
        "legality",
    ),
    Reason(
        "grouped",
        ("grouped node must not be fused with other nodes",),
        "one of the two belongs to a group of operations that torch keeps together and fuses with nothing else",
        "legality",
    ),
    Reason(
        "fusion-disabled",
        ("fusion for buffer explicit disabled",),
        "torch switched fusion off for this tensor: it is the copy before an all_reduce, which is to"
        " start as early as it can",
        "profit",
        knob="reorder_for_compute_comm_overlap",
    ),
    Reason(
        "strict-reduction",
        ("reduction fusion does not preserve strict reduction ordering",),
        "strict numerics are on: a reduction must add in eager mode's order, and in one kernel with"
        " the other it would not",
        "legality",
        "where the last bits don't matter, leave strict numerics off",
        "numerics",
        "2.15",
    ),
    # Staged reductions (NestedReduction)
    Reason(
        "nested-append-unplanned",
        ("nested reduction append planning failed",),
        "torch was building one kernel of several reductions that depend on each other, and this"
        " operation does not fit into it",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "nested-append-elsewhere",
        ("nested reduction append producer placement mismatch",),
        "torch was building one kernel of several reductions that depend on each other, and this"
        " operation runs on another stream or in another memory pool",
        "legality",
        versions="2.15",
    ),
    Reason(
        "epilogue-of-stage-unplanned",
        ("sub-parent epilogue planning failed",),
        "the elementwise operation after a reduction reads parts of its rows in an order that one kernel cannot follow",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "epilogue-of-stage-partial",
        ("consumer is not wholly in the sub-parent epilogue",),
        "only a part of the second reads the reduction's rows piece by piece; the rest needs whole rows",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "staged-dependencies-unproved",
        ("staged fusion dependency proof failed",),
        "torch could not prove that every value is written before the same kernel reads it",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    # choices.py
    Reason(
        "no-shared-data",
        ("no shared data",),
        "torch sees no bytes that one kernel would save: if both use the same tensor at all, they read it"
        " in different orders",
        "profit",
        _SAME_ORDER,
        "aggressive_fusion",
    ),
    Reason(
        "indexing-mismatch",
        ("no shared data due to indexing mismatch",),
        "both use the same tensor, but in orders that do not match",
        "profit",
        _SAME_ORDER,
        "aggressive_fusion",
    ),
    Reason(
        "too-many-nodes",
        ("exceeds max fusion",),
        "the kernel would hold more operations than the limit allows",
        "profit",
        knob="max_fusion_size",
    ),
    Reason(
        "more-peak-memory",
        ("Fusion will increase peak memory",),
        "as two kernels, the second can write into memory that the first has finished reading; as"
        " one, both tensors exist at once, and that is more memory (32 times) than the traffic saved",
        "profit",
    ),
    Reason(
        "too-many-buffers",
        ("fusion_prevent_too_many_reads_and_writes",),
        "the kernel would read and write more tensors than the limit allows",
        "profit",
        knob="max_fusion_unique_io_buffers",
    ),
    Reason(
        "score-fusion-memory-threshold",
        ("score_fusion_memory_threshold",),
        "they share fewer bytes than the configured minimum",
        "profit",
        knob="score_fusion_memory_threshold",
    ),
    Reason(
        "too-far-apart",
        ("Nodes are too far away. Fusing them may increase peak memory.",),
        "more than 64 operations lie between them in the program: one kernel could keep tensors in memory for longer",
        "profit",
        "compute the two next to each other in the program",
    ),
    Reason(
        "memory-timeline",
        ("memory-timeline fusion rejected %s with %s: estimated peak delta %d bytes",),
        "as one kernel, the graph's peak memory would exceed the configured limit",
        "profit",
        knob="fusion_memory_timeline_peak_memory_increase_gb",
        versions="2.15",
    ),
    # speedup_by_fusion
    Reason(
        "first-spills",
        ("register spilling of the first kernel",),
        "torch timed the kernels, and the first alone already runs out of registers, so that the"
        " times cannot be compared",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "second-spills",
        ("register spilling of the second kernel",),
        "torch timed the kernels, and the second alone already runs out of registers, so that the"
        " times cannot be compared",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "fused-spills",
        ("register spilling of the fused kernel",),
        "torch tried one kernel for both, and it runs out of registers: values would go to slow memory",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "slower",
        (
            "cannot fuse (benchmark): fusing %s with %s cause %sx slowdown",
            "cannot fuse (benchmark): fusing causes %sx slowdown",
        ),
        "torch timed both ways, and one kernel was not faster than two",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "subkernel-spills",
        ("ComboKernel benchmark: register spilling of %d-th subkernel",),
        "torch timed several operations in one launch (a combo kernel), and a part of it runs out of registers",
        "profit",
        knob="benchmark_combo_kernel",
    ),
    Reason(
        "subkernel-failed",
        ("ComboKernel benchmark: %d-th subkernel failed in the pool",),
        "a part of several operations in one launch (a combo kernel) did not compile when torch wanted to time it",
        "profit",
        knob="benchmark_combo_kernel",
        versions="2.15",
    ),
    # ForeachKernelSchedulerNode.can_fuse
    Reason(
        "foreach-lengths",
        ("foreach do not have same length",),
        "the two torch._foreach_* calls, such as an optimizer's, take lists of different lengths",
        "legality",
        "give both torch._foreach_* calls lists of one length",
    ),
    Reason(
        "foreach-crosses",
        ("a consumer depends on another producer sub-node",),
        "in the two torch._foreach_* calls, an element of one list needs an element at another position of the other",
        "legality",
        "keep the order of the lists from one torch._foreach_* call to the next",
        versions="2.15",
    ),
    Reason(
        "foreach-after-reduction",
        ("candidate producer is a reduction, foreach ops cannot be fused with reductions currently",),
        "the kernel of a torch._foreach_* call cannot take in a reduction, such as a sum or a norm",
        "backend",
    ),
    Reason(
        "foreach-before-reduction",
        ("candidate consumer is a reduction, foreach ops cannot be fused with reductions currently",),
        "the kernel of a torch._foreach_* call cannot take in a reduction, such as a sum or a norm",
        "backend",
    ),
    Reason(
        "foreach-not-producer",
        ("candidate producer is not dep of any foreach consumer",),
        "no element of the torch._foreach_* call alone reads what the other operation writes",
        "legality",
    ),
    Reason(
        "foreach-not-consumer",
        ("candidate consumer has no dep in any foreach producer",),
        "the other operation reads what no element of the torch._foreach_* call alone writes",
        "legality",
    ),
)
