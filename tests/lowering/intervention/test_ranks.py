"""Kernels around a collective: a mistake of one rank is found on that rank alone, and keeps no other waiting."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import ALL_PASSES
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, WRONG
from tests.running import COMMAND, run

RANKS: Final = Path(__file__).parent / "programs" / "ranks.py"
BEFORE: Final = "cpp_fused_all_reduce_mul_tanh_0"
BEHIND: Final = "cpp_fused_sin_sub_1"
COLLECTIVES: Final = [f"torch.ops._c10d_functional.{name}.default" for name in ("all_reduce_", "wait_tensor")]
Checked = Callable[[str], tuple[list[Judged], list[Judged]]]


@pytest.fixture
def checked(tmp_path: Path, inductor_cache: Path) -> Checked:
    """Runs the program, with a mistake on rank 1; gives what was compared on each rank."""

    def ran(where: str) -> tuple[list[Judged], list[Judged]]:
        environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "OMP_NUM_THREADS": "1"}
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        words: list[str | Path] = [*COMMAND, "numerics", "--dump", "dump", "--", *torchrun, RANKS, where]
        done = run(words, tmp_path, environment=environment)
        assert done.returncode == 1, done.stderr
        assert "unwaited collective" not in done.stderr
        first, second = (list(judged(Graphs(Dump(tmp_path / "dump" / f"rank_{rank}")))) for rank in (0, 1))
        return first, second

    return ran


@pytest.mark.parametrize(("where", "kernel"), [("before", BEFORE), ("behind", BEHIND)])
def test_a_mistake_in_the_code(where: str, kernel: str, checked: Checked) -> None:
    ranks = checked(where)

    for rows in ranks:
        launches = [row for row in rows if row.kernel]
        assert list(dict.fromkeys(row.kernel for row in launches)) == [BEFORE, *COLLECTIVES, BEHIND]
        # What each launch is given is right, whatever another one wrote on this rank or on the other one.
        assert {row.verdict for row in launches if row.kernel in COLLECTIVES} == {EXACT}
        assert NOT_COMPARABLE not in {row.verdict for row in launches}
    assert [{row.kernel for row in rows if row.verdict == WRONG} for rows in ranks] == [set(), {kernel}]


def test_a_mistake_of_a_pass(checked: Checked) -> None:
    """Which pass made it is not looked for: the other rank would have to run the graphs between the passes, too."""
    first, second = checked("pass")

    assert [row for row in first if row.verdict == WRONG] == []
    (wrong,) = (row for row in second if row.verdict == WRONG)
    assert wrong.measured.level == ALL_PASSES
    assert wrong.node == "mul"
    # What lies behind the collective has no exact value, and is another one on both ranks.
    for rows in (first, second):
        (behind,) = (row for row in rows if row.verdict == NOT_COMPARABLE and row.measured.no_exact)
        assert behind.measured.level == ALL_PASSES
        assert behind.node == "sub"
        assert "takes part in a collective" in behind.measured.no_exact
