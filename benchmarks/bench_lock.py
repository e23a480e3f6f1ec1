"""False alarms of `check`: each program is locked once, then checked again and again under what must not count.

    bench_lock.py [--runs N] [--first N] ['samples/softmax_mlp.py' '--target sm_90 model.py --steps 3' '-m model' …]

A PROGRAM is what `check` is given, as one word. Files in it are copied to where it runs. Without any: all samples, and
the harness's models of `transformers`, inference and training.

Each run has another hash seed; by turns it has cold and warm caches, one and many compile threads, another directory
and another user, and `CI` set. Prints one line for each run, and what `check` said where its exit status was not 0.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.harmless.test_models import KINDS, TRANSFORMERS  # noqa: E402

COMMAND = [sys.executable, "-m", "inspect_compile"]
MODELS = ROOT / "tests" / "harmless" / "programs" / "real_model.py"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--first", type=int, default=1, help="number of the first run, which decides how it differs")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", default=every_program())
    arguments = parser.parse_args()
    alarms = runs = 0
    for program in arguments.programs:
        name = " ".join(Path(word).name for word in shlex.split(program))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a dump may still be finished
            base = Path(folder)
            lock = base / "compile.lock"
            words = ["lock", "-o", str(lock), *copied(program, base / "first")]
            done = called(words, base / "first", base / "cache", {"PYTHONHASHSEED": "0"})
            if "nothing was compiled" in done.stderr:
                print(f"{name}: nothing was compiled", flush=True)
                continue
            if done.returncode:
                print(f"{name}: not locked: {done.stderr[-300:]}", flush=True)
                alarms += 1
                continue
            for number in range(arguments.first, arguments.first + arguments.runs):
                place, cache, variables = varied(number, base)
                started = time.monotonic()
                done = called(["check", "--lock", str(lock), *copied(program, place)], place, cache, variables)
                runs += 1
                alarms += done.returncode != 0
                told = "same" if done.returncode == 0 else f"{done.stdout[-2000:]}{done.stderr[-500:]}"
                print(f"{name} run {number}, {time.monotonic() - started:.0f} s: {told}", flush=True)
    print(f"{alarms} false alarms in {runs} runs", flush=True)
    return alarms


def every_program() -> list[str]:
    """All samples and models of `transformers`."""
    samples = sorted((ROOT / "samples").glob("*.py"))
    return [*map(str, samples), *(f"{MODELS} {model} {kind}" for model in TRANSFORMERS for kind in KINDS)]


def varied(number: int, base: Path) -> tuple[Path, Path, dict[str, str]]:
    """The directory of a run, its cache, and its variables."""
    is_elsewhere, is_cold, is_alone, is_ci = number % 2 == 0, number % 3 == 0, number % 4 < 2, number % 4 in (1, 2)
    place = base / "home" / f"user{number}" / "work" if is_elsewhere else base / "first"
    cache = base / f"cache{number}" if is_cold else base / "cache"
    variables = {
        "PYTHONHASHSEED": str(1000 + number),
        "TORCHINDUCTOR_COMPILE_THREADS": "1" if is_alone else "4",
    }
    if is_elsewhere:
        variables |= {"HOME": str(place.parent), "USER": place.parent.name, "LOGNAME": place.parent.name}
    if is_ci:
        variables |= {"CI": "true"}
    return place, cache, variables


def copied(program: str, place: Path) -> list[str]:
    """The words of a program whose files are copied into a directory."""
    place.mkdir(parents=True, exist_ok=True)
    words = shlex.split(program)
    for at, word in enumerate(words):
        module = Path(f"{word}.py")
        if Path(word).is_file():
            words[at] = Path(shutil.copy(word, place)).name
        elif at and words[at - 1] == "-m" and module.is_file():
            words[at] = Path(shutil.copy(module, place)).stem
    return words


def called(words: list[str], cwd: Path, cache: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """One command of ours to its end, without standard input as in CI."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), **variables}
    if "CI" not in variables:
        environment.pop("CI", None)
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


if __name__ == "__main__":
    sys.exit(min(1, main()))
