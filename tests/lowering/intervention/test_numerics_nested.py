"""`numerics` on graphs nested in others, on steps that no FX node has the value of, and on frozen weights."""

from pathlib import Path

import pytest

from inspect_compile.analysis.numerics.verdicts import Judged, judged, summary
from inspect_compile.commands.numerics import NOT_COMPARED
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE
from tests.running import COMMAND, run

PROGRAMS = Path(__file__).parent / "programs"


def checked(program: str, tmp_path: Path, inductor_cache: Path, status: int = 0) -> tuple[Dump, list[Judged]]:
    """The dump of a check in which nothing may be wrong, which ends with `status`, and its results of launches."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*COMMAND, "numerics", "--dump", "dump", PROGRAMS / program], tmp_path, environment=environment)
    assert done.returncode == status, done.stderr
    dump = Dump(tmp_path / "dump")
    assert summary(Graphs(dump)).trouble == ()
    return dump, [row for row in judged(Graphs(dump)) if not row.level]


def test_each_run_of_a_nested_graph_is_compared(tmp_path: Path, inductor_cache: Path) -> None:
    _, rows = checked("nested.py", tmp_path, inductor_cache)

    runs: dict[str, list[int]] = {}
    for row in rows:
        if row.verdict != NOT_COMPARABLE:
            runs.setdefault(row.graph.partition(".")[2], []).append(row.measured.turn)
    assert {name.rpartition("/")[2]: sorted(set(found)) for name, found in runs.items() if "/" in name} == {
        "true_graph_0": [1],
        "true_graph_0_false_graph_0": [1],
        "while_loop_cond_graph_0": list(range(1, 17)),
        "while_loop_body_graph_0": list(range(1, 17)),
        "repeated_subgraph0": [1, 2],
    }
    left = [row for row in rows if row.verdict == NOT_COMPARABLE]
    assert {row.reason for row in left} == {"it belongs to a nested graph that ran 16 times before in the call"}
    assert {row.measured.turn for row in left} == {17, 18, 19, 20, 21}


def test_frozen_weights(tmp_path: Path, inductor_cache: Path) -> None:
    # Freezing compiles another graph than Dynamo's, with which nothing is compared.
    dump, rows = checked("frozen.py", tmp_path, inductor_cache, status=NOT_COMPARED)

    found = summary(Graphs(dump))
    assert found.compared == found.results > 4
    assert any("mkldnn" in row.kernel for row in rows)
    assert any("mkl_linear" in row.kernel for row in rows)
    assert any(row.measured.is_step for row in rows)


@pytest.mark.harmless
def test_values_of_one_kernel_are_those_that_the_next_one_gets(tmp_path: Path, inductor_cache: Path) -> None:
    _, rows = checked("stepped.py", tmp_path, inductor_cache)

    assert not any(row.measured.unforced for row in rows)
    assert sum(row.measured.is_step for row in rows) >= 4
    assert NOT_COMPARABLE not in {row.verdict for row in rows}
