"""What the fusion ledger costs with 100,000 looks at pairs: `python benchmarks/bench_fusion.py [--turns 3]`.

A program of many readers of one scalar is compiled by a new process, in turn watched without the probe of fusion and
with it: CPU seconds of the compile, and their ratio. Then the size of the table, how long the ledger takes to be made
of it, and the time of `show fusion` against that of `show summary`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "programs" / "readers.py"
COMMAND = (sys.executable, "-m", "inspect_compile")
MOST_RATIO, MOST_BYTES, MOST_SHOWN = 1.05, 8_000_000, 2.0
"""The bars."""
CHILD = """
import sys, runpy
import inspect_compile
from inspect_compile.child import probes, session
if sys.argv[1] == "without":
    session.PROBES = tuple(entry for entry in probes.PROBES if "lowering.fusion" not in entry.installer)
program, dump, sys.argv = sys.argv[2], sys.argv[3], sys.argv[2:3] + sys.argv[4:]
with inspect_compile.capture(dump):
    runpy.run_path(program, run_name="__main__")
"""


def compiled(way: str, dump: Path, readers: int, cache: Path) -> float:
    """CPU seconds of one compile."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", CHILD, way, str(PROGRAM), str(dump), str(readers)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


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
    from inspect_compile.analysis.ledger import ledgers
    from inspect_compile.dump import open_dump
    from inspect_compile.facts import FusionLooks, Node, Operation

    opened = open_dump(dump)
    (graph,) = [graph.graph for graph in opened.graphs()]
    for kind in (FusionLooks, Node, Operation):
        opened.rows(kind, graph)
    began = time.perf_counter()
    count = sum(len(one.candidates) for one in ledgers(opened, graph))
    return count, time.perf_counter() - began


def main() -> int:
    """Measure, print, and say whether all is within the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--readers", type=int, default=318, help="each pair of them is looked at twice")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        compiled("without", root / "first", arguments.readers, root / "cache")
        ratios = []
        for turn in range(arguments.turns):
            without = compiled("without", root / f"without{turn}", arguments.readers, root / "cache")
            recorded = compiled("with", root / f"with{turn}", arguments.readers, root / "cache")
            ratios.append(recorded / without)
            print(f"compile CPU {without:.2f} s, with the ledger {recorded:.2f} s: {ratios[-1]:.3f}", flush=True)
        dump = root / "with0"
        (table,) = dump.glob("torchinductor/*/fusion.jsonl")
        count, seconds = read(dump)
        size, ratio = table.stat().st_size, statistics.median(ratios)
        print(f"{count:,} candidates, {size:,} bytes, {seconds:.2f} s to make them of the rows")
        fusion, summary = shown("fusion", dump), shown("summary", dump)
        print(f"show fusion {fusion:.2f} s, show summary {summary:.2f} s: {fusion / summary:.2f}")
        print(f"the ledger's share of the compile: {ratio:.3f}")
    return 0 if ratio <= MOST_RATIO and size <= MOST_BYTES and fusion / summary <= MOST_SHOWN else 1


if __name__ == "__main__":
    sys.exit(main())
