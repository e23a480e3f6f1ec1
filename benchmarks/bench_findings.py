"""Do the findings name what helps most? `python3 benchmarks/bench_findings.py cpu|cuda [--only NAME …] [--dumps DIR]`

Runs each program of `programs/by_hand.py` as it is and with each change that was made by hand, by its own clock, and
once more under `inspect-compile run --measure`. Prints what the changes saved of a step, and at which place of the
findings the kind stands that names the change which saved most: once of those that keep the numbers, once of all.
All programs compile first, several at once; they are timed one after the other.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCE = HERE / "programs" / "by_hand.py"
try:
    import inspect_compile  # noqa: F401
except ModuleNotFoundError:  # not installed: as this tree has it
    sys.path.insert(0, str(ROOT / "build" / "typing"))

WORTH = 0.05
"""Part of a step from which a change is one that should be named."""
FIRST = 3
"""The findings that a person reads."""
STEPS = 60
AS_IT_IS = "as it is"


class Row(NamedTuple):
    """One program."""

    name: str
    gains: dict[str, float]
    """Change → the part of a step that it saves, the most first."""
    seconds: float
    found: list[tuple[str, float | None]]
    """Kinds of the findings, in their order, and the share of a step that each promises."""

    def place(self, kinds: frozenset[str]) -> int | None:
        """At which place, from 1, the first finding of these kinds stands."""
        return next((place for place, (kind, _) in enumerate(self.found, 1) if kind in kinds), None)


def main() -> None:
    """Run each, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=("cpu", "cuda"))
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 3), help="compiled at once")
    parser.add_argument(
        "--dumps", type=Path, help="where the dumps stay; read, not run, where they and times lie there"
    )
    arguments = parser.parse_args()
    programs = read_programs(arguments.device)
    names = arguments.only or list(programs.PROGRAMS[arguments.device])
    dumps = arguments.dumps or Path(f"bench_findings.{os.getpid()}")
    dumps.mkdir(parents=True, exist_ok=True)
    new = [name for name in names if not (dumps / name / "run.json").exists()]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda name: warmed(name, arguments.device, dumps), new))
    for name in new:
        measured(name, arguments.device, dumps)
    rows = [row for name in names if (row := read(name, dumps)) is not None]
    print("| program | step | saved by hand | findings | place of the largest that keeps the numbers | of all |")
    print("|---|---|---|---|---|---|")
    counts = {True: [0, 0], False: [0, 0]}
    for row in rows:
        changes = programs.PROGRAMS[arguments.device][row.name].changes
        cells = []
        for is_kept in (True, False):
            gains = [(c, g) for c, g in row.gains.items() if not (is_kept and c in programs.CHANGES_NUMBERS)]
            if not gains or gains[0][1] < WORTH:
                cells.append("nothing to gain")
                continue
            place = row.place(changes[gains[0][0]])
            counts[is_kept][0] += place is not None and place <= FIRST
            counts[is_kept][1] += 1
            cells.append(f"{gains[0][0]}: {place or 'not there'}")
        saved = ", ".join(f"{change} {100 * gain:.0f} %" for change, gain in row.gains.items())
        found = ", ".join(kind if part is None else f"{kind} ≤ {100 * part:.0f} %" for kind, part in row.found[:5])
        print(f"| {row.name} | {1e6 * row.seconds:.0f} µs | {saved} | {found} | {' | '.join(cells)} |")
    for is_kept, words in ((True, "that keep the numbers"), (False, "of any kind")):
        print(f"Largest of the changes {words} among the first {FIRST}: {counts[is_kept][0]} of {counts[is_kept][1]}")


def read_programs(device: str) -> ModuleType:
    """`programs/by_hand.py` as a module: what it has, without a program's run."""
    specification = importlib.util.spec_from_file_location("by_hand", SOURCE)
    assert specification is not None
    assert specification.loader is not None
    module, before = importlib.util.module_from_spec(specification), sys.argv
    sys.argv = [str(SOURCE), "", device]
    try:
        specification.loader.exec_module(module)
    finally:
        sys.argv = before
    return module


def warmed(name: str, device: str, dumps: Path) -> None:
    """All that the program compiles is in torch's caches, and told by a dump that nobody keeps."""
    begin = time.perf_counter()
    run([str(SOURCE), name, device, "--changes"], dumps / f"{name}.cold.txt")
    inspected(name, device, dumps / f"{name}.cold", dumps / f"{name}.cold.txt")
    print(f"{name}: warm after {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)


def measured(name: str, device: str, dumps: Path) -> None:
    """The program's own clock for each change, and a dump of it as it is."""
    begin = time.perf_counter()
    run([str(SOURCE), name, device, "--changes"], dumps / f"{name}.seconds")
    inspected(name, device, dumps / name, dumps / f"{name}.txt", "--measure")
    print(f"{name}: timed after {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)


def inspected(name: str, device: str, dump: Path, told: Path, *options: str) -> None:
    """Under `inspect-compile run`."""
    command = ["-m", "inspect_compile", "run", "--no-tui", "--level", "facts", "--dump", str(dump), *options]
    run([*command, str(SOURCE), name, device, str(STEPS)], told)


def run(command: list[str], told: Path) -> None:
    """Python with these arguments; what it prints is kept."""
    paths = os.pathsep.join(path for path in (str(ROOT / "build" / "typing"), os.environ.get("PYTHONPATH", "")) if path)
    with told.open("a") as out:
        subprocess.run(
            [sys.executable, *command], stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONPATH": paths}
        )


def read(name: str, dumps: Path) -> Row | None:
    """What was measured and found of a program, None where it did not run."""
    from inspect_compile.analysis.findings.every import findings
    from inspect_compile.dump import Dump
    from inspect_compile.graph import Graphs

    told = (dumps / f"{name}.seconds").read_text().splitlines() if (dumps / f"{name}.seconds").exists() else []
    line = next((line for line in reversed(told) if line.startswith('{"name"')), None)
    if line is None or not (dumps / name).exists():
        print(f"{name}: did not run; {told[-1:]}", file=sys.stderr)
        return None
    seconds = json.loads(line)["seconds"]
    base = seconds.pop(AS_IT_IS)
    gains = {change: 1 - own / base for change, own in sorted(seconds.items(), key=lambda pair: pair[1])}
    found = [(row.kind, row.share) for row in findings(Graphs(Dump(dumps / name)))]
    return Row(name, gains, base, found)


if __name__ == "__main__":
    main()
