"""Facts that are right one by one, and together what no compile gives: too deep, too long, too many, in circles."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from inspect_compile.dump import Writer
from inspect_compile.facts import (
    FACTS,
    Access,
    DynamoNode,
    Frame,
    Graph,
    GraphBreak,
    Guard,
    Kernel,
    Location,
    Lowering,
    Node,
    Operation,
    Pass,
    Realize,
    Run,
    Timed,
    WrapperLine,
)
from tests.handmade import attempt
from tests.hostile.watch import look

LONG = 40_000
"""Characters: what takes a time that grows with the square of it takes minutes."""

MANY = 1100


def _node(graph: str, index: int, name: str, **more: Any) -> Node:
    more = {"stage": "post_grad", "op": "call_function", "target": "aten.mm.default", **more}
    return Node(graph=graph, index=index, name=name, **more)


def _lowering(graph: str, index: int, node: str, **more: Any) -> Lowering:
    more = {"op": "call_function", "target": "aten.mm.default", "way": "lowering", **more}
    return Lowering(graph=graph, index=index, node=node, **more)


def _operations(writer: Writer, graph: str, index: int, name: str, **more: Any) -> None:
    for phase in ("pre_fusion", "post_fusion"):
        kind: dict[str, Any] = {"kind": "extern", "node_type": "SchedulerNode", "members": (name,), **more}
        writer.add(Operation(graph=graph, phase=phase, order=index, name=name, **kind))


def _one_graph(writer: Writer, graph: str, **more: Any) -> None:
    writer.add(Graph(**{"graph": graph, "kind": "subgraph" if "/" in graph else "forward", **more}))
    writer.add(_node(graph, 0, "inner"))
    writer.add(_lowering(graph, 0, "inner", operations=("op0",)))
    _operations(writer, graph, 0, "op0", nodes=("inner",), buffers=("buf0",))
    writer.add(WrapperLine(graph=graph, index=0, what="allocate", buffer="buf0", bytes=8))
    writer.add(WrapperLine(graph=graph, index=1, what="text", text="inner(buf0)"))


def _circles(writer: Writer) -> None:
    """Graphs, nodes, operations and buffers that stand in themselves, and in each other."""
    around = {"g": "g", "g/a": "g/a", "g/b": "g/c", "g/c": "g/b"}
    for graph, parent in around.items():
        writer.add(Graph(graph=graph, kind="forward", parent=parent, name=graph[-1], compile_id="0/0"))
        for index in range(4):
            after = (index + 1) % 4
            _operations(
                writer,
                graph,
                index,
                f"op{index}",
                members=("op0", "op1", f"op{index}"),
                buffers=("buf",),
                users=(f"op{index}",),
                predecessors=(f"op{after}", f"op{index}"),
                nodes=("a", "b", "c", "g"),
                reads=(Access("buf", "i"),),
                writes=(Access("buf", "i"),),
            )
            name, other = f"n{index}", f"n{after}"
            writer.add(_node(graph, index, name, inputs=(other, name), users=(name,), origins=(name,)))
            writer.add(_lowering(graph, index, name, arguments=(f"%{other}",), same_as=other, buffers=("buf",)))
            asked: dict[str, Any] = {
                "realized": True,
                "reason": "",
                "caller": "",
                "origin": other,
                "text": "Pointwise(\n",
            }
            writer.add(Realize(graph=graph, index=index, node=name, buffer="buf", **asked))
            writer.add(WrapperLine(graph=graph, index=index, what="reuse", buffer="buf", becomes="buf"))
            writer.add(WrapperLine(graph=graph, index=index, what="text", text="a( b( c( g("))
        gone: dict[str, Any] = {"operations": ("op0", "gone"), "groups": ("op0", "gone"), "nodes": ("n0", "gone")}
        writer.add(Kernel(graph=graph, name="k", kind="triton", launches=(1, 1, -5), source="../../../x", **gone))


def _called_in_a_chain(writer: Writer) -> None:
    """Each graph calls the next one: deeper than functions of Python can call each other."""
    for index in range(MANY):
        graph, parent = (f"g/{index}", f"g/{index - 1}") if index > 1 else (("g", "g/1")[index], ("", "g")[index])
        _one_graph(writer, graph, parent=parent, name="inner")


def _deep(writer: Writer) -> None:
    for depth in range(200):
        _one_graph(writer, "/".join(["g", *["inner"] * depth]), name="inner")


def _beside_each_other(writer: Writer) -> None:
    for index in range(MANY):
        _one_graph(writer, f"g/{index}" if index else "g", parent="g", name="inner")


def _one_folder(writer: Writer) -> None:
    """Graphs whose names differ, and whose folder is the same."""
    for index in range(MANY // 4):
        graph = "".join("!@#$%^&*,;"[int(digit)] for digit in f"{index:05}")
        writer.add(Graph(graph=graph, kind="forward", compile_id=f"0/{index}"))
        writer.add(_node(graph, 0, "n"))
        writer.add(DynamoNode(graph=f"0/{index}", stage="dynamo", index=0, name="n", op="output", target=""))


def _many_frames(writer: Writer) -> None:
    writer.add(Graph(graph="g", kind="forward"))
    for index in range(8_000):
        compile_id = f"0/{index}"
        writer.add(Frame(graph=compile_id, function="f", file="x.py", line=1, status="failed"))
        writer.add(GraphBreak(graph=compile_id, reason="r"))
        writer.add(Guard(graph=compile_id, kind="K", source="s", code=("a",)))


def _everything_reads_everything(writer: Writer) -> None:
    names, buffers = (tuple(f"{name}{index}" for index in range(MANY // 2)) for name in ("op", "buf"))
    accesses = tuple(Access(buffer, "i", ("i",), "memory", 8) for buffer in buffers)
    writer.add(Graph(graph="g", kind="forward"))
    for index in range(12):
        sets: dict[str, Any] = {"members": names, "users": names, "predecessors": names, "nodes": names}
        read: dict[str, Any] = {"buffers": buffers, "reads": accesses, "writes": accesses, "last_usage": buffers}
        _operations(writer, "g", index, f"op{index}", **{"kind": "pointwise", **sets, **read})
        own: dict[str, Any] = {"operations": names, "groups": names, "nodes": names, "launches": tuple(range(1, MANY))}
        writer.add(Kernel(graph="g", name=f"k{index}", kind="triton", defined_at=1, defined_to=MANY, **own))
        call: dict[str, Any] = {"what": "launch", "kernel": f"k{index}", "line": 1, "end": MANY, "arguments": buffers}
        writer.add(WrapperLine(graph="g", index=index, **call))
    for index in range(MANY):
        a, b = f"op{index % 12}", f"op{index * 7 % 12}"
        writer.add(attempt(a, b, "refused", shared_bytes=8, graph="g"))
        writer.add(_lowering("g", index, f"op{index}", operations=names[:3]))
    writer.text("torchinductor/g/output_code.py", "x\n" * MANY)


def _numbers(writer: Writer) -> None:
    """Lines of a code that is not there, from the first to the last that can be told."""
    most, least = 2**63 - 1, -(2**63)
    writer.run(Run(status="running", pid=most))
    writer.add(Graph(graph="g", kind="forward"))
    writer.add(_node("g", least, "n", where=Location("x.py", most, "f", "code")))
    writer.add(_lowering("g", most, "n", flops=most, flops_kind="matmul", seconds=1e308))
    for seconds in (-1.0, 1e-320):
        writer.add(Timed(graph="", name="t", start=0.0, seconds=seconds))
    own: dict[str, Any] = {"launches": (least, 1, most), "defined_at": least, "defined_to": most}
    writer.add(Kernel(graph="g", name="k", kind="triton", **own))
    for first, last in ((least, most), (1, most), (most, least)):
        for what in ("launch", "allocate", "extern", "free"):
            line: dict[str, Any] = {
                "what": what,
                "line": first,
                "end": last,
                "kernel": "k",
                "buffer": "b",
                "bytes": most,
            }
            writer.add(WrapperLine(graph="g", index=first, **line))
    writer.text("torchinductor/g/output_code.py", "x\n" * 9)


def _passes(writer: Writer) -> None:
    """In circles, each twice below each of two parents, and thousands deep."""

    def ran(graph: str, index: int, parent: int | None) -> None:
        writer.add(Pass(graph=graph, index=index, parent=parent, stage="post_grad", kind="pass", name=f"p{index}"))

    for graph in ("circle", "twice", "deep"):
        writer.add(Graph(graph=graph, kind="forward"))
        ran(graph, 0, None)
    for index, parent in ((0, 0), (1, 0), (0, 1), (1, 1)):
        ran("circle", index, parent)
    for index in range(1, 60):
        ran("twice", index, index - 1)
        ran("twice", index, index - 1)
    for index in range(1, 9 * MANY):
        ran("deep", index, index - 1)


def _modules(writer: Writer) -> None:
    writer.add(Graph(graph="g", kind="forward"))
    writer.add(_node("g", 0, "n", module=".".join("a" * LONG)))
    writer.add(_lowering("g", 0, "n", flops=8, flops_kind="matmul"))


def _equal_nodes(writer: Writer) -> None:
    """Two graphs of thousands of equal nodes, but for one, are compared."""
    writer.add(Graph(graph="g", kind="forward"))
    for index in range(8000):
        writer.add(_node("g", index, f"n{index}"))


SHAPES: list[Callable[[Writer], None]] = [
    _circles,
    _called_in_a_chain,
    _deep,
    _beside_each_other,
    _one_folder,
    _many_frames,
    _everything_reads_everything,
    _numbers,
    _passes,
    _modules,
    _equal_nodes,
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__.strip("_"))
def test_no_view_hangs_or_crashes(tmp_path: Path, shape: Callable[[Writer], None]) -> None:
    writer = Writer(tmp_path / "dump")
    writer.run(Run(status="finished", argv=("x.py",), cwd="/nowhere"))
    shape(writer)
    writer.flush()

    assert look(tmp_path / "dump")["show summary"]


def test_graphs_that_differ_in_one_of_very_many_equal_nodes(tmp_path: Path) -> None:
    for name, extra in (("one", ()), ("other", (_node("g", 9000, "more", target="aten.add"),))):
        writer = Writer(tmp_path / name)
        writer.run(Run(status="finished"))
        for fact in extra:
            writer.add(fact)
        _equal_nodes(writer)
        writer.flush()

    from tests.hostile.views import said
    from tests.hostile.watch import in_time

    with in_time():
        assert b"1 node only in" in said("diff", tmp_path / "one", tmp_path / "other").out


@pytest.mark.parametrize("place", range(len(SHAPES)))
def test_the_causes_of_differences_are_looked_for_in_time(tmp_path: Path, place: int) -> None:
    for name, shape in (("one", SHAPES[place]), ("other", SHAPES[place - 1])):
        writer = Writer(tmp_path / name)
        writer.run(Run(status="finished", argv=("x.py",), cwd="/nowhere"))
        shape(writer)
        writer.flush()

    from tests.hostile.views import said
    from tests.hostile.watch import in_time

    with in_time():
        assert said("diff", tmp_path / "one", tmp_path / "other", "--all").err == ""


LONG_TEXTS = (
    *("_" * LONG, "A" * LONG + "((", "op1_" * (LONG // 4), "A(" * (LONG // 2), "(\n" * (LONG // 2), "\n" * LONG),
    *("%a" * (LONG // 2), "a." * (LONG // 2), "\x1b]" * (LONG // 2), "9" * LONG, "Layout('" * (LONG // 8)),
    *("A(name='b', layout=FixedLayout(" * (LONG // 31), "NodeUser(node=" * (LONG // 14)),
    "\n".join(f"tmp{index + 1} = tmp{index} + tmp{index}" for index in range(LONG // 30)),
    "\n".join(" " * (index % 300) + "Pointwise(" for index in range(LONG // 160)),
)  # fmt: skip


@pytest.mark.parametrize("text", LONG_TEXTS, ids=lambda text: repr(text[:8]))
def test_no_text_takes_longer_than_its_length(tmp_path: Path, text: str) -> None:
    writer = Writer(tmp_path / "dump")
    writer.run(Run(status="finished", argv=(text,), exception=text))
    writer.add(Graph(graph="g", kind="forward", compile_id="0/0", name=text))
    writer.add(Frame(graph="0/0", function=text, file=text, line=1, status="failed", reason=text))
    where = Location("x.py", 1, text, text)
    writer.add(_node("g", 0, text, target=text, arguments=text, module=text, where=where, origins=(text,)))
    told: dict[str, Any] = {"via": text, "arguments": (text,), "result": text, "operations": (text,), "flops": 8}
    writer.add(_lowering("g", 0, text, flops_kind="matmul", target=text, **told))
    writer.add(_lowering("g", 1, "n", result=f"TensorBox(StorageBox(\n{text}", arguments=(f"%{text}",)))
    asked: dict[str, Any] = {"realized": True, "origin": "n", "text": text}
    writer.add(Realize(graph="g", index=1, node=text, buffer=text, reason=text, caller=text, **asked))
    shared: dict[str, Any] = {
        "reads": (Access("buf", text, (text,), "memory", 8),),
        "nodes": (text,),
        "buffers": (text,),
    }
    _operations(writer, "g", 0, text, **shared)
    _operations(writer, "g", 1, "op1", **{**shared, "kind": "pointwise", "buffers": ("b",)})
    for a, b in ((text, "op1"), (f"{text}_op1", f"op1_{text}"), ("op1", "op1")):
        writer.add(attempt(a, b, "refused", reason=text, shared_bytes=8, graph="g"))
    writer.add(Kernel(graph="g", name=text, kind="triton", operations=(text,), groups=(text,), source="k.py"))
    writer.add(WrapperLine(graph="g", index=0, what="text", text=text))
    for name in ("output_code.py", "ir_pre_fusion.txt", "k.py"):
        writer.text(f"torchinductor/g/{name}", text)
    writer.flush()

    assert look(tmp_path / "dump")["show summary"]


def _integers(kind: msgspec.inspect.Type) -> list[msgspec.inspect.IntType]:
    found = [kind] if isinstance(kind, msgspec.inspect.IntType) else []
    for part in ("types", "item_type", "key_type", "value_type"):
        inner = getattr(kind, part, ())
        for one in inner if isinstance(inner, tuple) else (inner,):
            found += _integers(one)
    return found


@pytest.mark.parametrize("kind", [Run, Location, Access, *FACTS])
def test_every_number_of_a_fact_has_64_bits(kind: type[msgspec.Struct]) -> None:
    found = msgspec.inspect.type_info(kind)
    assert isinstance(found, msgspec.inspect.StructType)
    for field in found.fields:
        for number in _integers(field.type):
            assert (number.ge, number.le) == (-(2**63), 2**63 - 1), f"{field.name}: write Int64"
