"""Reasons of the scheduler for templates and users' kernels: torch/_inductor/scheduler.py."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import Reason

TEMPLATE: Final = (
    # A template (a matrix product, a convolution, attention) and what comes before it
    Reason(
        "prologue-off",
        ("prologue fusion turned off",),
        "computing an input inside the kernel of a matrix product (prologue fusion) is switched off",
        "profit",
        knob="prologue_fusion",
    ),
    Reason(
        "prologue-not-pointwise",
        ("prologue fusion only supported for pointwise nodes",),
        "the kernel of a matrix product, convolution or attention computes an input itself only if that is elementwise",
        "backend",
    ),
    Reason(
        "prologue-no-triton-template",
        ("prologue fusion only supported for TritonTemplates",),
        "only kernels that torch generates in Triton compute their inputs themselves, and this matmul is not one"
        " of them",
        "backend",
        knob="max_autotune_gemm_backends",
        versions="2.11",
    ),
    Reason(
        "prologue-none-allowed",
        ("template has no allowed prologue inputs",),
        "the kernel of this matrix product, convolution or attention reads all of its inputs from"
        " memory, and computes none itself",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "prologue-input-not-allowed",
        ("prologue fusion not implemented for kernel for these inputs",),
        "the kernel of this matrix product, convolution or attention reads this input from memory,"
        " and cannot compute it itself",
        "backend",
    ),
    Reason(
        "prologue-mutates",
        ("template prologue can only fuse functional pointwise nodes",),
        "an operation before the matrix product writes in place or shares memory with another"
        " tensor, and cannot move into the product's kernel",
        "legality",
        "compute the product's input without writing in place",
    ),
    Reason(
        "prologue-used-inside",
        ("template prologue can only fuse nodes with a single use",),
        "a value on the way to the matrix product's input is also used elsewhere, so it must be in memory anyway",
        "legality",
        "use it once, or compute it a second time where it is used",
    ),
    Reason(
        "prologue-used-twice",
        ("template prologue can only fuse nodes with a single use into template",),
        "the matrix product's input is also used elsewhere, so it must be in memory anyway",
        "legality",
        "use it once, or compute it a second time where it is used",
    ),
    Reason(
        "prologue-reads-more",
        ("prologue fusion will not increase amount of bytes read in kernel",),
        "inside the matrix product's kernel, the input would be computed once more for each tile,"
        " which reads more bytes than loading it",
        "profit",
    ),
    Reason(
        "prologue-pads",
        ("prologue fusion will not increase attempt to fuse in padding bc it increases unaligned reads",),
        "the matrix product's input is only padded, and padding inside its kernel would make loads unaligned and slow",
        "profit",
        "give the product sizes that need no padding (multiples of 8 or 16)",
        "shape_padding",
    ),
    Reason(
        "prologue-upcasts",
        ("prologue fusion that must be upcast to fp32 not profitable for low precision templates",),
        "the matrix product's input is computed in float32 and the product in 16 bits: inside its"
        " kernel that would not pay",
        "profit",
    ),
    # A template and what comes after it
    Reason(
        "epilogue-not-satisfied",
        ("template epilogue not satisfied",),
        "the kernel of a matrix product, convolution or attention takes in only elementwise"
        " operations after it: this one is a reduction or writes in place, or such fusions are"
        " switched off",
        "backend",
        "let what follows the product directly be pointwise, and not in place",
        "epilogue_fusion",
    ),
    Reason(
        "epilogue-not-computed",
        ("multi-output template epilogue requires ComputedBuffer",),
        "the kernel has several results, and what follows is not computed element by element",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "template-strict-reduction",
        ("template fusion does not preserve strict reduction ordering",),
        "strict numerics are on: the reduction must add in eager mode's order, and inside the matrix"
        " product's kernel it would not",
        "legality",
        "where the last bits don't matter, leave strict numerics off",
        "numerics",
        "2.15",
    ),
    Reason(
        "template-reductions-differ",
        ("incompatible reduction contracts",),
        "two reductions follow the matrix product, and one NVIDIA universal GEMM kernel cannot do both",
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
        "torch tried the matrix product's kernel with the other operation in it: it did not compile,"
        " or did not run when it was timed",
        "backend",
    ),
    # A user's Triton kernel, and what comes after it
    Reason(
        "user-kernel-no-epilogue",
        ("node1's triton kernel doesn't support epilogue fusion",),
        "the first is your own Triton kernel, and nothing can be fused after its store: that is switched off, or"
        " the kernel does not have exactly one store to one new, empty tensor",
        "backend",
        "with the knob on: write to one tensor of torch.empty_like, in one tl.store",
        "epilogue_fusion_user_defined_triton_kernel",
        "2.13-2.15",
    ),
    Reason(
        "user-kernel-then-group",
        ("node1 is extern but node2 is not SchedulerNode",),
        "the first is your own Triton kernel, which takes a single operation after its store, not a group",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "user-kernel-then-other",
        ("node1 is extern but node2.node is not SchedulerNode", "node1 is extern but node2.node.data is not Pointwise"),
        "the first is your own Triton kernel, which takes only a pointwise operation after its store",
        "backend",
        versions="2.13-2.15",
    ),
    Reason(
        "user-kernel-other-reads",
        (
            "epilogue reads from buffers other than the mutated output",
            "epilogue is not a unary read of the output buffer",
        ),
        "what follows your own Triton kernel reads more than what that kernel wrote",
        "backend",
        "read the other tensors in the kernel itself",
        versions="2.13-2.15",
    ),
    Reason(
        "user-kernel-other-index",
        ("epilogue's read and write indices differ",),
        "what follows your own Triton kernel writes in another order than it reads",
        "legality",
        "leave transposes and slices until after it",
        versions="2.15",
    ),
    Reason(
        "user-kernel-other-layout",
        ("node1 and node2 uses different buf layouts",),
        "what follows your own Triton kernel has other sizes or strides than what that kernel wrote",
        "legality",
        "give the kernel's output the sizes and strides of what follows",
        versions="2.13-2.15",
    ),
)
