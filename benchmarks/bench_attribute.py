"""How fast `attribute` is on a long trace, and how much memory it takes: a recorded one, repeated to 500 MB.

python benchmarks/bench_attribute.py [--megabytes 500]
"""

import argparse
import gzip
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from synthetic_trace import repeated

RECORDED = Path(__file__).resolve().parent.parent / "tests/profiles/data/h200_torch_2_11"
LEAST_RATE, MOST_MEMORY = 50, 1000
"""MB a CPU second, and MB."""


def _cpu_seconds() -> float:
    """Of all children so far; it runs on one core."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with zipfile.ZipFile(RECORDED / "dump.zip") as archive:
            archive.extractall(folder / "dump")
        short, long = folder / "short.json", folder / "long.json"
        short.write_bytes(gzip.decompress((RECORDED / "trace.json.gz").read_bytes()))
        repeated(short, long, arguments.megabytes)
        size = long.stat().st_size / 1e6
        for more in ([], ["-o", str(folder / "noted.json")]):
            before = _cpu_seconds()
            command = [sys.executable, "-m", "inspect_compile", "attribute", str(folder / "dump"), str(long), *more]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rate = size / (_cpu_seconds() - before)
            memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
            print(f"{size:.0f} MB: {rate:.0f} MB a CPU second, at most {memory:.0f} MB  {' '.join(more[:1])}")
            print(f"   {told.splitlines()[1].strip()}", flush=True)
            if not more and (rate < LEAST_RATE or memory > MOST_MEMORY):
                sys.exit(f"the bar is {LEAST_RATE} MB/s and {MOST_MEMORY} MB")


if __name__ == "__main__":
    main()
