"""Every table, as a terminal of a given width shows it."""

import io
from pathlib import Path
from typing import Final

import pytest
from rich.cells import cell_len
from rich.console import Console

from inspect_compile import tables
from inspect_compile.dump import Dump
from inspect_compile.facts import (
    AotInput,
    AotMetadata,
    AotOutput,
    Artifact,
    CacheLookup,
    Call,
    Checked,
    CudaGraph,
    FailedGuard,
    Frame,
    Graph,
    GraphBreak,
    Guard,
    Hook,
    KernelLookup,
    Launched,
    Measuring,
    Metrics,
    NonFinite,
    Operand,
    OriginRecords,
    Recompile,
    Remark,
    Run,
    Settings,
    Skip,
    StepAccount,
    StepTime,
    Timed,
    TrialRun,
    TriedChange,
    Tuned,
)
from inspect_compile.facts.trials import Change, Place, Repeated, Spent
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.origins import TORCH_TRACE
from inspect_compile.tables.terminal import Drawn
from tests.conftest import DumpOf, Golden
from tests.handmade import GRAPH, at, attempt, ended, graph, kernel, line, lowered, made, node, operation
from tests.normalised import normalised, of_golden_code


def shown(dump: Dump, name: str, *, width: int, graph: str | None = None, color: bool = False, **more: object) -> str:
    """What a terminal of that width would show."""
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=color, color_system="standard" if color else None, highlight=False
    )
    console.print(Drawn(tables.table(name, Graphs(dump, graph), **more)))  # type: ignore[arg-type]
    return file.getvalue()


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", tables.TABLES)
@of_golden_code
def test_the_convolution(dump_of: DumpOf, tmp_path: Path, golden: Golden, name: str, width: int) -> None:
    dump = normalised(dump_of("conv_bias").dump, tmp_path / "dump")

    text = shown(dump, name, width=width, limit=40, dump_argument="conv")

    assert max((cell_len(row) for row in text.splitlines()), default=0) <= width
    golden.check(text)


_SAMPLE_OF: Final = dict.fromkeys(tables.TABLES, "training_step") | {
    "compiles": "graph_breaks",
    "dynamo": "graph_breaks",
    "calls": "graph_breaks",
    "remarks": "graph_breaks",
    "findings": "graph_breaks",
    "symbols": "dynamic_shapes",
    "wrapper": "conditional",
    "memory": "conditional",
}
"""A sample whose rows have all that a table shows: several frames, symbols, graphs within a graph."""
_OF_OTHER_RUNS: Final = frozenset(
    {
        "binaries",
        "autotune",
        "roofline",
        "measured",
        "steps",
        "numerics",
        "nonfinite",
        "cudagraphs",
        "origin",
        "ranks",
        "replays",
        "tried",
        "trials",
    }
)
"""Tables without rows in a plain run on a CPU."""


@pytest.mark.parametrize("name", tables.TABLES)
def test_nothing_is_wider_than_the_terminal(dump_of: DumpOf, name: str) -> None:
    dump = Dump(dump_of(_SAMPLE_OF[name]).dump)
    assert any(True for _ in tables.rows(name, Graphs(dump))) == (name not in _OF_OTHER_RUNS)

    for width in (40, 80, 200):
        text = shown(dump, name, width=width, limit=None)
        assert text.strip()
        assert all(cell_len(row) <= width for row in text.splitlines())


def test_several_graphs_are_told_apart(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)
    names = [found.graph for found in dump.graphs()]

    for table in ("nodes", "lowering", "kernels", "flops", "memory", "schedule", "wrapper", "realize"):
        everything = shown(dump, table, width=120, limit=2)
        assert all(name in everything for name in names)
        only = shown(dump, table, width=120, limit=2, graph=names[1])
        assert [name in only for name in names] == [False, True, False]


def test_rows_that_are_left_out_are_counted(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), *(node(f"n{index}") for index in range(7)))

    assert "… 4 more   show net nodes --all" in shown(dump, "nodes", width=80, limit=3, dump_argument="net")
    assert "… 4 more   show nodes --graph" in shown(dump, "nodes", width=80, limit=3, graph=GRAPH)
    assert "more" not in shown(dump, "nodes", width=80, limit=7)
    assert shown(dump, "nodes", width=80, names=("n3",)).count("placeholder") == 1


HOSTILE = "[red]\x1b[31mx\x1b[0m[/red]\x9b2J :smile:"
DEVICE = "cuda (NVIDIA H200, sm_90)"
"""One with a roof."""


FAILED = FailedGuard(
    compile_id=HOSTILE,
    condition=HOSTILE,
    what=HOSTILE,
    before=HOSTILE,
    after=HOSTILE,
    source=HOSTILE,
    value="1",
    where=at(1, HOSTILE),
    hint=HOSTILE,
)


