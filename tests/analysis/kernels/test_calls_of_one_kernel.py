"""A kernel is not its launch: what one source is called for several times is told call by call."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile import tables
from inspect_compile.analysis.cost.extern_calls import extern_calls
from inspect_compile.analysis.kernels.tiling import shape
from inspect_compile.commands import main
from inspect_compile.dump import Dump, Writer
from inspect_compile.errors import CommandError
from inspect_compile.facts import Binary, Kernel, KernelBody, Loop, LoopNest, Remark, StatementNodes
from inspect_compile.finish.kernels_text import kernels_text
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.kernels.statements import Annotated
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.kernels.kernel_page import kernel_rows
from inspect_compile.tui.models.chain import Chain, is_marked
from inspect_compile.tui.models.code import CodeLine
from inspect_compile.tui.models.cost import traffic
from inspect_compile.tui.models.kernels import kernel_source
from tests.handmade import GRAPH, at, ended, graph, kernel, line, lowered, made, node, operation

KERNEL = "cpp_fused_relu_0"
SOURCE = "auto tmp0 = in_ptr0[0];\nauto tmp1 = tmp0 * (tmp0>0);\nout_ptr0[0] = tmp1;\n"
CODE = [""] * 120
CODE[100] = f"    {KERNEL}(x, buf0)"
CODE[101] = "    extern_kernels.mm(buf0, reinterpret_tensor(w, (4, 4), (1, 4), 0), out=buf1)"
CODE[102] = f"    {KERNEL}(buf1, buf2)"
CODE[103] = "    extern_kernels.mm(buf2,"
CODE[104] = "        v, out=buf3)"


def body(own: str, name: str) -> KernelBody:
    rows = tuple(StatementNodes(*row) for row in ((1, 0, (0,)), (2, 1, (0,)), (3, 2, (0,))))
    operators = ("load", "relu", "store")
    return KernelBody(
        graph=GRAPH,
        kernel=KERNEL,
        operations=(own,),
        nodes=(name,),
        loops=((0,),),
        operators=operators,
        statements=rows,
    )


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    """x → relu → mm → relu_1 → mm_1; both relus are one source."""
    lines = {"relu": at(5, "x.relu()"), "mm": at(6, "x @ w"), "relu_1": at(9, "y.relu()"), "mm_1": at(10, "y @ v")}
    operations = (
        operation("op0", reads={"x": 16}, writes={"buf0": 16}, nodes=("relu",)),
        operation("op1", reads={"buf0": 16, "w": 16}, writes={"buf1": 16}, nodes=("mm",), kind="extern"),
        operation("op2", reads={"buf1": 16}, writes={"buf2": 16}, nodes=("relu_1",)),
        operation("op3", reads={"buf2": 16, "v": 16}, writes={"buf3": 16}, nodes=("mm_1",), kind="extern"),
    )
    root = tmp_path / "d"
    made(
        root,
        graph(),
        ended(),
        *(node(name) for name in ("x", "w", "v")),
        *(node(name, f"aten.{name.partition('_')[0]}", where=where, index=3) for name, where in lines.items()),
        lowered("mm", "aten.mm", via="tuned_mm torch/_inductor/kernel/mm.py:313", flops=128, flops_kind="matmul"),
        lowered("mm_1", "aten.mm", via="tuned_mm torch/_inductor/kernel/mm.py:313", flops=64, flops_kind="matmul"),
        *(replace(row, phase=phase) for phase in ("pre_fusion", "post_fusion") for row in operations),
        line(1, "launch", kernel=KERNEL, arguments=("x", "buf0")),
        line(2, "extern", kernel="extern_kernels.mm", buffer="buf1"),
        line(3, "launch", kernel=KERNEL, arguments=("buf1", "buf2")),
        line(4, "extern", kernel="extern_kernels.mm", buffer="buf3"),
        kernel(
            KERNEL,
            "op0",
            "op2",
            nodes=("relu", "relu_1"),
            computes=("relu", "relu_1"),
            lines=(lines["relu"], lines["relu_1"]),
            launches=(101, 103),
            source="kernels/k/source.cpp",
        ),
        *(
            kernel("extern_kernels.mm", own, kind="extern", nodes=(name,), lines=(lines[name],), launches=(number,))
            for own, name, number in (("op1", "mm", 102), ("op3", "mm_1", 104))
        ),
        body("op0", "relu"),
        body("op2", "relu_1"),
        Remark(
            graph=GRAPH, kind="missed", code="fallback", message="aten.mm is extern: its types", ids=("mm_1", "buf3")
        ),
    )
    writer = Writer(root)
    writer.text(f"torchinductor/{GRAPH}/kernels/k/source.cpp", SOURCE)
    writer.text(f"torchinductor/{GRAPH}/output_code.py", "\n".join(CODE))
    return Dump(root)


def shown(dump: Dump, name: str, *names: str, width: int = 180) -> str:
    return plain_text(tables.table(name, Graphs(dump), names=names), width)


def test_lines_and_bytes_are_those_of_the_launch(dump: Dump) -> None:
    assert [[where.line for where in call.lines] for call in CompiledGraph(dump, GRAPH).launches] == [
        [5],
        [6],
        [9],
        [10],
    ]
    rows = CompiledGraph(dump, GRAPH).traffic.all()
    assert [(row.line, [where.line for where in row.lines]) for row in rows] == [
        (101, [5]),
        (102, [6]),
        (103, [9]),
        (104, [10]),
    ]
    text = kernels_text(CompiledGraph(dump, GRAPH))
    assert "line 101   op0   reads 16 B, writes 16 B   net.py:5\n" in text
    assert "line 103   op2   reads 16 B, writes 16 B   net.py:9\n" in text


def test_the_table_of_kernels_has_the_lines_of_all_calls(dump: Dump) -> None:
    rows = {words[0]: words for words in map(str.split, shown(dump, "kernels").splitlines()) if words}
    assert rows[KERNEL][-6:] == ["net.py:5", "9", "op0", "op2", "relu", "relu_1"]
    assert rows["extern_kernels.mm"][-6:] == ["net.py:6", "10", "op1", "op3", "mm", "mm_1"]


def test_the_page_tells_each_call_and_its_statements(dump: Dump) -> None:
    text = shown(dump, "kernel", KERNEL)
    assert "output_code.py:101 op0 reads 16 B writes 16 B net.py:5" in text
    assert "output_code.py:103 op2 reads 16 B writes 16 B net.py:9" in text
    assert text.count("(1 of 1 origin)") == 2
    assert "its statements, each with its nodes in the calls at output_code.py:101 | 103\n" in text
    statements = [line for line in text.splitlines() if "tmp" in line]
    assert len(statements) == 3
    assert all("relu | relu_1" in line and "net.py:5 9" in line for line in statements)
    rows = [row for row in kernel_rows(Graphs(dump, None), (KERNEL,)) if isinstance(row, Annotated)]
    assert [(row.operations, row.nodes) for row in rows] == [(("op0",), ("relu",))] * 3 + [(("op2",), ("relu_1",))] * 3


def test_the_page_of_an_extern_kernel(dump: Dump) -> None:
    text = shown(dump, "kernel", "extern_kernels.mm")
    for words in ("2 calls", "mm_1", "128", "64", "net.py:6", "net.py:10", "extern_kernels.mm(buf2, v, out=buf3)"):
        assert words in text
    assert (
        "extern because: its lowering tuned_mm made a call of it (torch/_inductor/kernel/mm.py:313) (1 call: mm)"
        in text
    )
    assert "extern because: its types (1 call: mm_1)" in text
    assert shown(dump, "kernel", "mm") == text
    rows = extern_calls(CompiledGraph(dump, GRAPH))
    assert [(row.line, row.nodes, row.flops, row.read, row.written) for row in rows] == [
        (102, ("mm",), 128, 32, 16),
        (104, ("mm_1",), 64, 32, 16),
    ]


def test_the_page_of_an_extern_kernel_for_programs(dump: Dump, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(dump.root), "kernel", "extern_kernels.mm", "--json"]) == 0
    rows = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert [row["fact"] for row in rows] == ["kernel", "kernel", "extern_call", "extern_call"]
    with pytest.raises(CommandError, match=r"extern_kernels\.bmm: no kernel of this name; near: extern_kernels\.mm; "):
        list(kernel_rows(Graphs(dump, None), ("extern_kernels.bmm",)))


def test_the_app_marks_what_one_call_computes(dump: Dump) -> None:
    chain = Chain(CompiledGraph(dump, GRAPH))
    rows = [row for row in traffic(dump, chain).rows if row.subject is not None]
    assert [row.key for row in rows] == [
        f"traffic {KERNEL} 101",
        "traffic extern_kernels.mm 102",
        f"traffic {KERNEL} 103",
        "traffic extern_kernels.mm 104",
    ]
    assert rows[2].subject is not None
    selection = chain.choose(rows[2].subject, "cost").selection
    assert selection.nodes == {"relu_1"}
    assert [is_marked(row.subject, selection) for row in rows] == [False, False, True, False]


def test_the_apps_source_tells_the_nodes_of_all_calls(dump: Dump) -> None:
    chain = Chain(CompiledGraph(dump, GRAPH))
    code = kernel_source(dump, chain, next(row for row in chain.kernels if row.name == KERNEL), "output_code.py")
    texts = [code.plain(index) for index in range(len(code))]
    assert "line 101: computes relu (1 of 1 origin)" in texts
    assert "line 103: computes relu_1 (1 of 1 origin)" in texts
    statement = next(one for one in code.lines if isinstance(one, CodeLine) and "tmp1 = tmp0" in one.text)
    assert statement.note == "relu +1 5"
    assert statement.subject is not None
    assert statement.subject.names == ("relu", "relu_1")


def test_binaries_of_what_torch_compiled_to_measure_are_not_the_graphs_own(tmp_path: Path) -> None:
    nested, name = f"{GRAPH}/autotune_0", "triton_poi_fused_0"
    rows = [
        Binary(graph=of, kernel=name, label="XBLOCK8-w4-s1", config={}, registers=registers)
        for of, registers in ((GRAPH, 32), (nested, 64))
    ]
    dump = made(tmp_path, graph(), kernel(name, kind="triton"), kernel(name, kind="triton", graph=nested), *rows)
    found = [line.split() for line in shown(dump, "kernels").splitlines() if name in line]
    assert [{"32", "64"} & {*words} for words in found] == [{"32"}, {"64"}]


def test_the_loops_of_one_source_are_told_once(dump: Dump) -> None:
    nest = LoopNest(graph=GRAPH, kernel=KERNEL, loops=(Loop(size="4"),))
    for row in (nest, nest):
        made(dump.root, row)
    [found] = [row for row in Dump(dump.root).rows(Kernel, GRAPH) if row.name == KERNEL]
    assert shape(Dump(dump.root), found).nests == (nest,)
    other = replace(nest, loops=(Loop(size="8"),))
    made(dump.root, other)
    assert shape(Dump(dump.root), found).nests == (nest, nest, other)
