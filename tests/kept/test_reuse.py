"""`--cache auto`: a warm run is told as fully as the cold one was, and no program notices."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, Graph, Hook, Node, Remark
from tests.disks import small_disk
from tests.kept.same_tables import differences
from tests.running import COMMAND, inspected, plain, run, settle, without_last_words

PROGRAM = Path(__file__).parent / "programs" / "trains.py"
AUTO = ["--cache", "auto"]


class Place(NamedTuple):
    """A program, torch's cache and ours, and the dumps of its runs."""

    folder: Path

    @property
    def script(self) -> Path:
        return self.folder / "trains.py"

    @property
    def kept(self) -> Path:
        return self.folder / "kept"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor"),
            "INSPECT_COMPILE_CACHE_DIR": str(self.kept),
        }

    def run(self, name: str, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
        done = inspected(
            [self.script],
            self.folder,
            options=["--dump", self.folder / name, *(options or AUTO)],
            environment={**self.environment, **more},
        )
        assert done.returncode == 0, done.stderr
        return done

    def outcomes(self, name: str) -> list[tuple[str, str, str | None]]:
        rows = Dump(self.folder / name).rows(CacheLookup)
        return [(row.cache, row.outcome, row.reason) for row in rows if row.cache == "aot_autograd"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Recorded by two processes at once that find nothing, and by one that finds all."""
    found = Place(tmp_path_factory.mktemp("auto"))
    shutil.copy(PROGRAM, found.script)
    words = [*COMMAND, "run", "--no-tui", *AUTO, "--dump"]
    environment = {**os.environ, **found.environment}
    together = [
        subprocess.Popen(
            [*words, str(found.folder / name), str(found.script)],
            cwd=found.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("cold", "beside")
    ]
    for process in together:
        output, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
        (found.folder / "cold.out").write_text(output)
    settle(found.folder)
    (found.folder / "warm.out").write_text(found.run("warm").stdout)
    return found


def test_all_is_taken_from_the_caches(place: Place) -> None:
    outcomes = place.outcomes("warm")

    assert len(outcomes) >= 4
    assert {outcome for _, outcome, _ in outcomes} == {"hit"}
    assert all(
        re.fullmatch(r"recorded \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d", reason or "") for _, _, reason in outcomes
    )


def test_all_tables_and_texts_are_those_of_the_cold_run(place: Place) -> None:
    assert differences(place.folder / "cold", place.folder / "warm") == []


def test_a_run_that_asks_for_nothing_takes_what_is_kept(place: Place) -> None:
    words = [*COMMAND, "run", "--no-tui", "--dump", str(place.folder / "usual"), str(place.script)]
    done = run(words, place.folder, environment=place.environment)

    assert done.returncode == 0, done.stderr
    assert Dump(place.folder / "usual").run.cache == "auto"
    assert {outcome for _, outcome, _ in place.outcomes("usual")} == {"hit"}


def test_each_graph_says_that_its_facts_are_of_an_earlier_compile(place: Place) -> None:
    cold, warm = (Dump(place.folder / name).rows(Graph) for name in ("cold", "warm"))

    assert {row.kept for row in cold} == {""}
    assert len(warm) == len(cold) >= 6
    assert all(row.kept.startswith("20") for row in warm)


def test_the_program_prints_the_same_and_the_code_is_the_same(place: Place) -> None:
    alone = plain([place.script], place.folder, environment=place.environment)
    outputs = {(place.folder / f"{name}.out").read_text() for name in ("cold", "warm")}

    assert outputs == {alone.stdout}
    assert without_last_words(alone.stderr) == ""


def test_a_script_whose_lines_moved(place: Place, tmp_path: Path) -> None:
    """The facts are found, with the lines that a compile of the changed script would tell."""
    text = place.script.read_text()
    moved = Place(tmp_path)
    moved.script.write_text(text.replace("import torch\n", "import torch\n\n\n# Three lines above everything.\n"))
    # With the same caches: generated C++ names the folder that it was generated in.
    moved.run("warm", *AUTO, **place.environment)
    moved.run("cold", "--cache", "bypass", **place.environment)

    assert {outcome for _, outcome, _ in moved.outcomes("warm")} == {"hit"}
    assert differences(moved.folder / "cold", moved.folder / "warm") == []
    lines = moved.script.read_text().splitlines()
    told = [
        row.where for row in Dump(moved.folder / "warm").rows(Node) if row.where and row.where.file == str(moved.script)
    ]
    assert told
    assert all(lines[where.line - 1].strip() == where.code for where in told)


def test_a_graph_that_only_the_fx_graph_cache_has_says_why_it_is_compiled_anew(place: Place) -> None:
    place.run("alone", TORCHINDUCTOR_AUTOGRAD_CACHE="0")

    rows = [row for row in Dump(place.folder / "alone").rows(CacheLookup) if row.cache in ("fx_graph", "aot_autograd")]
    assert rows
    assert {(row.cache, row.outcome, row.stored, row.reason) for row in rows} == {
        (
            "fx_graph",
            "passed over",
            True,
            "facts are kept with AOTAutograd's cache, in which this compile was not looked up",
        )
    }


def test_torn_entries_are_told_and_replaced(place: Place, tmp_path: Path) -> None:
    torn = Place(tmp_path)
    shutil.copytree(place.folder / "inductor", torn.folder / "inductor")
    shutil.copytree(place.kept, torn.kept)
    shutil.copy(PROGRAM, torn.script)
    for path in torn.kept.rglob("*.kept"):
        path.write_bytes(path.read_bytes()[:-20])
    done = torn.run("dump")

    outcomes = torn.outcomes("dump")
    assert {outcome for _, outcome, _ in outcomes} == {"miss"}
    assert {reason for _, _, reason in outcomes} == {"the kept recording cannot be used: it is incomplete or damaged"}
    assert done.stdout == (place.folder / "cold.out").read_text()
    assert differences(place.folder / "cold", torn.folder / "dump") == []


def test_where_nothing_can_be_kept_all_is_recorded(place: Place, tmp_path: Path) -> None:
    """A file in the place of the folder, as a full disk or somebody else's folder would be."""
    other = Place(tmp_path)
    shutil.copytree(place.folder / "inductor", other.folder / "inductor")
    shutil.copy(PROGRAM, other.script)
    other.kept.write_text("")
    done = other.run("dump")

    assert {outcome for _, outcome, _ in other.outcomes("dump")} == {"passed over"}
    check_told(place, other, done.stdout, "File exists")


@pytest.mark.harmless
def test_a_full_disk(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path)
    shutil.copytree(place.folder / "inductor", other.folder / "inductor")
    shutil.copy(PROGRAM, other.script)
    with small_disk(tmp_path / "disk", 16) as disk:
        done = other.run("dump", INSPECT_COMPILE_CACHE_DIR=str(disk / "kept"))

        assert not list(disk.rglob("*.tmp"))
    check_told(place, other, done.stdout, "No space left on device")


def check_told(place: Place, other: Place, output: str, why: str) -> None:
    """The program prints the same, all is recorded, and one remark says why nothing is kept; no probe failed."""
    dump = Dump(other.folder / "dump")
    (told,) = (row for row in dump.rows(Remark) if row.code == "facts-not-kept")
    assert f": {why}; the next run compiles it again" in told.message
    assert [hook for hook in dump.rows(Hook) if hook.state == "failed"] == []
    assert output == (place.folder / "cold.out").read_text()
    found = differences(place.folder / "cold", dump.root)
    assert [line for line in found if told.code not in line] == []


def test_what_is_kept_is_shown(place: Place) -> None:
    words = [sys.executable, "-m", "inspect_compile", "show", str(place.folder / "warm")]
    rows = subprocess.run([*words, "caches", "--json"], capture_output=True, text=True, check=True).stdout

    assert {json.loads(row)["outcome"] for row in rows.splitlines()} == {"hit"}