def hostile_dump(root: Path) -> Dump:
    return made(
        root,
        Graph(graph=GRAPH, kind=HOSTILE, compile_id="0/0", name=HOSTILE),
        Frame(graph="0/0", function=HOSTILE, file=HOSTILE, line=1, status=HOSTILE, reason=HOSTILE),
        GraphBreak(graph="0/0", reason=HOSTILE, where=at(1, HOSTILE), hints=(HOSTILE,), stack=(at(1, HOSTILE),) * 2),
        Recompile(graph="0/0", function=HOSTILE, file=HOSTILE, line=1, reasons=(HOSTILE,)),
        Recompile(graph="0/1", function=HOSTILE, file=HOSTILE, line=1, reasons=(), failed=(FAILED,)),
        Skip(function=HOSTILE, file=HOSTILE, line=2, reason=HOSTILE, caller=at(1, HOSTILE)),
        Call(
            graph=HOSTILE,
            index=0,
            parent=None,
            stage=HOSTILE,
            function=HOSTILE,
            defined=HOSTILE,
            received=HOSTILE,
            returned=HOSTILE,
            note=HOSTILE,
        ),
        CacheLookup(graph="0/0", cache=HOSTILE, outcome=HOSTILE, reason=HOSTILE),
        KernelLookup(graph="0/0", cache=HOSTILE, kernel=HOSTILE, outcome=HOSTILE, key=HOSTILE),
        Guard(graph="0/0", kind=HOSTILE, source=HOSTILE, code=(HOSTILE,), where=at(1, HOSTILE)),
        Remark(kind=HOSTILE, code=HOSTILE, message=HOSTILE, knob=HOSTILE, where=HOSTILE),
        Timed(graph=HOSTILE, name=HOSTILE, start=1.0, seconds=2.0),
        Hook(probe=HOSTILE, target=HOSTILE, state="failed", reason=HOSTILE),
        Launched(graph=GRAPH, kernel=HOSTILE, line=101, device=HOSTILE, calls=2, timed=1, milliseconds=1.0, least=1.0),
        Checked(
            graph=GRAPH,
            call=1,
            index=0,
            kernel=HOSTILE,
            line=1,
            buffer=HOSTILE,
            node=HOSTILE,
            dtype=HOSTILE,
            reason=HOSTILE,
        ),
        NonFinite(
            graph=GRAPH,
            call=1,
            kind=HOSTILE,
            output=0,
            kernel=HOSTILE,
            buffer=HOSTILE,
            node=HOSTILE,
            value=HOSTILE,
            dtype=HOSTILE,
            operands=(Operand(node=HOSTILE, dtype=HOSTILE, value=HOSTILE, smallest=HOSTILE, largest=HOSTILE),),
        ),
        NonFinite(graph=GRAPH, call=1, kind="Inf", output=0, came_in=HOSTILE),
        Measuring(device=HOSTILE, how=HOSTILE, overhead=0.0),
        StepAccount(by=HOSTILE, steps=2, seconds=1.0, least=1.0, most=1.0, device=HOSTILE, busy=0.5),
        StepTime(kind=HOSTILE, what=HOSTILE, seconds=1.0, where=HOSTILE, region=HOSTILE, bound=HOSTILE),
        TrialRun(number=1, beside=1, words=HOSTILE, began=0.0, seconds=2.0, stages=(Spent(HOSTILE, 1.0),)),
        Tuned(
            step=Repeated(HOSTILE, HOSTILE, Place(HOSTILE, 1)),
            device=HOSTILE,
            seconds=1.0,
            noise=0.01,
            runs=3,
            steps=9,
            together=0.5,
            plus_minus=0.1,
            patch=HOSTILE,
        ),
        TriedChange(
            words=HOSTILE,
            changes=(Change("keyword", HOSTILE, HOSTILE, HOSTILE, (Place(HOSTILE, 1),)),),
            outcome=HOSTILE,
            gain=0.5,
            plus_minus=0.1,
            pairs=4,
            numbers=HOSTILE,
            why=HOSTILE,
        ),
        AotMetadata(graph=HOSTILE, inputs=(AotInput(name=HOSTILE),), outputs=(AotOutput(kind=HOSTILE),)),
        Artifact(graph=HOSTILE, name=HOSTILE, text=HOSTILE),
        Metrics(graph=HOSTILE, of=HOSTILE, values={HOSTILE: HOSTILE}),
        Settings(graph=HOSTILE, module=HOSTILE, values={HOSTILE: HOSTILE}),
        CudaGraph(graph=GRAPH, driver=HOSTILE, mode=HOSTILE, skipped=HOSTILE, where=HOSTILE),
        node(HOSTILE, HOSTILE, module=HOSTILE, where=at(1, HOSTILE)),
        lowered(HOSTILE, HOSTILE, result=HOSTILE, via=HOSTILE, flops=1, flops_kind="pointwise", buffers=(HOSTILE,)),
        operation(HOSTILE, reads={HOSTILE: 4}, writes={HOSTILE: 4}, nodes=(HOSTILE,), extern_kernel=HOSTILE),
        operation("op1", reads={HOSTILE: 4}, writes={"buf1": 4}, order=1),
        attempt("op1", HOSTILE, "refused", reason=HOSTILE, shared_bytes=4),
        kernel(HOSTILE, HOSTILE, nodes=(HOSTILE,), lines=(at(1, HOSTILE),), launches=(101,)),
        line(1, "launch", kernel=HOSTILE, arguments=(HOSTILE,)),
        line(2, "allocate", buffer=HOSTILE, bytes=4),
        ended(GRAPH, "failed", exception=HOSTILE),
        run=Run(
            status="raised",
            argv=(HOSTILE,),
            exception=HOSTILE,
            notes=(HOSTILE,),
            versions={"torch": HOSTILE},
            device=DEVICE,
        ),
    )


