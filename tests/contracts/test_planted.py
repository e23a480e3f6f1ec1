"""Planted regressions: each is caught, with the metric that says what it is first, and annotated at the right line."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspect_compile.analysis.lock.check import Change, check
from inspect_compile.analysis.lock.contract import contract
from inspect_compile.analysis.lock.rules import DEFAULT, parsed
from inspect_compile.dump import Dump
from tests.conftest import run_once
from tests.contracts.planted import PLANTED, Planted
from tests.running import plain

RECORD_ALL = Path(__file__).parent / "programs" / "record_all.py"
QUICK = ("print", "dynamic shape lost", "cumsum", "copy of a transpose")
"""Those that every run of the tests makes."""
Check = Callable[[Planted], list[Change]]


@pytest.fixture(scope="session")
def checked(request: pytest.FixtureRequest, shared_folder: Path, inductor_cache: Path) -> Check:
    """Both programs of each regression that is wanted, recorded in one process."""
    calls = (getattr(item, "callspec", None) for item in request.session.items)
    wanted = [call.params["planted"].name for call in calls if call is not None and "planted" in call.params]
    folder = shared_folder / "planted"

    def record(place: Path) -> subprocess.CompletedProcess[str]:
        for one in PLANTED:
            for side, sign in (("before", "-"), ("after", "+")):
                own = place / one.name / side
                own.mkdir(parents=True)
                (own / "program.py").write_text(one.program(sign))
        environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
        return plain([RECORD_ALL, place, *wanted], place, environment=environment)

    def checked(one: Planted) -> list[Change]:
        done = run_once(folder, record)
        assert done.returncode == 0, done.stderr
        before, after = (
            contract(Dump(folder / one.name / side / "dump"), root=str(folder / one.name / side))
            for side in ("before", "after")
        )
        return [change for change in check(before.lock, after, parsed(DEFAULT)).changes if not change.follows]

    return checked


def cases() -> list[object]:
    marks = {True: (), False: (pytest.mark.harmless,)}
    return [pytest.param(one, id=one.name, marks=marks[one.name in QUICK]) for one in PLANTED]


@pytest.mark.parametrize("planted", cases())
def test_it_is_caught_at_its_line(planted: Planted, checked: Check) -> None:
    first = checked(planted)[0]
    assert first.metric == planted.metric
    assert first.where is not None
    assert (Path(first.where.file).name, first.where.line) == ("program.py", planted.line)


def test_there_are_forty() -> None:
    assert len({one.name for one in PLANTED}) == len(PLANTED) >= 40
    assert {*QUICK} <= {one.name for one in PLANTED}
