"""A program that is killed, at any moment: its dump opens, and holds everything but the last half second."""

import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from inspect_compile.dump import open_dump
from inspect_compile.facts import FACTS
from tests.harmless.harness import EVERYWHERE, SECONDS, Place
from tests.running import COMMAND, run

FAULTY = Path(__file__).parent / "faulty"
LOSS_SECONDS = 0.5
PATIENCE = 0.02


@dataclass(frozen=True)
class Told:
    """A fact, as the watched process told of it on its way to the recorder."""

    moment: float
    """Of time.monotonic, which all processes share."""
    file: str


def told(witness: Path) -> list[Told]:
    lines = witness.read_text().splitlines() if witness.exists() else []
    return [Told(int(moment) / 1e9, file) for moment, _, file in (line.partition(" ") for line in lines)]


def run_and_kill(place: Place, folder: Path, after: float | None) -> tuple[list[Told], float]:
    """Run the program, and kill it `after` seconds after its first fact: (its facts, when it ended)."""
    witness = folder / "witness"
    environment = {"PYTHONPATH": str(FAULTY), "HARMLESS_WITNESS": str(witness)}
    cwd, variables = place.prepare(replace(EVERYWHERE, environment=environment))
    # No kernel is there: while the C++ compiler runs, nothing else happens for seconds.
    variables["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "cache")
    command = [*COMMAND, "run", "--no-tui", "--dump", str(folder / "dump"), *EVERYWHERE.words]
    with subprocess.Popen(command, cwd=cwd, env=variables, stdout=subprocess.DEVNULL) as process:
        while after is not None and not told(witness) and process.poll() is None:
            time.sleep(PATIENCE)
        try:
            process.wait(timeout=SECONDS if after is None else after)
        except subprocess.TimeoutExpired:
            process.kill()
        ended = time.monotonic()
    return told(witness), ended


@pytest.fixture(scope="module")
def seconds(place: Place, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long the program goes on telling facts."""
    facts, _ = run_and_kill(place, tmp_path_factory.mktemp("whole"), None)
    return facts[-1].moment - facts[0].moment


def check(place: Place, folder: Path, seconds: float, seed: int) -> None:
    facts, killed = run_and_kill(place, folder, random.Random(seed).uniform(0, seconds))
    dump = open_dump(folder / "dump")
    due = Counter(fact.file for fact in facts if fact.moment < killed - LOSS_SECONDS)
    for file, count in due.items():
        assert (folder / "dump" / file).read_bytes().count(b"\n") >= count, file
    read = sum(len(dump.rows(kind)) for kind in FACTS)
    assert read >= due.total()
    assert read <= len(facts)
    assert dump.damaged == 0
    shown = run([*COMMAND, "show", folder / "dump"], folder)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.harmless
@pytest.mark.parametrize("seed", range(14))
def test_what_was_recorded_is_there(seed: int, place: Place, tmp_path: Path, seconds: float) -> None:
    check(place, tmp_path, seconds, seed)
