"""Public reports: `numerics` calls wrong what is wrong, blames what is to blame, and calls right what is right.

The long form runs each program alone, and prints how often a wrong program was called right and the other way round.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest
import torch

from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import CALL
from inspect_compile.knowledge.numerics.verdicts import WRONG as ACCUSED
from tests.reports.reports import (
    KERNEL,
    KINDS,
    PUZZLING,
    RELEASE,
    REPORTS,
    RIGHT,
    WRONG,
    WRONG_RESULTS,
    Report,
)
from tests.running import COMMAND, plain, run

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
SHORT: Final = {198094, 195320, 193661, 197895, 197108, 191821, 192905, 158643}
"""Two passes, two kernels, nothing to reduce, Dynamo; right: nested regions, random numbers."""
ANSWERED, ELSEWHERE, NOT_COMPARED = "answered", "blamed elsewhere", "not compared"
ALL_CLEAR, ALARM, ERROR = "false all-clear", "false alarm", "error"

of_this_release = pytest.mark.skipif(
    ".".join(torch.__version__.split(".")[:2]) != RELEASE, reason="what is true of each report is known of one release"
)


class Said(NamedTuple):
    """What `numerics` has to say of one program."""

    status: int
    rows: Sequence[Judged]


def program(report: Report) -> Path:
    return PROGRAMS / f"{report.program}.py"


def named(reports: Iterable[Report]) -> pytest.MarkDecorator:
    """The parameter `report`."""
    return pytest.mark.parametrize("report", reports, ids=lambda report: report.program)


def blamed(said: Said) -> Judged | None:
    """What makes the first wrong result; the whole call only if nothing else is wrong."""
    wrong = [row for row in said.rows if row.verdict == ACCUSED]
    return next(iter([row for row in wrong if row.level != CALL] or wrong), None)


def is_to_blame(report: Report, row: Judged | None) -> bool:
    """`row` has the level, the name and the line of `report`."""
    if row is None or (row.level or KERNEL) not in report.levels:
        return False
    line = row.where.code if row.where is not None else ""
    return row.level != "" or (report.names in f"{row.kernel} {row.node}" and report.line in line)


def outcome(report: Report, said: Said) -> str:
    """What is to be said of what was said."""
    if said.status in report.statuses:
        return ANSWERED if not report.is_wrong or is_to_blame(report, blamed(said)) else ELSEWHERE
    return {0: ALL_CLEAR, 1: ALARM, 3: NOT_COMPARED}.get(said.status, ERROR)


def files(frame: Frame) -> Iterator[str]:
    """That of a frame, and those it is called from."""
    yield frame.file
    place = frame.caller
    while place is not None:
        yield place.file
        place = place.caller


def by_program(dump: Dump) -> dict[str, list[Judged]]:
    """The checked results of each program that ran in one process."""
    programs: dict[str, str] = {}
    for frame in dump.rows(Frame):
        for file in files(frame):
            if Path(file).parent.name == PROGRAMS.name:
                programs.setdefault(frame.graph, Path(file).stem)
    compiled = {graph.graph: graph.compile_id or "" for graph in dump.outermost()}
    found: dict[str, list[Judged]] = {}
    for row in judged(Graphs(dump)):
        found.setdefault(programs.get(compiled.get(row.graph.partition("/")[0], ""), ""), []).append(row)
    return found


@pytest.fixture(scope="module")
def tally(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """How often each outcome was seen; it is printed at the end."""
    seen: Counter[str] = Counter()
    yield seen
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None and seen:
        words = ", ".join(f"{seen[word]} {word}" for word in (ALL_CLEAR, ALARM, ELSEWHERE, NOT_COMPARED, ERROR))
        reporter.write_line(f"\nreports: {seen[ANSWERED]} of {seen.total()} answered; {words}")


def test_the_table_is_the_folder() -> None:
    """Sixty reports, half of them about wrong results, twenty that still fail; each program says which it is after."""
    assert sorted(report.program for report in REPORTS) == sorted(path.stem for path in PROGRAMS.glob("*.py"))
    for report in REPORTS:
        first = program(report).read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith(f"# after {report.tracker}#{report.number}: "), report.program
        assert not report.line or report.line in program(report).read_text(encoding="utf-8")
    assert len(REPORTS) >= 60
    assert sum(report.kind == WRONG_RESULTS for report in REPORTS) >= len(REPORTS) / 2
    assert len(WRONG) >= 20
    assert all(report.is_wrong for report in WRONG)
    assert not any(report.is_wrong for report in (*RIGHT, *PUZZLING))
    assert {report.kind for report in REPORTS} == set(KINDS)
    assert {report.number for report in REPORTS} >= SHORT


def check_truth(reports: Sequence[Report], where: Path, cache: Path) -> None:
    """Each program's function, as it is and compiled, differs as the table says."""
    reports = [report for report in reports if "def inputs(" in program(report).read_text(encoding="utf-8")]
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(cache)}
    done = plain([HERE / "witness.py", *map(program, reports)], where, environment=environment)
    seen = {row["program"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert {name: tuple(row["differs"]) for name, row in seen.items()} == {
        report.program: tuple(sorted(report.differs)) for report in reports
    }, done.stderr
    assert not [row for row in seen.values() if "eager" in row]


@of_this_release
def test_what_is_true_of_a_few(tmp_path: Path, inductor_cache: Path) -> None:
    check_truth([report for report in REPORTS if report.number in SHORT], tmp_path, inductor_cache)


@pytest.mark.harmless
@of_this_release
@pytest.mark.parametrize("at", range(6))
def test_what_is_true(at: int, tmp_path: Path, inductor_cache: Path) -> None:
    check_truth(REPORTS[at::6], tmp_path, inductor_cache)


@of_this_release
def test_a_few_are_answered(tmp_path: Path, inductor_cache: Path, tally: Counter[str]) -> None:
    """In one process, where a program has no exit status of its own."""
    reports = [report for report in REPORTS if report.number in SHORT]
    programs = [report.program for report in reports]
    words: list[str | Path] = [*COMMAND, "numerics", "--eager", "--dump", "dump", HERE / "several.py", *programs]

    done = run(words, tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})

    assert done.returncode == 1, done.stderr
    rows = by_program(Dump(tmp_path / "dump"))
    said = {
        one: Said(int(any(row.verdict == ACCUSED for row in rows[one.program])), rows[one.program]) for one in reports
    }
    outcomes = {report.program: outcome(report, said[report]) for report in reports}
    tally.update(outcomes.values())
    assert outcomes == dict.fromkeys(outcomes, ANSWERED)


@pytest.mark.harmless
@of_this_release
@named(report for report in (*WRONG, *RIGHT) if report.kind == WRONG_RESULTS)
def test_each_is_answered(report: Report, tmp_path: Path, inductor_cache: Path, tally: Counter[str]) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run(
        [*COMMAND, "numerics", *report.options, "--dump", "dump", program(report)], tmp_path, environment=environment
    )

    dump = Dump(tmp_path / "dump")
    said = outcome(report, Said(done.returncode, list(judged(Graphs(dump)))))
    tally[said] += 1
    assert said == ANSWERED, done.stderr
