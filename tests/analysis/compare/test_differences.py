"""Two compiles compared: the same up to names, ids and devices, or what differs and how."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inspect_compile.analysis.compare.content import own
from inspect_compile.analysis.compare.differences import compare
from inspect_compile.analysis.compare.pairing import paired
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Fact, Frame, GraphBreak, Guard, Location, Recompile, Run, Tensor
from tests.handmade import GRAPH, ended, graph, kernel, made, node, operation

FRAME = Frame(graph="0/0", function="step", file="/here/train.py", line=3, status="compiled", graphs=1)
GUARD = Guard(graph="0/0", kind="ID_MATCH", source="G['F']", code=("___check_obj_id(G['F'], 139690563087680)",))
ALL_REDUCE = "_c10d_functional.all_reduce.default"


def compiled(root: Path, *facts: Fact, device: str = "cuda:0", source: str = "", run: Run | None = None) -> Dump:
    """A graph of two nodes and a kernel."""
    dump = made(
        root,
        FRAME,
        GUARD,
        graph(),
        node("x", values=(Tensor("float32", (4,), (1,), device, 16),)),
        node("relu", "aten.relu.default", arguments="%x", inputs=("x",), index=1),
        operation("op0", reads={"x": 16}, writes={"buf0": 16}),
        kernel("cpp_fused_relu_0", "op0", source="kernels/k.cpp"),
        *facts,
        ended(),
        run=run,
    )
    Writer(root).text(f"torchinductor/{GRAPH}/kernels/k.cpp", source or "void cpp_fused_relu_0() { relu(); }\n")
    return dump


def kinds(a: Dump, b: Dump) -> list[str]:
    return [row.kind for row in compare(paired(a, b))]


def test_what_is_a_processs_own_does_not_differ(tmp_path: Path) -> None:
    a = compiled(tmp_path / "a", run=Run(environment={"RANK": "0", "OMP_NUM_THREADS": "1"}, device="cuda"))
    b = compiled(
        tmp_path / "b",
        device="cuda:1",
        source="// of this process alone\nvoid cpp_fused_relu_0() { relu(); }\n",
        run=Run(environment={"RANK": "1", "OMP_NUM_THREADS": "1"}, device="cuda"),
    )
    guards = b.root / "guards.jsonl"
    guards.write_text(guards.read_text().replace("139690563087680", "140000000000001"))
    frames = b.root / "dynamo.jsonl"
    frames.write_text(frames.read_text().replace("/here/", "/elsewhere/"))
    assert compare(paired(a, b)) == []


def test_one_program_in_files_of_two_names(tmp_path: Path) -> None:
    """Its frames are the same ones, and break where they broke; a module that is not the program stays another one."""
    broken = GraphBreak(graph="0/0", reason="print", where=Location("/here/train.py", 5))
    a = compiled(tmp_path / "a", broken, run=Run(argv=("train.py", "--fast")))
    b = compiled(tmp_path / "b", broken, run=Run(argv=("/there/train_new.py",)))

    def rewritten(old: str, new: str) -> None:
        for table in b.root.glob("*.jsonl"):
            table.write_text(table.read_text().replace(old, new))

    rewritten("train.py", "train_new.py")
    assert compare(paired(a, Dump(b.root))) == []

    rewritten('"line":5', '"line":6')
    assert [(row.kind, row.a, row.b) for row in compare(paired(a, Dump(b.root)))] == [
        ("graph_breaks", ("train.py:5 print",), ("train_new.py:6 print",))
    ]

    rewritten("train_new.py", "model.py")
    assert [row.message for row in compare(paired(a, Dump(b.root)))] == [
        "a compiled step train.py:3 as 0/0, b did not",
        "b compiled step model.py:3 as 0/0, a did not",
    ]


def test_sizes_and_literals_are_no_ids() -> None:
    for text in ("xnumel = 16777216", "aten.mul.Tensor (%, 0.041666666666666664)", "L['x'].size()[0] == 1073741824"):
        assert own(text) == text


def test_another_shape(tmp_path: Path) -> None:
    a = compiled(tmp_path / "a")
    b = compiled(tmp_path / "b")
    nodes = b.root / "torchinductor" / GRAPH / "nodes.jsonl"
    nodes.write_text(nodes.read_text().replace('"size":[4],"stride":[1],"device":"cuda:0"', '"size":[5],"stride":[1]'))
    (found,) = compare(paired(a, b), ("rank 0", "rank 1"))
    assert (found.kind, found.graph, found.other_graph, found.compile_id) == ("nodes", GRAPH, GRAPH, "0/0")
    assert found.message == f"{GRAPH}: 1 node differs"
    assert [line.split(" strides")[0] for line in (*found.a, *found.b)] == [
        "placeholder → float32[4]",
        "placeholder → float32[5]",
    ]


def test_the_same_nodes_wired_differently(tmp_path: Path) -> None:
    def dump(name: str, first: str, second: str) -> Dump:
        arguments: dict[str, Any] = {"arguments": f"%{first}, %{second}", "inputs": (first, second)}
        return made(tmp_path / name, graph(), node("x"), node("y"), node("sub", "aten.sub.Tensor", **arguments))

    (found,) = compare(paired(dump("a", "x", "y"), dump("b", "y", "x")))
    assert (found.kind, found.a, found.b) == ("nodes", (), ())
    assert "connected differently" in found.message


def test_a_kernel_with_another_body(tmp_path: Path) -> None:
    a = compiled(tmp_path / "a")
    b = compiled(tmp_path / "b", source="void cpp_fused_relu_0() { gelu(); }\n")
    (found,) = compare(paired(a, b))
    assert (found.kind, found.a, found.b) == ("kernels", ("cpp_fused_relu_0",), ("cpp_fused_relu_0",))


def test_what_a_group_computes_by_other_names_of_nodes(tmp_path: Path) -> None:
    def dump(name: str, cast: str, *of_groups: tuple[str, ...]) -> Dump:
        nodes = (
            node("x"),
            node(cast, "aten.relu.default", arguments="%x"),
            node("sin", "aten.sin.default", arguments="%x"),
        )
        groups = [operation(f"op{index}", reads={}, writes={}, nodes=of) for index, of in enumerate(of_groups)]
        return made(tmp_path / name, graph(), *nodes, *groups)

    one = dump("one", "cast_1", ("cast_1",), ("sin",))
    assert compare(paired(one, dump("two", "cast_3", ("cast_3",), ("sin",)))) == []
    (found,) = compare(paired(one, dump("three", "cast_3", ("cast_3",), ("cast_3", "sin"))))
    assert (found.kind, found.a, found.b) == ("fusion", ("pointwise sin",), ("pointwise cast_3 sin",))


def test_a_recompile_of_one_side_and_its_graph(tmp_path: Path) -> None:
    again = Recompile(graph="0/1", function="step", file="/here/train.py", line=3, reasons=("0/0: size mismatch",))
    name = "model__1_forward_3.1"
    a = compiled(tmp_path / "a")
    b = compiled(tmp_path / "b", again, replace(FRAME, graph="0/1"), graph(name, compile_id="0/1"), ended(name))
    found = compare(paired(a, b), ("rank 0", "rank 1"))
    assert [row.kind for row in found] == ["recompiles", "graphs"]
    assert found[0].message == "rank 1 compiled step train.py:3 again as 0/1, rank 0 did not"
    assert found[0].b == ("0/0: size mismatch",)
    assert found[1].message == f"rank 1 compiled {name} (0 nodes), rank 0 has no such graph"
    assert (found[1].graph, found[1].other_graph) == ("", name)


def test_collectives_in_another_order_come_first(tmp_path: Path) -> None:
    def dump(name: str, *sizes: int) -> Dump:
        calls = [
            node(f"all_reduce_{size}", ALL_REDUCE, values=(Tensor("float32", (size,), (1,), "cpu", 4 * size),))
            for size in sizes
        ]
        return made(tmp_path / name, graph(), *calls)

    found = compare(paired(dump("a", 4, 8), dump("b", 8, 4)))
    assert [row.kind for row in found] == ["collectives", "nodes"]
    assert "in another order" in found[0].message
    more = compare(paired(dump("c", 4, 8), dump("d", 4)))[0]
    assert more.message == f"{GRAPH}: a calls 2 collectives, b 1"
    assert more.a == (f"{ALL_REDUCE} → float32[8] strides (1) cpu",)


def test_graphs_are_found_again_under_other_ids(tmp_path: Path) -> None:
    def nodes(name: str, target: str) -> Fact:
        return node("n", target, graph=name)

    other = replace(FRAME, graph="0/0", function="first", line=9)
    a = made(
        tmp_path / "a", other, replace(FRAME, graph="1/0"),
        graph("g.0"), nodes("g.0", "aten.cos.default"),
        graph("h.1", compile_id="1/0"), nodes("h.1", "aten.sin.default"),
    )  # fmt: skip
    b = made(tmp_path / "b", FRAME, graph("h.0"), nodes("h.0", "aten.sin.default"))
    pairs = [(one and one.graph, other and other.graph) for one, other in paired(a, b).graphs]
    assert pairs == [("h.1", "h.0"), ("g.0", None)]


def test_one_side_that_is_not_done(tmp_path: Path) -> None:
    a = made(tmp_path / "a", graph(), ended())
    b = made(tmp_path / "b", graph())
    (found,) = compare(paired(a, b), ("rank 0", "rank 1"))
    assert (found.kind, found.message) == ("status", f"{GRAPH}: compiled in rank 0, unfinished in rank 1")


def test_other_settings_are_told_last(tmp_path: Path) -> None:
    a = compiled(tmp_path / "a", run=Run(versions={"torch": "2.13.0"}))
    b = compiled(tmp_path / "b", source="other", run=Run(versions={"torch": "2.15.0"}))
    assert kinds(a, b) == ["kernels", "settings"]
