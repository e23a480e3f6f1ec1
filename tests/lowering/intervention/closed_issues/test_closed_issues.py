"""What `numerics` says of programs of closed issues is what the maintainers said."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.numerics.verdicts import Judged, judged, summary
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import CALL
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.lowering.intervention.closed_issues.issues import ISSUES, KERNEL, RELEASES
from tests.running import COMMAND, run

PROGRAMS = Path(__file__).parent / "programs"
RELEASE = ".".join(torch.__version__.split(".")[:2])
ALONE = {190765}
"""Their kernels read what is not theirs: each has a process of its own."""
PART = 2


def checked(where: Path, cache: Path, *words: str) -> Dump:
    """The dump of `several.py WORDS`."""
    command = (*COMMAND, "numerics", "--eager", "--dump", "dump", PROGRAMS / "several.py")
    done = run([*command, *words], where, environment={"TORCHINDUCTOR_CACHE_DIR": str(cache)})
    assert done.returncode in (0, 1), done.stderr
    dump = Dump(where / "dump")
    assert summary(Graphs(dump)).trouble == ()
    assert "failed" not in done.stdout, done.stderr
    return dump


def rows_of(dump: Dump) -> dict[int, list[Judged]]:
    """The checked results of each program."""
    program: dict[str, int] = {}
    for frame in dump.rows(Frame):
        for file in (frame.file, frame.caller.file if frame.caller is not None else ""):
            if Path(file).stem.startswith("issue_"):
                program.setdefault(frame.graph, int(Path(file).stem.removeprefix("issue_")))
    compiled = {graph.graph: graph.compile_id or "" for graph in dump.outermost()}
    found: dict[int, list[Judged]] = {}
    for row in judged(Graphs(dump)):
        found.setdefault(program[compiled[row.graph]], []).append(row)
    return found


def blamed(rows: Sequence[Judged]) -> str:
    """What makes the first wrong result; the whole call only if nothing else is wrong."""
    wrong = [row for row in rows if row.verdict == WRONG]
    wrong = [row for row in wrong if row.level != CALL] or wrong
    return (wrong[0].level or KERNEL) if wrong else ""


def parts(numbers: Collection[int]) -> list[list[int]]:
    """Those that are run in one process: what they have in common, as importing torch, takes longer than most."""
    together = [number for number in numbers if number not in ALONE]
    return [[number] for number in numbers if number in ALONE] + [
        together[at : at + PART] for at in range(0, len(together), PART)
    ]


@pytest.mark.skipif(RELEASE not in RELEASES, reason="what each program does is known of some releases")
@pytest.mark.parametrize("numbers", parts([issue.number for issue in ISSUES]), ids=lambda numbers: str(numbers[0]))
def test_the_verdict_is_the_maintainers(numbers: list[int], tmp_path: Path, inductor_cache: Path) -> None:
    rows = rows_of(checked(tmp_path, inductor_cache, *map(str, numbers)))

    expected = {issue.number: issue.blamed if RELEASE in issue.wrong_in else "" for issue in ISSUES}
    assert {number: blamed(rows[number]) for number in numbers} == {number: expected[number] for number in numbers}
