"""A program that is killed, at any moment: its dump opens, and holds everything but the last half second of facts."""

import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.facts import FACTS, GraphEnd
from tests.harmless.harness import EVERYWHERE, SECONDS, Case, Place
from tests.hostile.views import said
from tests.running import COMMAND, run

FAULTY = Path(__file__).parent / "faulty"
LOSS_SECONDS = 0.5
"""What comes right after a write waits for the next fact, however long the program then does something else."""
PATIENCE = 0.02


@dataclass(frozen=True)
class Told:
    """A fact, as the watched process told of it on its way to the recorder."""

    moment: float
    """Of time.monotonic, which all processes share."""
    pid: int
    file: str


def told(witness: Path) -> list[Told]:
    lines = witness.read_text().splitlines() if witness.exists() else []
    return [Told(int(moment) / 1e9, int(pid), file) for moment, pid, file in (line.split(" ", 2) for line in lines)]


def run_and_kill(place: Place, folder: Path, after: float | None) -> list[Told]:
    """Run the program, and kill it `after` seconds after its first fact: its facts."""
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
    return told(witness)


@pytest.fixture(scope="module")
def seconds(place: Place, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long the program goes on telling facts."""
    facts = run_and_kill(place, tmp_path_factory.mktemp("whole"), None)
    return facts[-1].moment - facts[0].moment


def due_of(facts: list[Told]) -> Counter[str]:
    """File → how many rows must be there. The last fact may have been on its way, and the others with it."""
    before = [fact for fact in facts[:-1] if fact.moment < facts[-2].moment - LOSS_SECONDS]
    return Counter(fact.file for fact in before)


def check_part(root: Path, facts: list[Told]) -> Dump:
    """What was recorded in good time before the end is there, and nothing is damaged."""
    due = due_of(facts)
    for file, count in due.items():
        assert (root / file).read_bytes().count(b"\n") >= count, file
    dump = open_dump(root)
    read = sum(len(dump.rows(kind)) for kind in FACTS)
    assert read >= due.total()
    assert read <= len(facts)
    assert dump.damaged == 0
    return dump


def check(place: Place, folder: Path, seconds: float, seed: int) -> None:
    facts = run_and_kill(place, folder, random.Random(seed).uniform(0, seconds))
    check_part(folder / "dump", facts)
    shown = run([*COMMAND, "show", folder / "dump"], folder)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.harmless
@pytest.mark.parametrize("seed", range(14))
def test_what_was_recorded_is_there(seed: int, place: Place, tmp_path: Path, seconds: float) -> None:
    check(place, tmp_path, seconds, seed)


CHILDREN, GRAPHS = 22, 2


@pytest.mark.harmless
@pytest.mark.parametrize("seed", range(5))
def test_what_a_child_recorded_is_there(seed: int, place: Place, tmp_path: Path) -> None:
    """Most of them are killed while a graph is compiled."""
    witness = tmp_path / "witness"
    environment = {"PYTHONPATH": str(FAULTY), "HARMLESS_WITNESS": str(witness)}
    program = "kills_children.py"
    case = Case(program, (program, str(CHILDREN), str(seed)), environment)
    alone, outcome = place.plain(case), place.inspected(case)
    assert (outcome.ended, outcome.stderr) == (alone.ended, alone.stderr)
    assert outcome.ended == "exit status 0"
    ends = [line.split() for line in outcome.stdout.splitlines()]
    assert Counter(how for _, how in ends) == {"killed": CHILDREN, "ended": 1}
    facts = told(witness)
    while_compiling = 0
    for pid, _ in ends:
        root = place.dump / paths.process_folder(None, int(pid), 1)
        own = [fact for fact in facts if fact.pid == int(pid)]
        ended: set[str] = set()
        if (root / paths.RUN).exists():
            dump = check_part(root, own)
            ended = {row.graph for row in dump.rows(GraphEnd)}
            assert said("show", root).status == 0
        else:
            assert not due_of(own)
        while_compiling += bool(own) and len(ended) < GRAPHS
    assert while_compiling >= CHILDREN // 2
