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
IN_ANOTHER_LAYOUT: Final = "layout changes"
"""Where kernels are with which a library turns what a convolution reads and writes into another memory layout."""
SYNCHRONISATION: Final = "synchronisation"
COPIES: Final = "copies"
INPUT: Final = "input"
COMPILING: Final = "compiling"
NOT_KNOWN: Final = "not known"

KINDS: Final[dict[str, str]] = {
    COMPILED: "kernels that Inductor generated",
    LIBRARY: "library calls of compiled graphs: matmuls, convolutions, attention",
    EAGER: "operators outside compiled graphs",
    OPTIMIZER: "the optimizer's step and zero_grad outside compiled graphs: its kernels, and waiting for its Python",
    COLLECTIVE: "communication between ranks that does not overlap with kernels",
    WAITING: "the GPU is idle: the host has not launched the next kernel",
    OVERHEAD: "overhead around compiled code on the host",
    SYNCHRONISATION: "the GPU is idle while the host reads a result from it",
    COPIES: "copies between host and GPU",
    INPUT: "waiting for the DataLoader",
    COMPILING: "compiling",
    NOT_KNOWN: "the profile does not say",
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
