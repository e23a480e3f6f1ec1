"""`run --measure`: a time for each launch, and a program that notices nothing."""

from pathlib import Path

import pytest

from inspect_compile.analysis.kernels.launch_times import latest, measured, measuring
from inspect_compile.analysis.runtime.launch_plan import plans
from inspect_compile.analysis.runtime.measured import measured_by, measured_graph
from inspect_compile.codegen.runtime.measure import Turns
from inspect_compile.codegen.runtime.stopwatch import ALWAYS, SELDOM, Times
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Hook, Launched
from inspect_compile.graph import CompiledGraph, Graphs
from tests.private_names import astray
from tests.running import COMMAND, run

PROGRAM = Path(__file__).parents[1] / "programs" / "repeated.py"
CALLS = 6
TIMED = CALLS - 2
"""The first call is apart, and the last one belongs to the steps that are timed as a whole."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> dict[str, tuple[str, Dump]]:
    """What the program printed, and its dump: watched, and measured too."""
    found = {}
    for name, options in (("watched", ()), ("measured", ("--measure",))):
        dump = tmp_path_factory.mktemp(name) / "dump"
        result = run(
            [*COMMAND, "run", "--no-tui", *options, "--dump", dump, PROGRAM],
            tmp_path_factory.getbasetemp(),
            environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)},
        )
        assert result.returncode == 0, result.stderr
        found[name] = result.stdout, open_dump(dump)
    return found


@pytest.fixture(scope="module")
def dump(runs: dict[str, tuple[str, Dump]]) -> Dump:
    return runs["measured"][1]


def test_the_program_notices_nothing(runs: dict[str, tuple[str, Dump]]) -> None:
    (watched, plain), (printed, dump) = runs["watched"], runs["measured"]

    assert printed == watched
    assert len(printed.split()) == CALLS
    graphs = [graph.graph for graph in plain.graphs()]
    assert graphs == [graph.graph for graph in dump.graphs()]
    for graph in graphs:
        assert dump.text(graph, "output_code.py") == plain.text(graph, "output_code.py")
    assert plain.rows(Launched) == []
    assert astray(dump.rows(Hook)) == {}


def test_each_launch_of_the_plan_has_one_row(dump: Dump) -> None:
    (plan,) = plans(dump)
    found = measured_graph(CompiledGraph(dump, plan.graph))
    assert found is not None

    steps = [(step.launch.graph, step.launch.kernel.name, step.launch.line) for step in plan.steps]
    assert [(row.graph, row.what[0], row.line) for row in found.launches] == steps
    ran = [row for row in found.launches if row.calls]
    assert {row.calls for row in ran} == {CALLS}
    # Of two branches one ran.
    assert {row.graph.partition("/")[2] for row in found.launches if not row.calls} == {"false_graph_0"}
    assert set(measured(Graphs(dump))) == {(row.graph, row.what[0], row.line) for row in ran}
    assert any(row.what[0].startswith("torch.ops.aten.sort") for row in ran)
    assert any(row.what[0].startswith("extern_kernels.mm") for row in ran)


def test_launches_take_less_than_the_call(dump: Dump) -> None:
    rows = {(row.graph, row.what, row.kernel, row.line): row for row in dump.rows(Launched)}.values()
    (call,) = (row for row in rows if row.what == "call")
    launches = [row for row in rows if row.what == "launch"]

    assert call.calls == CALLS
    assert call.timed == TIMED
    others = [row for row in rows if row.what in ("memory", "checks")]
    assert 0 < sum(row.total for row in launches) < call.total
    (rest,) = (row for row in rows if row.what == "rest")
    parts = [row.least_in_call or 0.0 for row in (*launches, *others, rest)]
    assert 0 < sum(parts) <= (call.least or 0.0), "each is the least of all calls"
    assert 0 < (rest.least or 0.0) < (call.least or 0.0)
    assert (call.least_in_call, rest.calls) == (call.least, CALLS)
    assert {row.times_in_call for row in launches} == {1}
    assert sum(row.what == "memory" for row in others) == 1
    for row in launches:
        assert row.timed == TIMED
        assert 0 < (row.least or 0) <= (row.milliseconds or 0)
        assert (row.milliseconds or 0) * row.timed / 2 < row.total
    (own,) = measuring(dump)
    assert (own.device, own.how) == ("cpu", "clock")
    per_call = len(launches) + 1 + sum(row.calls for row in others) // CALLS
    assert own.timed == (TIMED + 1) * per_call


@pytest.mark.parametrize("by", ["kernel", "line", "module", "op"])
def test_sums_add_up(dump: Dump, by: str) -> None:
    (plan,) = plans(dump)
    whole = measured_graph(CompiledGraph(dump, plan.graph))
    assert whole is not None

    rows = measured_by(CompiledGraph(dump, plan.graph), by)  # type: ignore[arg-type]
    assert sum(row.milliseconds or 0 for row in rows) == pytest.approx(whole.milliseconds)
    assert sum(row.share or 0 for row in rows) == pytest.approx(1)
    assert sum(row.bytes or 0 for row in rows) == whole.bytes
    assert sum(row.launches for row in rows) == sum(row.calls > 0 for row in whole.launches)


def launched(source: str, folder: Path, cache: Path) -> list[Launched]:
    """What was timed of a program."""
    (folder / "program.py").write_text(source)
    result = run(
        [*COMMAND, "run", "--no-tui", "--measure", "--dump", folder / "dump", "program.py"],
        folder,
        environment={"TORCHINDUCTOR_CACHE_DIR": str(cache)},
    )
    assert result.returncode == 0, result.stderr
    return latest(open_dump(folder / "dump").rows(Launched))


OFTEN = """
import torch

