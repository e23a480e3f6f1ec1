"""What the fusion ledger costs with 100,000 looks at pairs: `python benchmarks/bench_fusion.py [--turns 4]`.

A program of many readers of one scalar is compiled again and again by one watched process, in turn with the hooks of
fusion off and on: CPU seconds of the compile, the least of each. Then the size of the table, how long the ledger takes
to be made of it, and the time of `show fusion` against that of `show summary`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from inspect_compile.graph import CompiledGraph

PROGRAM = Path(__file__).resolve().parent / "programs" / "readers.py"
COMMAND = (sys.executable, "-m", "inspect_compile")
MOST_RATIO, MOST_BYTES, MOST_SHOWN = 1.05, 8_000_000, 2.0
"""The bars."""
CHILD = """
import sys, time, runpy
import torch
import inspect_compile
from inspect_compile.child import capture
program, dump, readers, turns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
compile_once = runpy.run_path(program)["main"]
with inspect_compile.capture(dump):
    compile_once(readers)
with inspect_compile.capture(dump + "_more"):
    hooks = [hook for hook in capture._own.session.probes.hooks if hook.probe == "lowering.fusion"]
    for _ in range(turns):
        for is_off in (True, False):
            for hook in hooks:
                hook.off = is_off
            torch._dynamo.reset()
            compile_once(readers)
"""


def compiled(dump: Path, readers: int, turns: int, cache: Path) -> tuple[list[float], list[float]]:
    """CPU seconds of compiles without the ledger and with it."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", CHILD, str(PROGRAM), str(dump), str(readers), str(turns)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = [float(line) for line in done.stdout.split()]
    return found[1::2], found[2::2]


def shown(table: str, dump: Path) -> float:
    """Seconds of `show TABLE`, the least of some."""
    found = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([*COMMAND, "show", str(dump), table], capture_output=True, check=True)
        found.append(time.perf_counter() - began)
    return min(found)


def read(dump: Path) -> tuple[int, float]:
    """How many candidates there are, and the seconds to make them of the rows, these having been read."""
    from inspect_compile.dump import open_dump
    from inspect_compile.facts import FusionLooks, Node, Operation

    opened = open_dump(dump)
    (graph,) = [graph.graph for graph in opened.graphs()]
    for kind in (FusionLooks, Node, Operation):
        opened.rows(kind, graph)
    began = time.perf_counter()
    count = sum(len(one.candidates) for one in CompiledGraph(opened, graph).ledgers)
    return count, time.perf_counter() - began


def main() -> int:
    """Measure, print, and say whether all is within the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--readers", type=int, default=318, help="each pair of them is looked at twice")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        dump = root / "dump"
        without, recorded = compiled(dump, arguments.readers, arguments.turns, root / "cache")
        ratio = min(recorded) / min(without)
        print(f"compile CPU, seconds without the ledger {without}, with it {recorded}", flush=True)
        (table,) = dump.glob("torchinductor/*/fusion.jsonl")
        count, seconds = read(dump)
        size = table.stat().st_size
        print(f"{count:,} candidates, {size:,} bytes, {seconds:.2f} s to make them of the rows")
        fusion, summary = shown("fusion", dump), shown("summary", dump)
        print(f"show fusion {fusion:.2f} s, show summary {summary:.2f} s: {fusion / summary:.2f}")
        print(f"compile with the ledger against without: {ratio:.3f}")
    return 0 if ratio <= MOST_RATIO and size <= MOST_BYTES and fusion / summary <= MOST_SHOWN else 1


if __name__ == "__main__":
    sys.exit(main())
