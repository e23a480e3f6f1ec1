"""How fast a long TORCH_TRACE log is read, and in how much memory, beside tlparse where it is on the PATH: the log of
a model's training step, repeated under other compile ids.

python benchmarks/bench_log.py [--megabytes 1000] [--times 3]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 256), nn.Linear(256, 64)
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)

    def forward(self, x):
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))

model = nn.Sequential(*[Block() for _ in range(4)])
step = torch.compile(lambda x: model(x).square().mean())
for size in (16, 24):
    step(torch.randn(2, size, 64)).backward()
"""
MOST_SECONDS, MOST_MEMORY = 10, 500
"""To the first table, and MB, for a log of 1000 MB."""


def recorded(folder: Path) -> bytes:
    """torch's log of the program."""
    environment = {**os.environ, "TORCH_TRACE": str(folder / "log"), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)
    return next((folder / "log").iterdir()).read_bytes()


def repeated(log: bytes, path: Path, megabytes: float) -> None:
    """Write the log again and again, each time with other frames."""
    most = max(map(int, re.findall(rb'"frame_id": (\d+)', log))) + 1
    with path.open("wb") as file:
        shift = 0
        while file.tell() < megabytes * 1e6:
            file.write(_shifted(log, shift))
            shift += most


def _shifted(log: bytes, by: int) -> bytes:
    return re.sub(rb'"frame_id": (\d+)', lambda found: b'"frame_id": %d' % (int(found[1]) + by), log)


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Seconds by the clock, of the CPU, and the most MB of memory."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[0]} ended with {child.returncode}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = folder / "long.log"
        repeated(recorded(folder), path, arguments.megabytes)
        commands = {"inspect-compile": [sys.executable, "-m", "inspect_compile", "show", str(path), "dynamo"]}
        if tlparse := shutil.which("tlparse"):
            commands["tlparse"] = [tlparse, str(path), "-o", str(folder / "page"), "--overwrite", "--no-browser"]
        for number in range(arguments.times):
            for name, command in commands.items():
                environment = {**os.environ, "XDG_CACHE_HOME": str(folder / f"cache{number}")}
                clock, processor, memory = measured(command, environment)
                print(
                    f"{path.stat().st_size / 1e6:.0f} MB, {name}: {clock:.1f} s, {processor:.1f} s of the CPU, "
                    f"{memory:.0f} MB",
                    flush=True,
                )
                if name == "inspect-compile" and (clock > MOST_SECONDS or memory > MOST_MEMORY):
                    print(f"   the bar is {MOST_SECONDS} s and {MOST_MEMORY} MB")
            shutil.rmtree(folder / f"cache{number}", ignore_errors=True)
            shutil.rmtree(folder / "page", ignore_errors=True)


if __name__ == "__main__":
    main()
