"""What `inspect-compile numerics --recorder` costs: `python benchmarks/bench_recorder.py [--models gpt2 resnet]
[--device cuda] [--mode reduce-overhead] [--pairs 7] [--steps 20] [--ranks 2] [--amp] [--batch 256]`.

Each model trains alone and under the recorder, in turn, in processes of their own. Printed are the medians over the
turns of the time of one step (on a GPU by CUDA events over all steps, which the host may run ahead of; elsewhere CPU
seconds), their ratio with its least and greatest over the pairs, and the memory that the recorder took. `unchosen` is
the ratio with `--graph` naming no graph. The models are in plain torch: GPT-2 (124M on a GPU) and a ResNet-50.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "programs" / "trained.py"
MODELS = ("gpt2", "resnet")
RECORDER = ("-m", "inspect_compile", "numerics", "--recorder")


def main() -> None:
    """Run what was asked for, and print a line for each model."""
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--mode", help="that of torch.compile: reduce-overhead for CUDA graphs")
    parser.add_argument("--batch", type=int, help="samples in a step, in the place of the model's usual number")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=1, help="processes of DistributedDataParallel, under torchrun")
    parser.add_argument("--amp", action="store_true", help="under autocast in bfloat16")
    parser.add_argument("--unchosen", action="store_true", help="also with a --graph that no graph is called")
    asked = parser.parse_args()
    words = ["--device", asked.device, "--steps", str(asked.steps)]
    words += ["--mode", asked.mode] if asked.mode else []
    words += ["--amp"] if asked.amp else []
    words += ["--batch", str(asked.batch)] if asked.batch else []
    print(f"{'':10}{'alone':>12}{'recorder':>12}{'ratio':>8}{'least':>8}{'most':>8}  kept", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for model in asked.models:
            _compared(model, model, (), [model, *words], asked.pairs, asked.ranks, Path(folder))
            if asked.unchosen:
                none = ("--graph", "none of them")
                _compared("unchosen", model, none, [model, *words], asked.pairs, asked.ranks, Path(folder))


def _compared(
    name: str, model: str, options: tuple[str, ...], words: list[str], pairs: int, ranks: int, folder: Path
) -> None:
    alone, recorded, kept = [], [], ""
    for turn in range(pairs + 1):
        dump = folder / f"{name}-{model}-{turn}"
        one, _ = _told(_launched(ranks, words), folder)
        other, said = _told(
            [sys.executable, *RECORDER, *options, "--dump", str(dump), "--", *_launched(ranks, words)], folder
        )
        if turn:  # the first turn fills the caches
            alone.append(one)
            recorded.append(other)
        kept = next(iter(re.findall(r"kept on .*", said)), "nothing")
    ratios = [with_it / without for with_it, without in zip(recorded, alone, strict=True)]
    middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
    times = f"{statistics.median(alone) * 1e3:10.3f}ms{statistics.median(recorded) * 1e3:10.3f}ms"
    print(f"{name:10}{times}{middle:8.3f}{least:8.3f}{most:8.3f}  {kept}", flush=True)


def _launched(ranks: int, words: list[str]) -> list[str]:
    if ranks == 1:
        return [sys.executable, str(PROGRAM), *words]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return [sys.executable, *torchrun, str(PROGRAM), *words]


def _told(words: list[str], folder: Path) -> tuple[float, str]:
    """Seconds of a step, and what was printed on stderr."""
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(words, env={**os.environ, **cache}, capture_output=True, text=True, check=False, cwd=folder)
    found = re.findall(r"^\{.*\}$", done.stdout, re.MULTILINE)
    if not found:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    return float(json.loads(found[0])["seconds"]), done.stderr


if __name__ == "__main__":
    main()
