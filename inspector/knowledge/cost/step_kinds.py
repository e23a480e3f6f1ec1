"""The kinds of time that a step of a program consists of, and what can bound a program."""

from typing import Final

COMPILED: Final = "compiled kernels"
LIBRARY: Final = "library calls"
EAGER: Final = "eager operators"
OPTIMIZER: Final = "optimizer"
COLLECTIVE: Final = "collectives"
WAITING: Final = "waiting for the host"
OVERHEAD: Final = "guards and dispatch"
IN_OPTIMIZER: Final = "the optimizer"
"""Where a wait is that an optimizer makes by itself."""
IN_ANOTHER_LAYOUT: Final = "changes of layout"
"""Where kernels are with which a library turns what a convolution reads and writes into another memory layout."""
SYNCHRONISATION: Final = "synchronisation"
COPIES: Final = "copies"
INPUT: Final = "input"
COMPILING: Final = "compiling"
NOT_KNOWN: Final = "not known"

KINDS: Final[dict[str, str]] = {
    COMPILED: "kernels that Inductor generated",
    LIBRARY: "library calls of compiled graphs: matmuls, convolutions, attention",
    EAGER: "operators outside of compiled graphs",
    OPTIMIZER: "the optimizer's step and zero_grad outside of compiled graphs: its kernels, and waiting for its Python",
    COLLECTIVE: "communication between ranks that no kernel hides",
    WAITING: "the GPU is idle, and the host has not given it the next kernel",
    OVERHEAD: "what surrounds the compiled code on the host",
    SYNCHRONISATION: "the GPU is idle, and the host reads a result from it",
    COPIES: "copies between host and GPU",
    INPUT: "waiting for the DataLoader",
    COMPILING: "compiling",
    NOT_KNOWN: "nothing in the profile tells it",
}
"""Kind → what it is."""

GUARDS: Final = "check guards"
DISPATCH: Final = "enter and leave compiled code"
WRAPPER: Final = "generated wrapper code"
LAUNCH: Final = "launch kernels"
OUTSIDE: Final = "outside of operators"

ARITHMETIC: Final = "arithmetic"
MEMORY: Final = "memory"
LAUNCH_OVERHEAD: Final = "launch overhead"
COMMUNICATION: Final = "communication"
"""Together with synchronisation, input and compiling: what can bound a program."""
