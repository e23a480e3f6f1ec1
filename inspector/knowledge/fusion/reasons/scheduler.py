"""Reasons of the scheduler for any two nodes: torch/_inductor/scheduler.py and choices.py, torch 2.11 to 2.15."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import Reason

SCHEDULER: Final = (
    # can_fuse_vertical: one reads what the other writes.
    Reason(
        "intermediate-nodes",
        ("intermediate nodes between node1 & node2",),
        "a third node must run after one and before the other",
        "legality",
        "see what stands between the two (a library call, a reduction over other axes, a copy) and compute it earlier,"
        " later, or not at all",
    ),
    Reason(
        "memory-deps-mismatch",
        ("memory deps did not match",),
        "one reads what the other writes at another index, so that an element is not ready in time",
        "legality",
        "read it in the order in which it is written: without the transpose, flip, shift or broadcast between the two",
    ),
    # Scheduler.can_fuse
    Reason(
        "device-mismatch",
        ("device mismatch (%s vs %s)",),
        "they run on different devices",
        "legality",
        "put what both use on one device: often a scalar, a step counter or an index that was made on the CPU",
    ),
    Reason(
        "extern-or-nop",
        ("node1 is extern or nop", "node2 is extern or nop", "node1 is nop", "node1 is extern but not a triton kernel"),
        "one of them is a call into a library, or does nothing at run time",
        "legality",
        "of a matrix product or convolution on a GPU: mode='max-autotune' offers templates that take the operations"
        " around them",
    ),
    Reason(
        "wrong-order",
        ("node1 must go before node2",),
        "tried in the wrong order: the first needs what the second computes",
        "legality",
    ),
    Reason(
        "would-make-a-cycle",
        ("will create cycle",),
        "fused, they would have to run both before and after a third node, because of another fusion",
        "legality",
    ),
    Reason(
        "grouped",
        ("grouped node must not be fused with other nodes",),
        "one of them is a group of nodes that must be kept together and apart from others",
        "legality",
    ),
    Reason(
        "fusion-disabled",
        ("fusion for buffer explicit disabled",),
        "a lowering forbids it for this buffer: the copy before an all_reduce is to run as early as it can",
        "profit",
        knob="reorder_for_compute_comm_overlap",
    ),
    Reason(
        "strict-reduction",
        ("reduction fusion does not preserve strict reduction ordering",),
        "a reduction must add in the order in which eager adds, and fused with another one it would not",
        "legality",
        "where the last bits don't matter, leave strict numerics off",
        "numerics",
        "2.15",
    ),
    # Staged reductions (NestedReduction)
    Reason(
        "nested-append-unplanned",
        ("nested reduction append planning failed",),
        "the second does not fit into the stages of a group of reductions that work on each other's results",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "nested-append-elsewhere",
        ("nested reduction append producer placement mismatch",),
        "they run on different streams, or in different memory pools, as a stage of reductions can't",
        "legality",
        versions="2.15",
    ),
    Reason(
        "epilogue-of-stage-unplanned",
        ("sub-parent epilogue planning failed",),
        "the pointwise work after a reduction goes over parts of its rows in a way that one kernel can't follow",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "epilogue-of-stage-partial",
        ("consumer is not wholly in the sub-parent epilogue",),
        "only a part of the second goes over the reduction's rows in parts; the rest needs the whole rows",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    Reason(
        "staged-dependencies-unproved",
        ("staged fusion dependency proof failed",),
        "torch could not prove that each element is written before a later stage of the kernel reads it",
        "legality",
        knob="triton.nested_reduction",
        versions="2.15",
    ),
    # choices.py
    Reason(
        "no-shared-data",
        ("no shared data",),
        "no buffer is accessed by both with the same index expression: torch sees no bytes that a fusion would save",
        "profit",
        "if they touch a common buffer, let them go over it in one order, without transposes and slices of it",
        "aggressive_fusion",
    ),
    Reason(
        "indexing-mismatch",
        ("no shared data due to indexing mismatch",),
        "they touch a common buffer, with indices that do not fit together",
        "profit",
        "let them go over it in one order, without transposes and slices of it",
        "aggressive_fusion",
    ),
    Reason(
        "too-many-nodes",
        ("exceeds max fusion",),
        "the fused node would hold more operations than allowed",
        "profit",
        knob="max_fusion_size",
    ),
    Reason(
        "more-peak-memory",
        ("Fusion will increase peak memory",),
        "apart, the second could write into what the first has finished reading; fused, both buffers live at once, and"
        " that is more memory (32 times) than the traffic saved",
        "profit",
    ),
    Reason(
        "too-many-buffers",
        ("fusion_prevent_too_many_reads_and_writes",),
        "the fused kernel would read and write more buffers than allowed",
        "profit",
        knob="max_fusion_unique_io_buffers",
    ),
    Reason(
        "score-fusion-memory-threshold",
        ("score_fusion_memory_threshold",),
        "the bytes that both touch are too few to be worth a fusion",
        "profit",
        knob="score_fusion_memory_threshold",
    ),
    Reason(
        "too-far-apart",
        ("Nodes are too far away. Fusing them may increase peak memory.",),
        "more than 64 operations lie between them in the program's order: fused, they could keep buffers for long",
        "profit",
        "compute the two next to each other in the program",
    ),
    Reason(
        "memory-timeline",
        ("memory-timeline fusion rejected %s with %s: estimated peak delta %d bytes",),
        "fused, the graph would need more memory at its peak than the limit that was set",
        "profit",
        knob="fusion_memory_timeline_peak_memory_increase_gb",
        versions="2.15",
    ),
    # speedup_by_fusion
    Reason(
        "first-spills",
        ("register spilling of the first kernel",),
        "the first kernel alone already spills registers, so that no time of it can be compared",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "second-spills",
        ("register spilling of the second kernel",),
        "the second kernel alone already spills registers, so that no time of it can be compared",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "fused-spills",
        ("register spilling of the fused kernel",),
        "the fused kernel would spill registers",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "slower",
        (
            "cannot fuse (benchmark): fusing %s with %s cause %sx slowdown",
            "cannot fuse (benchmark): fusing causes %sx slowdown",
        ),
        "both ways were run, and the fused kernel was not faster than the two",
        "profit",
        knob="benchmark_fusion",
    ),
    Reason(
        "subkernel-spills",
        ("ComboKernel benchmark: register spilling of %d-th subkernel",),
        "a part of the combo kernel spills registers",
        "profit",
        knob="benchmark_combo_kernel",
    ),
    Reason(
        "subkernel-failed",
        ("ComboKernel benchmark: %d-th subkernel failed in the pool",),
        "a part of the combo kernel did not compile when it was to be timed",
        "profit",
        knob="benchmark_combo_kernel",
        versions="2.15",
    ),
    # ForeachKernelSchedulerNode.can_fuse
    Reason(
        "foreach-lengths",
        ("foreach do not have same length",),
        "two foreach operations go over lists of different lengths",
        "legality",
        "give both torch._foreach_* calls lists of one length",
    ),
    Reason(
        "foreach-crosses",
        ("a consumer depends on another producer sub-node",),
        "an element of the one list needs an element of the other at another place of it",
        "legality",
        "keep the order of the lists from one torch._foreach_* call to the next",
        versions="2.15",
    ),
    Reason(
        "foreach-after-reduction",
        ("candidate producer is a reduction, foreach ops cannot be fused with reductions currently",),
        "a foreach kernel does not take in a reduction",
        "backend",
    ),
    Reason(
        "foreach-before-reduction",
        ("candidate consumer is a reduction, foreach ops cannot be fused with reductions currently",),
        "a foreach kernel does not take in a reduction",
        "backend",
    ),
    Reason(
        "foreach-not-producer",
        ("candidate producer is not dep of any foreach consumer",),
        "no single element of the foreach operation reads what the other node writes",
        "legality",
    ),
    Reason(
        "foreach-not-consumer",
        ("candidate consumer has no dep in any foreach producer",),
        "the other node does not read what a single element of the foreach operation writes",
        "legality",
    ),
)
