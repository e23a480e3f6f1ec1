"""Reasons of the scheduler for templates and users' kernels: torch/_inductor/scheduler.py."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import Reason

TEMPLATE: Final = (
    # A template (a matrix product, a convolution, attention) and what comes before it
    Reason(
        "prologue-off",
        ("prologue fusion turned off",),
        "computing the inputs of a template inside of it is switched off",
        "profit",
        knob="prologue_fusion",
    ),
    Reason(
        "prologue-not-pointwise",
        ("prologue fusion only supported for pointwise nodes",),
        "a template computes its inputs itself only where they are pointwise",
        "backend",
    ),
    Reason(
        "prologue-no-triton-template",
        ("prologue fusion only supported for TritonTemplates",),
        "only a Triton template computes its inputs itself",
        "backend",
        knob="max_autotune_gemm_backends",
        versions="2.11",
    ),
    Reason(
        "prologue-none-allowed",
        ("template has no allowed prologue inputs",),
        "the template takes none of its inputs but from memory",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "prologue-input-not-allowed",
        ("prologue fusion not implemented for kernel for these inputs",),
        "the template takes this input only from memory",
        "backend",
    ),
    Reason(
        "prologue-mutates",
        ("template prologue can only fuse functional pointwise nodes",),
        "one of them writes in place or shares memory with another buffer",
        "legality",
        "compute the template's input without writing in place",
    ),
    Reason(
        "prologue-used-inside",
        ("template prologue can only fuse nodes with a single use",),
        "a value on the way to the template's input is used outside too, so that it must be in memory anyway",
        "legality",
        "use it once, or compute it a second time where it is used",
    ),
    Reason(
        "prologue-used-twice",
        ("template prologue can only fuse nodes with a single use into template",),
        "the template's input is used elsewhere too, so that it must be in memory anyway",
        "legality",
        "use it once, or compute it a second time where it is used",
    ),
    Reason(
        "prologue-reads-more",
        ("prologue fusion will not increase amount of bytes read in kernel",),
        "computing the input inside the template would read more bytes than the input has, again for each tile",
        "profit",
    ),
    Reason(
        "prologue-pads",
        ("prologue fusion will not increase attempt to fuse in padding bc it increases unaligned reads",),
        "the input is only padded, and padding inside the template makes its reads unaligned",
        "profit",
        "give the product sizes that need no padding (multiples of 8 or 16)",
        "shape_padding",
    ),
    Reason(
        "prologue-upcasts",
        ("prologue fusion that must be upcast to fp32 not profitable for low precision templates",),
        "the input is computed in float32, and the template works in 16 bits",
        "profit",
    ),
    # A template and what comes after it
    Reason(
        "epilogue-not-satisfied",
        ("template epilogue not satisfied",),
        "what follows the template is a reduction, writes in place, or such fusions are switched off",
        "backend",
        "let what follows the product directly be pointwise, and not in place",
        "epilogue_fusion",
    ),
    Reason(
        "epilogue-not-computed",
        ("multi-output template epilogue requires ComputedBuffer",),
        "what follows a template with several outputs is not a computation in a loop",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "template-strict-reduction",
        ("template fusion does not preserve strict reduction ordering",),
        "the reduction must add in the order in which eager adds, and after a template it would not",
        "legality",
        "where the last bits don't matter, leave strict numerics off",
        "numerics",
        "2.15",
    ),
    Reason(
        "template-reductions-differ",
        ("incompatible reduction contracts",),
        "one NVIDIA universal GEMM kernel can't make both reductions after it",
        "backend",
        versions="2.15",
    ),
    Reason(
        "does-not-compile",
        (
            "Exception in compiling %s: %s",
            "NVGEMM fused kernel compilation failed for %s: %s: %s",
            "NVGEMM fused kernel benchmark failed for %s: %s: %s",
        ),
        "a template with the other node in it did not compile, or did not run when it was timed: that choice is out",
        "backend",
    ),
    # A user's Triton kernel, and what comes after it
    Reason(
        "user-kernel-no-epilogue",
        ("node1's triton kernel doesn't support epilogue fusion",),
        "the first is a Triton kernel of yours, and it takes no operation after its store: it is switched off, or the"
        " kernel has not exactly one store to one new, empty tensor",
        "backend",
        "with the knob on: write to one tensor of torch.empty_like, in one tl.store",
        "epilogue_fusion_user_defined_triton_kernel",
        "2.13-2.15",
    ),
    Reason(
        "user-kernel-then-group",
        ("node1 is extern but node2 is not SchedulerNode",),
        "the first is a Triton kernel of yours, and takes a single operation after its store, not a group",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "user-kernel-then-other",
        ("node1 is extern but node2.node is not SchedulerNode", "node1 is extern but node2.node.data is not Pointwise"),
        "the first is a Triton kernel of yours, and takes only a pointwise operation after its store",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "user-kernel-other-reads",
        (
            "epilogue reads from buffers other than the mutated output",
            "epilogue is not a unary read of the output buffer",
        ),
        "what follows a Triton kernel of yours reads more than what that kernel wrote",
        "backend",
        "read the other tensors in the kernel itself",
        versions="2.13-2.15",
    ),
    Reason(
        "user-kernel-other-index",
        ("epilogue's read and write indices differ",),
        "what follows a Triton kernel of yours writes in another order than it reads",
        "legality",
        "leave transposes and slices until after it",
        versions="2.15",
    ),
    Reason(
        "user-kernel-other-layout",
        ("node1 and node2 uses different buf layouts",),
        "what follows a Triton kernel of yours has other sizes or strides than what that kernel wrote",
        "legality",
        "give the kernel's output the sizes and strides of what follows",
        versions="2.13-2.15",
    ),
)
