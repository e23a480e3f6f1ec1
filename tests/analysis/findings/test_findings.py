"""Findings of real programs: each kind that a CPU can show, at its line, with the cost that other tables tell."""

import re
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.roofline import roofline
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.kernels.launch_times import measured
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Recompile
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.cost.sure import ESTIMATED, TIMED
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.overview.findings import WORDS
from inspect_compile.knowledge.targets.host import Host, cpu_name, keep
from tests.conftest import SAMPLES, DumpOf
from tests.running import inspected

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "to_do.py"
LINES = {
    text.split("  # ")[1]: number
    for number, text in enumerate(PROGRAM.read_text("utf-8").splitlines(), 1)
    if "  # " in text
}
LAYERS = 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    folder = tmp_path_factory.mktemp("to_do")
    done = inspected([PROGRAM], folder, options=["--dump", folder / "dump", "--measure"])
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


@pytest.fixture
def known_roof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU of 10 GB/s."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    keep(Host(cpu_name(), 2, "2026-05-01", "2.13.0", 1e10, {"float32": 1e11, "float64": 5e10}))


def of_kind(dump: Dump, kind: str) -> list[Finding]:
    return [row for row in findings(Graphs(dump)) if row.kind == kind]


def line(found: Finding) -> int:
    where = found.parts[0].where
    assert where is not None
    own = own_line(where)
    assert own is not None
    return own.line


def test_a_graph_break_says_what_each_call_loses_and_no_time_of_compiling(recorded: Dump) -> None:
    (found,) = of_kind(recorded, "graph-break")

    assert line(found) == LINES["breaks"]
    rest = {row.graph for row in recorded.rows(Frame) if "resume_in" in row.function}
    assert rest
    assert set(found.names[1:]) == rest
    assert found.seconds is None
    assert "cannot be fused" in found.each_call
    assert "print" in found.why


def _seconds(dump: Dump, compiles: set[str]) -> float:
    """Of these compiles, by Dynamo's own clock, which stops a little before the timer around it."""
    return sum(row.seconds for row in dump.rows(Frame) if row.graph in compiles)


def test_recompiles_of_one_function_are_one_finding(recorded: Dump) -> None:
    (found,) = of_kind(recorded, "recompile")

    assert found.count == len(recorded.rows(Recompile)) == 2
    ids = {row.graph for row in recorded.rows(Recompile)}
    assert found.seconds == pytest.approx(_seconds(recorded, ids), rel=0.05)
    assert found.why.startswith("times, in 2 of 2: 2 → 3 → 4")
    assert line(found) in range(LINES["is compiled again"], LINES["is compiled again"] + 2)


def test_one_copy_in_each_layer_is_one_finding_that_costs_all_of_them(recorded: Dump) -> None:
    (found,) = of_kind(recorded, "copy")

    assert line(found) == LINES["copies"]
    assert [part.operator for part in found.parts] == ["clone"]
    copies = [
        (graph.graph, row)
        for graph in recorded.outermost()
        if graph.kind != "backward"
        for row in CompiledGraph(recorded, graph.graph).traffic.all()
        if "clone" in row.kernel and not row.kernel.startswith("extern")
    ]
    assert found.count == len(copies) >= LAYERS
    assert found.bytes == sum(row.least for _, row in copies)
    times = measured(Graphs(recorded))
    spent = [times[row.graph, row.kernel, row.line].milliseconds / 1e3 for _, row in copies]
    assert found.seconds == pytest.approx(sum(spent))
    assert (found.sure, found.calls) == (TIMED, 2), "of three calls the first does not count"


def test_an_operator_without_code_is_found_and_one_that_a_library_should_run_is_not(recorded: Dump) -> None:
    (found,) = of_kind(recorded, "fallback")

    assert line(found) == LINES["has no code"]
    assert found.parts[0].operator == "mine::scale"
    assert found.is_bound
    assert found.seconds is not None


def test_the_most_expensive_stands_first_whatever_its_kind(recorded: Dump) -> None:
    found = findings(Graphs(recorded))

    assert found[0].kind == "graph-break"  # what it costs is not known
    seconds = [row.seconds or 0.0 for row in found if row.kind != "graph-break"]
    assert seconds == sorted(seconds, reverse=True)
    assert {row.kind for row in found} >= {"graph-break", "recompile", "copy", "fallback"}
    assert all(row.what in {words.what for words in WORDS.values()} for row in found)


def test_the_demo_has_one_missed_fusion_which_its_user_can_mend(dump_of: DumpOf) -> None:
    """`make demo` tells of it in the overview, and ends on the `why` of this pair."""
    recipe = (SAMPLES.parent / "Makefile").read_text(encoding="utf-8")

    (found,) = findings(Graphs(Dump(dump_of("missed_fusion").dump)))

    assert (found.kind, found.knob) == ("missed-fusion", "")
    assert found.bytes == 1024 * 512 * 4
    lines = [part.where.line for part in found.parts if part.where is not None]
    assert lines == [int(line) for line in re.findall(r"\$\(SAMPLE\):(\d+)", recipe)]


def test_gradients_of_biases_and_norms_are_missed_fusions_that_nobody_can_act_on(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)

    assert any(fusion(CompiledGraph(dump, graph.graph)).apart for graph in dump.outermost())
    assert of_kind(dump, "missed-fusion") == []


def test_a_copy_that_was_not_measured_costs_what_the_roofline_says(
    recorded: Dump, known_roof: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspect_compile.analysis.findings.costs.measured", lambda dump: {})
    roof = roof_of(recorded)
    assert roof is not None

    (found,) = of_kind(recorded, "copy")

    graphs = [graph.graph for graph in recorded.outermost() if graph.kind != "backward"]
    rows = [row for graph in graphs for row in roofline(CompiledGraph(recorded, graph), roof)]
    least = [row.least_seconds for row in rows if "clone" in row.kernel and not row.kernel.startswith("extern")]
    assert found.seconds == pytest.approx(sum(least))
    assert found.sure == ESTIMATED


def test_a_pair_with_a_library_call_between_is_no_finding(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("attention_block").dump)

    (graph,) = dump.outermost()
    assert fusion(CompiledGraph(dump, graph.graph)).apart
    assert of_kind(dump, "missed-fusion") == []
    assert of_kind(dump, "fallback") == []


def test_the_findings_of_one_graph(recorded: Dump) -> None:
    forward = next(graph for graph in recorded.outermost() if graph.kind == "forward")

    kinds = {row.kind for row in findings(Graphs(recorded, forward.graph))}
    assert "copy" in kinds
    assert "recompile" not in kinds
