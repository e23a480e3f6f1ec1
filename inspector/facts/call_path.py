"""The call path of a compile: which function called which, between Dynamo and the code that runs."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Call(Fact, frozen=True, kw_only=True, tag="call"):
    """One function that a graph passed through; `graph` holds the compile id, if there is one."""

    table: ClassVar[str] = "calls"
    per_graph: ClassVar[bool] = False

    index: Int64
    """Index among all calls of the process, in the order in which they began."""
    parent: Int64 | None
    """The caller; None for the first call of a compile, and for a backward that is compiled later."""
    stage: str
    """backend, compile_fx, aot_autograd, joint, partition, inference, forward, backward, inner, lowering, load,
    codegen, scheduler, wrapper or cudagraphs."""
    function: str
    """`compile_fx`; for a backend, the program's name of it."""
    defined: str
    """`torch/_inductor/compile_fx.py:2685`."""
    received: str
    """Its input: `GraphModule, 5 nodes, 3 inputs`."""
    returned: str = ""
    """Its output: `call /tmp/…/cab.py:90`, `GraphLowering, 4 operations, 4 buffers`."""
    inductor_graph: str | None = None
    """The graph's name, once Inductor has given it one."""
    seconds: float = 0.0
    """Duration, including the calls inside it."""
    error: str | None = None
    """The exception that it raised."""
    note: str = ""
    """What else affects the output: options, compilers that were passed on, why CUDA graphs are off."""
