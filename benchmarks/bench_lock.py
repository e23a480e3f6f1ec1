"""False alarms of `check`: each program is locked once, then checked again and again under what must not count.

    bench_lock.py [--runs N] PROGRAM …

Each run has another hash seed; by turns it has cold and warm caches, one and many compile threads, another directory
and another user name. Prints one line for each run, and what `check` said where its exit status was not 0.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-m", "inspect_compile"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    alarms = runs = 0
    for program in arguments.programs:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a dump may still be finished
            base = Path(folder)
            first = copied(program, base / "first")
            lock = base / "compile.lock"
            done = called(["lock", first.name, "-o", lock], first.parent, base / "cache", {"PYTHONHASHSEED": "0"})
            if done.returncode:
                print(f"{program.name}: not locked: {done.stderr[-300:]}", flush=True)
                alarms += 1
                continue
            for number in range(1, arguments.runs + 1):
                again, cache, variables = varied(number, program, base)
                started = time.monotonic()
                done = called(["check", again.name, "--lock", lock], again.parent, cache, variables)
                runs += 1
                alarms += done.returncode != 0
                told = "same" if done.returncode == 0 else f"{done.stdout[-2000:]}{done.stderr[-500:]}"
                print(f"{program.name} run {number}, {time.monotonic() - started:.0f} s: {told}", flush=True)
    print(f"{alarms} false alarms in {runs} runs", flush=True)
    return alarms


def varied(number: int, program: Path, base: Path) -> tuple[Path, Path, dict[str, str]]:
    """The program in this run's directory, its cache, and its variables."""
    is_elsewhere, is_cold, is_alone = number % 2 == 0, number % 3 == 0, number % 4 < 2
    place = base / "home" / f"user{number}" / "work" if is_elsewhere else base / "first"
    cache = base / f"cache{number}" if is_cold else base / "cache"
    variables = {
        "PYTHONHASHSEED": str(1000 + number),
        "TORCHINDUCTOR_COMPILE_THREADS": "1" if is_alone else "4",
    }
    if is_elsewhere:
        variables |= {"HOME": str(place.parent), "USER": place.parent.name, "LOGNAME": place.parent.name}
    return copied(program, place), cache, variables


def copied(program: Path, place: Path) -> Path:
    """The program, alone in a directory."""
    place.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(program, place))


def called(
    words: list[str | Path], cwd: Path, cache: Path, variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """One command of ours to its end."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), **variables}
    return subprocess.run([*COMMAND, *map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(min(1, main()))
