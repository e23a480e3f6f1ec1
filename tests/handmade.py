"""Small dumps out of facts that a test writes down itself."""

import itertools
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import (
    Access,
    Fact,
    FusionLooks,
    Graph,
    GraphEnd,
    Kernel,
    Location,
    Lowering,
    Node,
    Operation,
    Run,
    Tensor,
    WrapperLine,
)
from inspect_compile.facts.fusion import ALLOWED, REFUSED, Fused, Look, Refusal

GRAPH = "model__0_forward_1.0"
FILE = "/home/user/net.py"


def made(root: Path, *facts: Fact, run: Run | None = None) -> Dump:
    """A dump of these facts."""
    writer = Writer(root)
    writer.run(run or Run(status="finished", argv=("net.py",), device="cpu"))
    for fact in facts:
        writer.add(fact)
    writer.flush()
    return Dump(root)


def graph(name: str = GRAPH, **more: Any) -> Graph:
    """A compiled graph."""
    return replace(Graph(graph=name, kind="forward", compile_id="0/0"), **more)


def node(name: str, target: str = "", **more: Any) -> Node:
    """A post-grad node; without a target a placeholder."""
    found = Node(
        graph=GRAPH,
        stage="post_grad",
        index=0,
        name=name,
        op="call_function" if target else "placeholder",
        target=target or name,
        users=("output",),
        values=(Tensor("float32", (4,), (1,), "cpu", 16),),
    )
    return replace(found, **more)


def lowered(name: str, target: str = "", **more: Any) -> Lowering:
    """The lowering of `node(name, target)`."""
    found = Lowering(
        graph=GRAPH,
        index=0,
        node=name,
        op="call_function" if target else "placeholder",
        target=target or name,
        way="lowering" if target else "placeholder",
        flops_kind="none",
    )
    return replace(found, **more)


def operation(name: str, *, reads: dict[str, int], writes: dict[str, int], **more: Any) -> Operation:
    """A scheduler node after fusion; `reads` and `writes` are bytes by buffer."""
    found = Operation(
        graph=GRAPH,
        phase="post_fusion",
        order=0,
        name=name,
        kind="pointwise",
        node_type="SchedulerNode",
        members=tuple(name.split("_")),
        buffers=tuple(writes),
        reads=tuple(Access(buffer, "c0", ("c0=4",), "memory", size) for buffer, size in reads.items()),
        writes=tuple(Access(buffer, "c0", ("c0=4",), "memory", size) for buffer, size in writes.items()),
    )
    return replace(found, **more)


def kernel(name: str, *groups: str, **more: Any) -> Kernel:
    """A C++ kernel that holds these groups."""
    operations = tuple(member for group in groups for member in group.split("_"))
    return replace(Kernel(graph=GRAPH, name=name, kind="cpp", groups=groups, operations=operations), **more)


def line(index: int, what: str, **more: Any) -> WrapperLine:
    """A line of the wrapper; its line in the code is 100 more than its index."""
    return replace(WrapperLine(graph=GRAPH, index=index, what=what, line=100 + index, end=100 + index), **more)


_TEXTS = itertools.count(step=4)


def attempt(
    a: str, b: str, verdict: str, *, reason: str = "", shared_bytes: int | None = None, into: str = "", **more: Any
) -> FusionLooks:
    """A look at a pair, in the first round: fused, refused or legal."""
    first = next(_TEXTS)
    refusals = (Refusal(first + 2),) if verdict == "refused" else ()
    look = Look(first, first + 1, REFUSED if refusals else ALLOWED, shared_bytes, refusals)
    fused = (Fused(first, first + 1, first + 3, first + 2),) if verdict == "fused" else ()
    texts = (a, b, reason, into)
    return replace(FusionLooks(graph=GRAPH, round=1, first=first, texts=texts, looks=(look,), fused=fused), **more)


def ended(name: str = GRAPH, status: str = "compiled", **more: Any) -> GraphEnd:
    """The end of a compile."""
    return replace(GraphEnd(graph=name, status=status, seconds=1.0), **more)


def at(number: int, code: str = "") -> Location:
    """A line of the user's program."""
    return Location(FILE, number, "forward", code)
