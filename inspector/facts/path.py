"""The call path of a compile: who called whom between Dynamo and the code that runs."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Call(Fact, frozen=True, kw_only=True, tag="call"):
    """One function that a graph passed through on its way; `graph` holds the compile id, where there is one."""

    table: ClassVar[str] = "calls"
    per_graph: ClassVar[bool] = False

    index: Int64
    """Position among all calls of the process, in the order in which they began."""
    parent: Int64 | None
    """The one that it ran inside of; None for the first of a compile, and for a backward that is compiled later."""
    stage: str
    """backend, compile_fx, aot_autograd, joint, partition, inference, forward, backward, inner, lowering, load,
    codegen, scheduler, wrapper or cudagraphs."""
    function: str
    """`compile_fx`; of a backend what the program calls it."""
    defined: str
    """`torch/_inductor/compile_fx.py:2685`."""
    received: str
    """What went in: `GraphModule, 5 nodes, 3 inputs`."""
    returned: str = ""
    """What came out: `call /tmp/…/cab.py:90`, `GraphLowering, 4 operations, 4 buffers`."""
    inductor_graph: str | None = None
    """The graph, from the moment Inductor has a name for it."""
    seconds: float = 0.0
    """What ran inside of it included."""
    error: str | None = None
    """What it raised."""
    note: str = ""
    """What else decides about what comes out: options, compilers that were handed on, why cudagraphs are off."""
