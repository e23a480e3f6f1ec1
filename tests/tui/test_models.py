"""What the screens show, against the facts themselves."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.flame import flame
from inspect_compile.analysis.cost.flop_rows import flop_rows
from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.memory.saved import activations
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import (
    CacheLookup,
    Frame,
    Graph,
    GraphBreak,
    GraphEnd,
    Hook,
    Kernel,
    Location,
    Lowering,
    Node,
    Operation,
    Recompile,
    Run,
)
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.knowledge.cost.units import OF, Of
from inspect_compile.tables.columns import Span
from inspect_compile.tables.cost.flops import app_flops
from inspect_compile.tables.styled_text import StyledLine
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.bars import Item, title
from inspect_compile.tui.models.chain import Chain, is_marked
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.cost import PARTS, flops
from inspect_compile.tui.models.fusion import MODES as FUSION_MODES
from inspect_compile.tui.models.fusion import fusion, misses
from inspect_compile.tui.models.fx import STAGES, fx
from inspect_compile.tui.models.kernels import kernel_source, kernels
from inspect_compile.tui.models.lowering import ir
from inspect_compile.tui.models.memory import MODES as MEMORY_MODES
from inspect_compile.tui.models.memory import TIME, memory
from inspect_compile.tui.models.outline import outline
from inspect_compile.tui.models.passes import CHANGED, SIDE_BY_SIDE, passes
from inspect_compile.tui.models.run import pages
from inspect_compile.tui.models.sheet import Sheet
from inspect_compile.tui.models.source import short_path, source
from inspect_compile.tui.models.state import graph_state
from inspect_compile.tui.models.wrapper import output
from tests.conftest import TESTS
from tests.handmade import GRAPH, ended, graph, made, node
from tests.tui.driving import BACKWARD, FORWARD, PROGRAM

BOTH = pytest.mark.parametrize("graph", [FORWARD, BACKWARD])


def texts(sheet: Sheet) -> list[str]:
    return [sheet.plain(index) for index in range(len(sheet))]


def of_text(code: Code) -> list[CodeLine]:
    return [line for line in code.lines if isinstance(line, CodeLine)]


def words(page: Sequence[StyledLine]) -> str:
    return "\n".join(line.plain for line in page)


@BOTH
def test_each_kernel_marks_what_the_provenance_says(mixed: Dump, graph: str) -> None:
    chain, provenance = Chain(CompiledGraph(mixed, graph)), CompiledGraph(mixed, graph).provenance
    sheets: list[Sheet] = [source(mixed, chain, True), fx(mixed, chain, "post-grad").sheet, kernels(mixed, chain)]
    for position in range(len(chain.kernels)):
        selection = chain.choose(chain.of_kernel(position), "kernels").selection
        assert selection == provenance.select("kernel", {position})
        lines, nodes, marked_kernels = (
            {sheet.key(index) for index in range(len(sheet)) if is_marked(sheet.subject(index), selection)}
            for sheet in sheets
        )
        assert lines == {str(line.number) for line in selection.lines}
        assert nodes == selection.nodes
        assert len(marked_kernels) >= 1


@BOTH
def test_source_counts_the_kernels_of_each_line(mixed: Dump, graph: str) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    code = source(mixed, chain, False)
    lines = of_text(code)
    assert [line.text for line in lines if line.number is not None] == PROGRAM.read_text().splitlines()
    for line in lines:
        if line.subject is not None:
            positions = chain.choose(line.subject, "").selection.kernels
            found = {chain.kernels[position].name for position in positions}
            assert line.note == (f"{len(found)}▪" if found else "")


def test_a_line_that_calls_a_library_has_the_nodes_that_this_makes(tmp_path: Path) -> None:
    own = Location("net.py", 3, "forward", "y = library.norm(x)")
    inner = Location("/usr/lib/python3/site-packages/library.py", 50, "norm", "return x.square().sum()", caller=own)
    rows = [node("square", "aten.square.default", where=inner), node("relu", "aten.relu.default", where=own)]
    kernels = [Kernel(graph=GRAPH, name=f"cpp_fused_{name}", kind="cpp", nodes=(name,)) for name in ("square", "relu")]
    chain = Chain(CompiledGraph(made(tmp_path, graph(), *rows, *kernels), GRAPH))

    found = source(Dump(tmp_path), chain, False)

    assert [line.text for line in of_text(found) if line.subject is not None] == [own.code, inner.code]
    first = next(line for line in of_text(found) if line.subject is not None)
    assert (first.number, first.text, first.note) == (3, own.code, "2▪")
    assert first.subject is not None
    choice = chain.choose(first.subject, "source")
    assert choice.selection.nodes == {"square", "relu"}
    assert choice.selection.lines == {Line("net.py", 3), Line.of(inner)}
    assert is_marked(first.subject, chain.choose(chain.of_node(GRAPH, "square"), "fx").selection)


def test_source_falls_back_on_what_was_recorded(mixed: Dump, here: Path) -> None:
    chain = Chain(CompiledGraph(mixed, FORWARD))
    script = here / "mixed.py"
    script.write_text(script.read_text().replace("self.norm(y)", "self.norm(2 * y)"))
    changed = texts(source(mixed, chain, False))
    assert "changed since" in changed[0]
    assert "y = self.norm(y)" in changed
    script.unlink()
    assert "not on this machine" in texts(source(mixed, chain, False))[0]
    os.mkfifo(script)
    assert "not on this machine" in texts(source(mixed, chain, False))[0]


def test_long_files_show_the_surroundings_of_nodes(here: Path) -> None:
    (here / "long.py").write_text("".join(f"x = {number}\n" for number in range(1, 1001)))
    writer = Writer(here / "dump")
    writer.run(Run(status="finished", cwd=str(here)))
    writer.add(Graph(graph="g", kind="forward"))
    where = Location(str(here / "long.py"), 500, code="x = 500")
    writer.add(Node(graph="g", stage="post_grad", index=0, name="n", op="call_function", target="t", where=where))
    writer.flush()
    chain = Chain(CompiledGraph(Dump(here / "dump"), "g"))
    around = texts(source(Dump(here / "dump"), chain, False))
    assert around[1:3] == ["  ⋯", "x = 492"]
    assert around[-2:] == ["x = 508", "  ⋯"]
    assert len(source(Dump(here / "dump"), chain, True)) == 1001


def test_the_generated_code_shows_kernels_as_code() -> None:
    """The source of a Triton kernel stands in a string of the generated code."""
    dump = Dump(TESTS / "data" / "h200-torch-2.11" / "user_triton_kernel")
    code = output(dump, Chain(CompiledGraph(dump, dump.graphs()[0].graph)), "generated")
    assert code is not None
    for index in range(len(code)):
        code.spans(index, 200)
    code.colour()
    imports = [code.spans(index, 200)[0] for index in range(len(code)) if code.plain(index) == "import triton"]
    assert len(imports) > 2
    assert set(imports) == {Span("import", "keyword")}


def test_paths_are_told_from_where_the_program_ran() -> None:
    assert short_path("/home/me/a/b.py", "/home/me") == "a/b.py"
    assert short_path("/home/menu/b.py", "/home/me") == "/home/menu/b.py"
    assert short_path("/venv/lib/python3.11/site-packages/torch/nn.py", "/home/me") == "torch/nn.py"


@BOTH
@pytest.mark.parametrize("stage", ["post-grad", "aot", "joint", "dynamo"])
def test_every_node_of_a_stage_has_a_row(mixed: Dump, graph: str, stage: str) -> None:
    found = fx(mixed, Chain(CompiledGraph(mixed, graph)), stage)
    assert found.count == number_of(len(found.sheet), "node")
    if stage not in ("dynamo", "joint"):
        expected = [node.name for node in mixed.rows(Node, graph) if node.stage == STAGES[stage]]
        assert [found.sheet.key(index) for index in range(len(found.sheet))] == expected


@BOTH
def test_every_lowering_has_a_row_that_says_if_it_is_real(mixed: Dump, graph: str) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    steps = ir(mixed, chain)
    rows = dict(zip(steps.lowerings, texts(steps.sheet), strict=True))
    for key, row in steps.lowerings.items():
        assert ("realized " in rows[key]) >= bool(row.buffers), rows[key]
        assert steps.detail(mixed, chain, key).code.plain(0) == f"{row.node}  {row.target}"
    if graph == FORWARD:
        assert "inlined in 5 operations" in rows["relu"]
        assert "realized used by 2 nodes" in rows["exp"]


@BOTH
def test_pairs_in_two_kernels_come_first_and_the_dearest_before_the_others(mixed: Dump, graph: str) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    apart = [miss.saved_bytes for miss, _ in misses(mixed, chain)]
    assert apart == sorted(apart, reverse=True)
    found = fusion(mixed, chain, "missed")
    assert [row.key for row in found.sheet.rows[: len(apart)]] == [
        f"miss {miss.a} {miss.b}" for miss, _ in misses(mixed, chain)
    ]


@BOTH
def test_every_row_of_fusion_has_its_story(mixed: Dump, graph: str) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    reduction = next(row.name for row in mixed.rows(Operation, graph) if row.kind == "reduction")
    for mode in FUSION_MODES:
        found = fusion(mixed, chain, mode, frozenset({reduction}))
        assert len(found.sheet) or mode == "findings"
        for row in found.sheet.rows:
            if not row.heading:
                assert row.subject is not None
                assert len(found.details[row.key](60))
                if mode != "findings":
                    assert found.details[row.key](60).plain(0) == row.subject.label
                assert mode != "partners" or reduction in row.subject.names


@BOTH
def test_flops_add_up(mixed: Dump, graph: str) -> None:
    found = graph_flops(CompiledGraph(mixed, graph))
    rows = flops(mixed, Chain(CompiledGraph(mixed, graph))).rows
    assert rows[0].key == "module "
    operators = {row.key for row in rows}
    for row in found.operators:
        assert f"{row.module} {row.operator}" in operators
    counted = [row for row in flop_rows(found) if row.is_operator and row.count]
    assert sum(app_flops(row) for row in counted) == found.total
    assert {f"{row.module} {row.name}" for row in counted} <= operators


@BOTH
def test_generated_code_knows_its_kernels(mixed: Dump, graph: str) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    code = output(mixed, chain, "generated")
    assert code is not None
    lines = of_text(code)
    for position, kernel in enumerate(chain.kernels):
        subject = chain.of_kernel(position)
        own = [line.number for line in lines if line.subject == subject]
        assert set(kernel.launches) <= set(own)
        if kernel.defined_at is not None:
            assert kernel.defined_at in own
            assert kernel.name in lines[kernel.defined_at - 1].text
        for launch in kernel.launches:
            assert lines[launch - 1].note == "→"
    assert output(mixed, chain, "readable FX") is not None


@BOTH
def test_each_kernel_shows_its_source_or_its_calls(mixed: Dump, graph: str) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    for kernel in chain.kernels:
        folded = texts(kernel_source(mixed, chain, kernel, "output_code.py"))
        shown = texts(kernel_source(mixed, chain, kernel, "output_code.py", is_whole=True))
        assert shown[0] == folded[0] == kernel.name
        if kernel.kind == "cpp":
            assert any('extern "C"' in line for line in shown)
            (fold,) = [line for line in folded if line.startswith("⋯")]
            count = int(fold.split()[1])
            assert len(folded) == len(shown) - count + 1
            assert "u: show" in fold
            first = folded[folded.index(fold) + 1]
            assert first == first.lstrip()
            assert [line.strip() for line in folded[folded.index(fold) + 1 :]] == [
                line.strip() for line in shown[folded.index(fold) + count :]
            ]
        else:
            assert kernel.name.rpartition(".")[0] in shown[-1]


def test_the_tree_tells_states_apart(here: Path) -> None:
    writer = Writer(here / "dump")
    writer.run(Run(status="running", argv=("-m", "pkg.train"), pid=os.getpid()))
    writer.add(Frame(graph="0/0", function="main.<locals>.step", file="a.py", line=1, status="compiled"))
    writer.add(Frame(graph="1/0", function="helper", file="a.py", line=9, status="failed", reason="Unsupported: x"))
    writer.add(Frame(graph="2/0", function="skipped", file="a.py", line=9, status="skipped"))
    writer.add(GraphBreak(graph="0/0", reason="print"))
    for name, kind, compile_id, status in (
        ("f", "forward", "0/0", "compiled"),
        ("f/true_graph_0", "subgraph", "0/0", ""),
        ("f/tune_0", "autotune", "0/0", ""),
        ("b", "backward", "0/0", "failed"),
        ("i", "inference", "0/10", ""),
        ("j", "inference", "0/2", "compiled"),
    ):
        writer.add(Graph(graph=name, kind=kind, compile_id=compile_id))
        if status:
            writer.add(GraphEnd(graph=name, status=status, seconds=1.0))
    writer.add(Kernel(graph="f", name="k", kind="cpp"))
    writer.flush()
    found = outline(Dump(here / "dump"))
    assert texts(found.table) == [
        "pkg.train  ",
        "├ 0/0 step  ⚡",
        "│ ├ forward  1▪",
        "│ │ ├ true_graph_0  ",
        "│ │ └ 1 graph tried  ",
        "│ └ backward  ✗",
        "├ 0/2  ",
        "│ └ inference  ",
        "├ 0/10  ",
        "│ └ inference  compiling",
        "├ 1/0 helper  ✗",
        "└ 1 without graphs  ",
    ]
    assert found.first_graph == "graph f"
    assert found.is_growing


def test_a_run_that_compiled_nothing_says_why(here: Path) -> None:
    writer = Writer(here / "dump")
    dump = Dump(here / "dump")
    writer.run(Run(status="finished", argv=("a.py",), cache="keep", notes=("a note",), tables={}))
    assert "torch.compile was never called" in words(pages.run_page(dump, has_program=False))
    assert "a note" in words(pages.run_page(dump, has_program=False))
    writer.add(Frame(graph="0/0", function="f", file="a.py", line=1, status="no graph"))
    writer.add(Hook(probe="p", target="torch.gone", state="missing", reason="no such name"))
    writer.flush()
    dump = Dump(here / "dump")
    said = words(pages.run_page(dump, has_program=False))
    assert "no graph reached Inductor" in said
    assert "torch.gone" in said
    writer.add(CacheLookup(graph="0/0", cache="fx_graph", outcome="hit"))
    writer.flush()
    assert "--cache keep" in words(pages.run_page(Dump(here / "dump"), has_program=False))


def test_a_run_that_failed_says_what_happened(here: Path) -> None:
    writer = Writer(here / "dump")
    writer.run(Run(status="raised", argv=("a.py",), exit_code=1, exception="RuntimeError: no compiler"))
    writer.add(Frame(graph="0/0", function="f", file="a.py", line=1, status="failed", reason="Unsupported: builtin x"))
    writer.add(Graph(graph="g", kind="forward", compile_id="0/0"))
    writer.add(GraphEnd(graph="g", status="failed", seconds=0.1, exception="InvalidCxxCompiler: none"))
    writer.flush()
    dump = Dump(here / "dump")
    said = words(pages.run_page(dump, has_program=False))
    assert "RuntimeError: no compiler" in said
    assert "Unsupported: builtin x" in said
    assert "InvalidCxxCompiler: none" in said
    failure = graph_state(CompiledGraph(dump, "g")).failure
    assert failure is not None
    assert "InvalidCxxCompiler" in words(failure)


def test_a_frame_tells_its_breaks_and_recompiles(here: Path) -> None:
    writer = Writer(here / "dump")
    writer.run(Run(status="finished", argv=("a.py",), cwd="/home/me"))
    writer.add(Frame(graph="0/1", function="f", file="/home/me/a.py", line=3, status="compiled", nodes=7, seconds=0.5))
    writer.add(
        GraphBreak(
            graph="0/1",
            reason="a call of print",
            explanation="print has side effects",
            hints=("remove it",),
            where=Location("/home/me/a.py", 5, code="print(x)"),
        )
    )
    writer.add(Recompile(graph="0/1", function="f", file="/home/me/a.py", line=3, reasons=("size of x: 4 is not 8",)))
    writer.flush()
    said = words(pages.frame_page(Dump(here / "dump"), "0/1"))
    for text in ("a.py:3", "compiled in 0.5 s", "a.py:5", "print(x)", "remove it", "size of x: 4 is not 8"):
        assert text in said


def test_a_step_whose_lowering_failed_says_so(here: Path) -> None:
    writer = Writer(here / "dump")
    writer.run(Run(status="raised"))
    writer.add(Graph(graph="g", kind="forward"))
    error = "LoweringException: unsupported\n  target: aten.x"
    writer.add(Lowering(graph="g", index=0, node="x", op="call_function", target="aten.x", way="lowering", error=error))
    writer.flush()
    dump = Dump(here / "dump")
    chain = Chain(CompiledGraph(dump, "g"))
    steps = ir(dump, chain)
    assert texts(steps.sheet)[0].startswith("x  failed")
    assert "LoweringException: unsupported" in texts(steps.sheet)[0]
    assert "  target: aten.x" in texts(steps.detail(dump, chain, "x").code)


def test_a_pass_shows_what_it_changed(mixed: Dump) -> None:
    chain = Chain(CompiledGraph(mixed, "model__0_forward_1.0"))

    found = passes(mixed, chain, CHANGED)

    assert found.sheet.rows[0].heading
    texts = [found.sheet.plain(index) for index in range(len(found.sheet))]
    assert "28 → 146 nodes" in " ".join(texts)
    subjects = [row.subject for row in found.sheet.rows if row.subject is not None]
    assert any("view_1" in subject.names for subject in subjects)
    detail = found.details[found.sheet.key(found.start)](SIDE_BY_SIDE - 1)
    assert detail.plain(0) == "remove_noop_ops"
    assert sum(detail.plain(index).startswith("− ") for index in range(len(detail))) == 8 + 6
    beside = found.details[found.sheet.key(found.start)](SIDE_BY_SIDE)
    assert beside.plain(0) == "remove_noop_ops"
    assert "".join(span.text for span in beside.titles(120)).split() == ["node", "before", "after", "where"]
    assert len(beside) == len(detail) - 6
    assert len(passes(mixed, chain, "all").details) > len(found.details)


def test_nothing_is_kept_without_a_backward(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(kind="inference"), ended())
    assert memory(dump, Chain(CompiledGraph(dump, GRAPH)), MEMORY_MODES[-1]).empty.startswith(
        "This graph has no backward"
    )


def test_memory_is_told_by_buffers_lines_and_what_is_kept(mixed: Dump) -> None:
    chain = Chain(CompiledGraph(mixed, FORWARD))
    replayed = CompiledGraph(mixed, FORWARD).memory

    buffers, by_line, kept = (memory(mixed, chain, mode) for mode in MEMORY_MODES)

    curve, *bars = buffers.sheet.rows
    assert len(bars) == replayed.allocations
    peak = "".join(span.text for span in buffers.sheet.cells(0)[2])
    assert len(peak) == TIME
    assert "█" in peak
    for index in range(len(buffers.sheet)):
        assert sum(len(span.text) for span in buffers.sheet.cells(index)[2]) == TIME
    assert buffers.details[curve.key](80).plain(0) == f"{replayed.peak:,} B live after line {replayed.peak_line} (peak)"
    assert [row.key for row in by_line.sheet.rows] == [str(step.index) for step in replayed.steps]
    assert sum("peak" in by_line.sheet.plain(index) for index in range(len(by_line.sheet))) == 1
    saved = activations(CompiledGraph(mixed, FORWARD))
    assert saved is not None
    assert len(kept.sheet) == len(saved.kept) > 0
    marked = [row for row in bars if row.subject is not None and row.subject.level == "buffer"]
    assert marked == bars


@BOTH
@pytest.mark.parametrize("of", OF)
def test_the_flame_has_the_rows_of_the_analysis(mixed: Dump, graph: str, of: Of) -> None:
    chain = Chain(CompiledGraph(mixed, graph))
    table = PARTS[f"flame {of}"](mixed, chain)
    rows = flame(CompiledGraph(mixed, graph), of)
    shown = [row for row in table.rows if not row.heading]

    assert len(shown) == len(rows) == len({row.key for row in shown})
    for row, record in zip(shown, rows, strict=True):
        if record.kind == "kernel":
            assert row.subject is not None
            assert row.subject.level in ("kernel", "operation")
        elif len(record.lines) == 1:
            assert row.subject is not None
            assert row.subject.names == (Line.of(record.lines[0]),)


@pytest.mark.parametrize("width", [20, 34, 60, 90])
@pytest.mark.parametrize("active", list(PARTS))
def test_the_active_mode_is_always_seen(active: str, width: int) -> None:
    items, _ = title("Cost", list(PARTS), active, (Item(""),), width)

    assert [item.value for item in items if item.role == "on"] == [active]
    assert sum(len(item.text) for item in items) <= max(width, len(active) + 16)
    assert all(item.value in PARTS for item in items if item.value)


@pytest.mark.parametrize("width", range(6, 90))
def test_the_title_of_a_view_is_never_cut(width: int) -> None:
    notes = (Item("12 kernels ", "dim"), Item("+9 columns: o ", "key", short="+9: o "))

    left, right = title("Kernels", ["source", "asm"], "source", notes, width)

    assert left[0].text == " Kernels "
    assert sum(len(item.text) for item in (*left, *right)) < max(width, len(" Kernels ") + 1)
    words = {" Kernels ", " source ", " asm ", " +1: s", "12 kernels ", "+9 columns: o ", "+9: o "}
    assert {item.text for item in (*left, *right)} <= words


def test_a_finding_in_a_library_is_about_the_users_line(tmp_path: Path) -> None:
    """The line of the library, where torch compiled again, may have no node; the user's line leads to all of them."""
    own = Location("/home/user/net.py", 7, code="optimizer.step()")
    file = "/usr/lib/python3/site-packages/torch/optim/sgd.py"
    again = Recompile(graph="0/0", function="step", file=file, line=3, reasons=("…",))
    frame = Frame(graph="0/0", function="step", file=file, line=3, status="compiled", seconds=1.0, caller=own)
    inside = node("mul", "aten.mul.default", where=Location(file, 9, caller=own))
    dump = made(tmp_path, graph(), ended(), again, frame, inside)
    chain = Chain(CompiledGraph(dump, GRAPH))

    sheet = fusion(dump, chain, "findings").sheet

    subject = sheet.subject(0)
    assert subject is not None
    assert subject == chain.of_line(Line("/home/user/net.py", 7))
    assert chain.choose(subject, "fusion").selection.nodes
