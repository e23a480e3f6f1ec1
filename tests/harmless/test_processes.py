"""Processes that a program's own are forked from, or that outlive it: what they compile has a part of the dump each."""

import pytest

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Frame
from tests.harmless.harness import Case, Place, difference, unharmed

LOADED = ("torch", "torch._inductor.compile_fx")


@pytest.mark.harmless
@pytest.mark.parametrize("loaded", [(), LOADED], ids=["nothing", "torch"])
def test_a_fork_server(loaded: tuple[str, ...], place: Place) -> None:
    """With and without torch in the server: each of its processes says at its end that it has ended."""
    parts = unharmed(place, Case("serves_forks.py", ("serves_forks.py", *loaded)))
    compiled = [part for part in parts if part.rows(Frame)]
    assert [part.run.status for part in compiled] == ["finished"] * len(compiled)
    assert len(compiled) >= 5
    assert all(part.graphs() for part in compiled)


@pytest.mark.harmless
@pytest.mark.parametrize("who", ["nobody", "parent"])
def test_a_daemon(who: str, place: Place) -> None:
    case = Case("daemon.py", ("daemon.py", who))
    plain, watched = place.plain(case), place.inspected(case)
    assert difference(plain, watched) == ""
    first = open_dump(place.dump)
    assert bool(first.rows(Frame)) == (who == "parent")
    (part,) = (Dump(path) for path in first.other_processes)
    assert (part.run.status, part.damaged) == ("finished", 0)
    assert part.graphs()
    assert part.run.pid != first.run.pid
