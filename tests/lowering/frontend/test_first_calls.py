"""The first call of each compiled graph is timed, and no call has a frame of ours on its stack."""

from pathlib import Path
from typing import Final

import pytest

from inspect_compile.analysis.frontend.startup import FIRST_CALLS, startup
from inspect_compile.dump import Dump
from inspect_compile.facts import FirstCall
from tests.running import inspected, plain

CACHES_OFF: Final = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
"""What is taken from a cache has other wrappers around it."""
PROGRAM: Final = Path(__file__).parents[1] / "programs" / "first_calls.py"


def test_the_first_call_that_returns_is_timed(tmp_path: Path) -> None:
    done = inspected([PROGRAM], tmp_path, environment=CACHES_OFF)
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump")
    rows = dump.rows(FirstCall)
    assert [(row.graph, row.part) for row in rows] == [
        ("0/0", "forward"),
        ("1/0", "forward"),
        ("1/0", "backward"),
        ("2/0", "forward"),
    ]
    assert all(0 < row.seconds < 60 for row in rows)
    found = startup(dump)
    assert found is not None
    lane = next(lane for lane in found.lanes if lane.lane == FIRST_CALLS)
    assert lane.seconds == pytest.approx(sum(row.seconds for row in rows), abs=1e-6)

    alone = plain([PROGRAM], tmp_path, environment=CACHES_OFF)
    assert done.stdout == alone.stdout
    assert "['<module>', " in alone.stdout
    assert "partial" not in alone.stdout.splitlines()[-1]