f = torch.compile(lambda x: (x @ x).relu() @ x)
x = torch.ones(8, 8)
for _ in range(200):
    f(x)
"""


def test_after_the_first_calls_one_of_several_is_timed_and_all_are_counted(
    tmp_path: Path, inductor_cache: Path
) -> None:
    rows = {row for row in launched(OFTEN, tmp_path, inductor_cache) if row.what in ("launch", "call")}
    assert len(rows) == 4
    assert {row.calls for row in rows} == {200}
    # The first one is apart, 29 are parts of steps that are timed, profiled and looked at as a whole.
    assert {row.timed for row in rows} == {(ALWAYS - 1 - 29) + (200 - ALWAYS) // SELDOM}


APART = """
import time
import torch


@torch.compile
def f(x):
    y = x.sin().sum(0)
    torch._dynamo.graph_break()
    return y.cos()


x = torch.randn(64, 64, requires_grad=True)
for _ in range(6):
    time.sleep(0.25)
    f(x).sum().backward()
"""


def test_what_goes_by_before_the_generated_code_is_not_the_programs_own_time(
    tmp_path: Path, inductor_cache: Path
) -> None:
    """From the call of the compiled function on: the program sleeps before that, and calls take less than it sleeps."""
    rows = launched(APART, tmp_path, inductor_cache)
    before = {row.graph: row for row in rows if row.what == "before"}
    assert before.keys() == {row.graph for row in rows if row.what == "call"}
    assert sum("backward" in graph for graph in before) == 2
    assert len(before) == 4
    for row in before.values():
        assert row.calls >= 5
        assert 0 < (row.least or 0) <= (row.milliseconds or 0)
        assert (row.least or 0) < 250, "milliseconds"
    rest = {row.graph: row for row in rows if row.what == "rest"}
    call = {row.graph: row for row in rows if row.what == "call"}
    assert all(0 <= (rest[graph].least or 0) < (call[graph].least or 0) for graph in before), "no part of the call"


def test_another_dump_begins_with_calls_that_are_counted_anew() -> None:
    turns = Turns(lambda: None)
    times = Times("g", "launch", "k", 1, "cpu", turns=turns)
    turns.timed, turns.left_out, times.calls = 64, 640, 64
    assert times.fact().calls == 704
    turns.forget()
    times.forget()
    turns.timed = times.calls = 3
    assert times.fact().calls == 3
