"""What `tune` finds and what it is worth: `python3 benchmarks/bench_tune.py cpu|cuda [--only NAME …] [--minutes 5]`

Runs `inspect-compile tune` on each loop of `programs/loops.py` and `programs/model_loops.py`, puts its patch into a
copy, and times both by the program's own clock, in runs that alternate: a witness that knows nothing of `tune`. Prints
a row for each program, how many gain 5 % and more, how many became slower, and how many promises were near to what was
measured. Several at once (`--jobs`) take turns while they are timed.
"""

import argparse
import math
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
try:
    import inspect_compile  # noqa: F401
except ModuleNotFoundError:  # not installed: as this tree has it
    sys.path.insert(0, str(ROOT / "build" / "typing"))

from inspect_compile.dump import Dump  # noqa: E402
from inspect_compile.facts import TriedChange, Tuned  # noqa: E402
from inspect_compile.facts.trials import KEPT  # noqa: E402
from inspect_compile.launch.tune.turns import alone  # noqa: E402
from inspect_compile.tables.compare.tried import gain_text  # noqa: E402

SOURCES = [HERE / "programs" / name for name in ("loops.py", "model_loops.py")]
PROGRAMS = {
    name: source for source in SOURCES for name in re.findall(r'^    "(\w+)": ', source.read_text(), re.MULTILINE)
}
ENDLESS = 10**7
"""Steps of a program that `tune` ends itself."""
OWN_SECONDS = 3.0
"""Seconds of steps that the own clock is read for."""
FEWEST = 100
"""Steps, however long."""
WORTH = 0.05
NEAR = 0.15
"""How near a promise and what was measured are to be."""


class Row(NamedTuple):
    """One program."""

    name: str
    tuned: Tuned
    kept: list[TriedChange]
    tried: int
    own_clock: float | None
    """The part of a step that the patch saves by the program's own clock; None without a patch."""

    @property
    def text(self) -> str:
        """For a table of Markdown."""
        tuned = self.tuned
        own = "" if self.own_clock is None else gain_text(self.own_clock, None)
        eager = "" if tuned.eager is None else f"{1e6 * tuned.eager:.0f} µs"
        together = "none" if tuned.together is None else gain_text(tuned.together, tuned.plus_minus)
        promised = " ".join("" if row.predicted is None else f"≤ {100 * row.predicted:.0f} %" for row in self.kept)
        cells = (
            self.name, f"{1e6 * tuned.seconds:.0f} µs", eager, f"±{100 * tuned.noise:.1f} %", str(self.tried),
            ", ".join(f"`{row.words}`" for row in self.kept), promised, together, own,
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


def main() -> None:
    """Tune each, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=("cpu", "cuda"))
    parser.add_argument("--only", nargs="+", default=list(PROGRAMS), choices=PROGRAMS, metavar="NAME")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--runs", type=int, default=3, help="of the program and of the copy, by its own clock")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--until", type=float, default=86400, help="seconds after which no further program is begun")
    parser.add_argument("--keep", type=Path, help="a folder for what each search printed and tried")
    asked = parser.parse_args()
    began = time.monotonic()
    print("| program | step | eager | noise | tried | kept | promised | together | by its own clock |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)

    def row(name: str) -> Row | None:
        if time.monotonic() - began > asked.until:
            return None
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found = tuned(name, asked.device, asked.minutes, asked.runs, Path(folder), asked.keep)
        print(f"| {name} | failed |" if found is None else found.text, flush=True)
        return found

    with ThreadPoolExecutor(asked.jobs) as pool:
        rows = [row for row in pool.map(row, asked.only) if row is not None]
    clocks = [row.own_clock for row in rows if row.own_clock is not None]
    promised = [(row.predicted, row.gain) for one in rows for row in one.kept if row.predicted and row.gain]
    near = sum(abs(said - got) <= NEAR for said, got in promised)
    print(
        f"{sum(clock >= WORTH for clock in clocks)} of {len(rows)} gain {100 * WORTH:.0f} % and more by their own clock"
    )
    print(
        f"{sum(clock < 0 for clock in clocks)} became slower; "
        f"{near} of {len(promised)} promises within {100 * NEAR:.0f} %"
    )


def tuned(name: str, device: str, minutes: float, runs: int, folder: Path, keep: Path | None) -> Row | None:
    """Tune one program in this folder."""
    source = Path(shutil.copy(PROGRAMS[name], folder))
    words = [sys.executable, "-m", "inspect_compile", "tune", "--yes", "--minutes", str(minutes), "--dump", "dump"]
    program = [source.name, name, device, str(ENDLESS)]
    done = subprocess.run([*words, *program], cwd=folder, capture_output=True, text=True, check=False)
    if keep is not None:
        _keep(keep, name, done.stdout + done.stderr, folder)
    found = list(Dump(folder / "dump").rows(Tuned)) if done.returncode == 0 else []
    if not found:
        print(done.stderr, file=sys.stderr)
        return None
    rows = list(Dump(folder / "dump").rows(TriedChange))
    clock = None
    if found[-1].patch:
        copy = folder / "changed"
        copy.mkdir()
        shutil.copy(source, copy)
        subprocess.run(["git", "apply", str(folder / found[-1].patch)], cwd=copy, check=True)
        steps = max(FEWEST, round(OWN_SECONDS / found[-1].seconds))
        words = [sys.executable, source.name, name, device, str(steps)]
        with alone(math.inf):
            pairs = [(_own_clock(folder, words), _own_clock(copy, words)) for _ in range(runs)]
        clock = 1 - statistics.median(after / before for before, after in pairs)
    return Row(name, found[-1], [row for row in rows if row.outcome == KEPT], len({row.words for row in rows}), clock)


def _keep(keep: Path, name: str, printed: str, folder: Path) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    (keep / f"{name}.txt").write_text(printed)
    dump = folder / "dump"
    for file in (dump / "tried.jsonl", dump / "trials.jsonl", *(dump / "trials").glob("*[0-9].json")):
        if file.exists():
            shutil.copy(file, keep / f"{name}.{file.name}")


def _own_clock(folder: Path, words: list[str]) -> float:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout.rsplit(": ", 1)[1].split()[0])


if __name__ == "__main__":
    main()
