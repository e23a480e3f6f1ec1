"""What a check of numerics costs: `python benchmarks/bench_numerics.py [--models gpt2 …] [--kinds training …]
[--turns 3] [--device cuda] [--exact] [--offload]`.

Each model runs under `inspect-compile numerics`, which checks its third call, and alone, in turn. Printed are medians
over the turns: the CPU seconds of one thread (on a GPU the time until it has ended) for an eager call and for the check
of a call, without the compiled call that the program makes anyway, and the second as a multiple of the first; the peak
memory of both; and compiled calls that are not checked, as a multiple of those of a plain run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "programs" / "checked.py"
MODELS = ("gpt2", "resnet", "mlp")
KINDS = ("inference", "training")
CALL = "3"
NUMERICS = ("-m", "inspect_compile", "numerics", "--calls", CALL)


def main() -> None:
    """Run what was asked for, and print a line for each model and kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--exact", action="store_true", help="check with --exact")
    parser.add_argument("--offload", action="store_true", help="check with --offload")
    asked = parser.parse_args()
    options = [f"--{name}" for name in ("exact", "offload") if getattr(asked, name)]
    with tempfile.TemporaryDirectory() as folder:
        heads = f"{'eager':>9}{'check':>10}{'ratio':>8}{'eager MiB':>11}{'checked MiB':>13}{'ratio':>8}{'others':>9}"
        print(" " * 20 + heads)
        for model in asked.models:
            for kind in asked.kinds:
                _compared((model, kind, CALL, asked.device), asked.turns, options, Path(folder))


def _compared(asked: tuple[str, ...], turns: int, options: list[str], folder: Path) -> None:
    words = (str(PROGRAM), *asked)
    model, kind = asked[:2]
    checked, plain = [], []
    for turn in range(turns):
        dump = folder / f"{model}-{kind}-{turn}"
        checked.append(_told((*NUMERICS, *options, "--dump", str(dump), *words), folder))
        plain.append(_told(words, folder))
    times = {name: statistics.median(row[name] for row in checked) for name in checked[0]}
    # The check is beside the program's own call, and a result that differs from run to run is the median of turns.
    check = times["checked"] - times["compiled"]
    others = statistics.median(one["compiled"] / two["compiled"] for one, two in zip(checked, plain, strict=True))
    print(
        f"{model + ' ' + kind:20}{times['eager']:8.4f}s{check:9.4f}s{check / times['eager']:7.1f}×"
        f"{times['eager_bytes'] / 2**20:11.1f}{times['checked_bytes'] / 2**20:13.1f}"
        f"{times['checked_bytes'] / times['eager_bytes']:7.1f}×{others:8.2f}×",
        flush=True,
    )


def _told(words: tuple[str, ...], folder: Path) -> dict[str, float]:
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *words], env={**os.environ, **cache}, capture_output=True, text=True, check=False, cwd=folder
    )
    if not done.stdout.strip():
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    told: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


if __name__ == "__main__":
    main()