@pytest.mark.parametrize("name", tables.TABLES)
def test_text_of_a_dump_is_only_text(tmp_path: Path, name: str) -> None:
    """No markup is parsed, no emoji made, and no control character reaches the terminal."""
    dump = hostile_dump(tmp_path)
    if name == "ranks":
        hostile_dump(tmp_path / "rank_0")
        made(tmp_path / "rank_1", run=Run(status=HOSTILE))
    if name == "replays":
        hostile = Run(status="raised", replay_of=GRAPH, target=HOSTILE, config={HOSTILE: HOSTILE}, exception=HOSTILE)
        made(tmp_path / "replay_1", Remark(kind="analysis", code="replay-by-device", message=HOSTILE), run=hostile)
    if name == "origin":
        hostile = Run(status="finished", origin=TORCH_TRACE)
        dump = made(tmp_path / "log", OriginRecords(what=HOSTILE, count=1, became=HOSTILE), run=hostile)
    text = shown(dump, name, width=300)

    assert "[red]x[/red]" in text
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert ":smile:" in text


def test_colour_is_for_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = made(tmp_path, graph(), ended(GRAPH))
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in shown(dump, "summary", width=80, color=True)

    monkeypatch.setenv("NO_COLOR", "1")
    coloured = shown(dump, "summary", width=80, color=True)
    assert not any(f"\x1b[{code}m" in coloured for code in range(30, 50))


def test_the_summary_leads_to_its_evidence(dump_of: DumpOf) -> None:
    """Each command that it tells is one that works."""
    from inspect_compile.analysis.lookup.graphs import find_graph
    from inspect_compile.tables.lookup_text import only

    dump = Dump(dump_of("training_step").dump)

    rows = shown(dump, "summary", width=160).splitlines()
    told = [row.partition("show ")[2].split() for row in rows if "show " in row]
    forms = [words[1:] for words in told if words[0] == "TABLE"]
    named = [row.split()[-1] for row in rows if row.startswith(" ") and row.split()[-1] in tables.TABLES]
    told = [words for words in told if words[0] != "TABLE"] + [[table, *form] for form in forms for table in named]

    assert {words[0] for words in told} >= {"dynamo", "kernels", "nodes", "flops", "traffic", "memory"}
    for words in told:
        graph_name = only(find_graph(dump, words[words.index("--graph") + 1])).graph if "--graph" in words else None
        names = tuple(words[1 : words.index("--graph")] if "--graph" in words else words[1:])
        if "--kinds" in names:
            continue
        text = shown(dump, words[0], width=160, graph=graph_name, names=names)
        assert len(text.splitlines()) > 1
        assert "no such pair" not in text


@pytest.mark.parametrize(
    ("facts", "run", "told"),
    [
        ((), Run(status="finished", tables={}), ("No graph was compiled", "torch.compile was never called")),
        ((), Run(status="running", pid=1), ("still runs",)),
        (
            (CacheLookup(graph="0/0", cache="fx_graph", outcome="hit"),),
            Run(status="finished", cache="keep"),
            ("from torch's caches", "run without --cache keep"),
        ),
        (
            (
                Frame(
                    graph="0/0", function="f", file="a.py", line=1, status="failed", reason="InvalidCxxCompiler: none"
                ),
            ),
            Run(status="raised", exception="InvalidCxxCompiler: none"),
            ("the program ended with InvalidCxxCompiler", "install a C++ compiler"),
        ),
        (
            (Frame(graph="0/0", function="f", file="a.py", line=1, status="skipped"),),
            Run(status="finished", notes=("said by the run",)),
            ("Dynamo looked at 1 frame", "said by the run"),
        ),
    ],
)
def test_a_dump_without_graphs_says_why(
    tmp_path: Path, facts: tuple[Frame, ...], run: Run, told: tuple[str, ...]
) -> None:
    text = shown(made(tmp_path, *facts, run=run), "summary", width=120)

    assert all(words in text for words in told)


def test_a_failed_graph_claims_nothing(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), node("relu", "aten.relu.default"), ended(GRAPH, "failed", exception="OSError: disk"))

    text = shown(dump, "summary", width=120)

    assert "did not compile: OSError: disk" in text
    assert "accounted" not in text
    assert "peak" not in text
