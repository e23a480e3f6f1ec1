"""What `tune` finds and what it is worth: `python3 benchmarks/bench_tune.py cpu|cuda [--only NAME …] [--minutes 5]`

Runs `inspect-compile tune` on each loop of `programs/loops.py`, puts its patch into a copy, and times both by the
program's own clock, in runs that alternate: a witness that knows nothing of `tune`. Prints a row for each program, how
many gain 5 % and more, how many became slower, and how many promises were near to what was measured.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
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
from inspect_compile.tables.compare.tried import gain_text  # noqa: E402

SOURCE = HERE / "programs" / "loops.py"
NAMES = re.findall(r'^    "(\w+)": ', SOURCE.read_text(), re.MULTILINE)
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
        together = "none" if tuned.together is None else gain_text(tuned.together, tuned.plus_minus)
        promised = " ".join("" if row.predicted is None else f"≤ {100 * row.predicted:.0f} %" for row in self.kept)
        cells = (
            self.name, f"{1e6 * tuned.seconds:.0f} µs", f"±{100 * tuned.noise:.1f} %", str(self.tried),
            ", ".join(f"`{row.words}`" for row in self.kept), promised, together, own,
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


def main() -> None:
    """Tune each, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=("cpu", "cuda"))
    parser.add_argument("--only", nargs="+", default=NAMES, choices=NAMES, metavar="NAME")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--runs", type=int, default=3, help="of the program and of the copy, by its own clock")
    asked = parser.parse_args()
    rows = []
    print("| program | step | noise | tried | kept | promised | together | by its own clock |")
    print("|---|---|---|---|---|---|---|---|")
    for name in asked.only:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            row = tuned(name, asked.device, asked.minutes, asked.runs, Path(folder))
        if row is None:
            print(f"| {name} | failed |", flush=True)
            continue
        rows.append(row)
        print(row.text, flush=True)
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


def tuned(name: str, device: str, minutes: float, runs: int, folder: Path) -> Row | None:
    """Tune one program in this folder."""
    shutil.copy(SOURCE, folder / SOURCE.name)
    words = [sys.executable, "-m", "inspect_compile", "tune", "--yes", "--minutes", str(minutes), "--dump", "dump"]
    done = subprocess.run([*words, SOURCE.name, name, device], cwd=folder, capture_output=True, text=True, check=False)
    found = list(Dump(folder / "dump").rows(Tuned)) if done.returncode == 0 else []
    if not found:
        print(done.stderr, file=sys.stderr)
        return None
    rows = list(Dump(folder / "dump").rows(TriedChange))
    clock = None
    if found[-1].patch:
        copy = folder / "changed"
        copy.mkdir()
        shutil.copy(folder / SOURCE.name, copy)
        subprocess.run(["git", "apply", str(folder / found[-1].patch)], cwd=copy, check=True)
        pairs = [(_own_clock(folder, name, device), _own_clock(copy, name, device)) for _ in range(runs)]
        clock = 1 - statistics.median(after / before for before, after in pairs)
    return Row(name, found[-1], [row for row in rows if row.outcome == KEPT], len({row.words for row in rows}), clock)


def _own_clock(folder: Path, name: str, device: str) -> float:
    words = [sys.executable, SOURCE.name, name, device]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout.rsplit(": ", 1)[1].split()[0])


if __name__ == "__main__":
    main()
