"""Small dumps out of facts that a test writes down itself."""

from pathlib import Path

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import (
    Access,
    Attempt,
    Fact,
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


def graph(name: str = GRAPH, **more: object) -> Graph:
    """A compiled graph."""
    return Graph(graph=name, **{"kind": "forward", "compile_id": "0/0", **more})  # type: ignore[arg-type]


def node(name: str, target: str = "", **more: object) -> Node:
    """A post-grad node; without a target a placeholder."""
    defaults: dict[str, object] = {
        "graph": GRAPH,
        "stage": "post_grad",
        "index": 0,
        "op": "call_function" if target else "placeholder",
        "target": target or name,
        "users": ("output",),
        "values": (Tensor("float32", (4,), (1,), "cpu", 16),),
    }
    return Node(name=name, **{**defaults, **more})  # type: ignore[arg-type]


def lowered(name: str, target: str = "", **more: object) -> Lowering:
    """The lowering of `node(name, target)`."""
    defaults: dict[str, object] = {
        "graph": GRAPH,
        "index": 0,
        "op": "call_function" if target else "placeholder",
        "target": target or name,
        "way": "lowering" if target else "placeholder",
        "flops_kind": "none",
    }
    return Lowering(node=name, **{**defaults, **more})  # type: ignore[arg-type]


def operation(name: str, *, reads: dict[str, int], writes: dict[str, int], **more: object) -> Operation:
    """A scheduler node after fusion; `reads` and `writes` are bytes by buffer."""
    defaults: dict[str, object] = {
        "graph": GRAPH,
        "phase": "post_fusion",
        "order": 0,
        "kind": "pointwise",
        "node_type": "SchedulerNode",
        "members": tuple(name.split("_")),
        "buffers": tuple(writes),
        "reads": tuple(Access(buffer, "c0", ("c0=4",), "memory", size) for buffer, size in reads.items()),
        "writes": tuple(Access(buffer, "c0", ("c0=4",), "memory", size) for buffer, size in writes.items()),
    }
    return Operation(name=name, **{**defaults, **more})  # type: ignore[arg-type]


def kernel(name: str, *groups: str, launches: tuple[int, ...] = (), **more: object) -> Kernel:
    """A C++ kernel that holds these groups."""
    defaults: dict[str, object] = {
        "graph": GRAPH,
        "kind": "cpp",
        "groups": groups,
        "operations": tuple(member for group in groups for member in group.split("_")),
        "launches": launches,
    }
    return Kernel(name=name, **{**defaults, **more})  # type: ignore[arg-type]


def line(index: int, what: str, **more: object) -> WrapperLine:
    """A line of the wrapper; its line in the code is 100 more than its index."""
    return WrapperLine(**{"graph": GRAPH, "index": index, "what": what, "line": 100 + index, "end": 100 + index, **more})  # type: ignore[arg-type]


def attempt(a: str, b: str, verdict: str, **more: object) -> Attempt:
    """A look at a pair."""
    return Attempt(**{"graph": GRAPH, "round": 1, "a": a, "b": b, "verdict": verdict, **more})  # type: ignore[arg-type]


def ended(name: str = GRAPH, status: str = "compiled", **more: object) -> GraphEnd:
    """The end of a compile."""
    return GraphEnd(graph=name, status=status, **{"seconds": 1.0, **more})  # type: ignore[arg-type]


def at(number: int, code: str = "") -> Location:
    """A line of the user's program."""
    return Location(FILE, number, "forward", code)
