"""A disk that gets full, a dump that is removed while it is written, no descriptor to write with.

The program goes on, and what is there opens.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Frame, Hook, Kernel, Operation
from inspect_compile.tables import TABLES
from tests.disks import small_disk
from tests.harmless.harness import EVERYWHERE, Case, Outcome, Place, difference
from tests.running import COMMAND, run

FAULTY = Path(__file__).parent / "faulty"

TEMPORARY = (r"/\.\d+\.\w+\.tmp",)
"""Names of torch's temporary files: of the process and its thread."""


def check_tables(dump: Dump) -> None:
    """All of them can be shown, none is torn, and there is something in them."""
    for table in TABLES:
        shown = run([*COMMAND, "show", dump.root, table], dump.root)
        assert (shown.returncode, shown.stderr) == (0, ""), table
    assert dump.rows(Frame)
    assert dump.damaged == 0


@pytest.mark.harmless
@pytest.mark.parametrize("kilobytes", [32, 200])
def test_a_full_disk(kilobytes: int, place: Place, plain: Outcome, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", kilobytes) as disk:
        watched = place.inspected(EVERYWHERE, ("--dump", str(disk / "dump")))

        assert difference(plain, watched) == ""
        assert any("No space left on device" in line for line in watched.said)
        check_tables(open_dump(disk / "dump"))


@pytest.mark.harmless
def test_a_dump_that_is_removed_while_it_is_written(place: Place, plain: Outcome) -> None:
    environment = {"PYTHONPATH": str(FAULTY), "HARMLESS_REMOVES": Operation.table}
    watched = place.inspected(replace(EVERYWHERE, environment=environment))

    assert difference(plain, watched) == ""
    dump = open_dump(place.dump)
    check_tables(dump)
    assert any("was removed while the program ran" in note for note in dump.run.notes)
    assert any("was removed while the program ran" in line for line in watched.said)
    backward = next(graph.graph for graph in dump.graphs() if graph.kind == "backward")
    assert dump.rows(Operation, backward)
    assert dump.rows(Kernel, backward)


def without_descriptors(place: Place, limit: str, until: str) -> tuple[Outcome, Dump]:
    """The program that uses up all descriptors, compared with itself alone: its outcome, and what was written."""
    case = Case("has_no_descriptors.py", ("has_no_descriptors.py", limit, until), by_chance=TEMPORARY)
    plain, watched = place.twice(case)
    assert difference(plain, watched) == ""
    assert "Too many open files" in plain.stdout
    dump = open_dump(place.dump)
    assert (dump.run.status, dump.damaged) == ("finished", 0)
    assert [hook for hook in dump.rows(Hook) if hook.state == "failed"] == []
    return watched, dump


def test_no_descriptor_to_the_end(place: Place) -> None:
    """What was pending is not in the dump; the last line says so, and run.json, which another process wrote."""
    watched, dump = without_descriptors(place, "hard", "end")
    told = watched.said[-1]
    assert told.startswith(
        f"inspect-compile: could not write below {place.dump}: Too many open files; aot.jsonl, artifacts.jsonl, "
    )
    assert told.endswith(" more are incomplete or missing")
    assert dump.run.notes == (told.removeprefix("inspect-compile: "),)
    assert dump.rows(Frame)


@pytest.mark.harmless
@pytest.mark.parametrize(
    ("limit", "until"), [("hard", "while"), ("soft", "while"), ("soft", "end"), ("soft", "end-generated")]
)
def test_no_descriptor_for_a_while(limit: str, until: str, place: Place) -> None:
    """Everything is written once there is one again: the program frees some, or its limit is raised at the end."""
    watched, dump = without_descriptors(place, limit, until)
    assert not any("Too many open files;" in line for line in watched.said)
    assert not any("could not write" in note for note in dump.run.notes)
    assert len(dump.rows(Frame)) >= (2 if until == "end" else 3)
