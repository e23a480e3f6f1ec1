"""The least time of large kernels against the measured one: is the bound a bound, and how near do kernels come to it?

    python benchmarks/bench_roofline.py [GROUP …] [-o FOLDER]     # with a CUDA device

Runs groups of benchmarks/programs/large_kernels.py under inspection and torch.profiler, joins both, and prints each
launch. It fails where a launch that moves more than MOVED bytes was faster than its bound by more than SLACK: what
moves less may find its bytes in the L2 cache.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from inspect_compile.analysis.cost.roofline import Bounds, median_reached, roofline
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.runtime.attributed_time import measured_in
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.profiles.read import read

PROGRAM = Path(__file__).resolve().parent / "programs/large_kernels.py"
GROUPS = ("pointwise", "reduction", "movement", "matmul", "tiny")
MOVED, SLACK = 200e6, 1.03
SECONDS = 120


def launches_of(group: str, folder: Path) -> list[Bounds]:
    """Those of one group, measured."""
    dump, trace = folder / group, folder / f"{group}.json"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(dump), str(PROGRAM)]
    done = subprocess.run([*command, str(trace), group], capture_output=True, text=True, timeout=SECONDS, check=False)
    for line in done.stdout.splitlines():
        if not line.startswith("compiled"):
            print(line)
    if done.returncode:
        print(done.stderr[-2000:])
        return []
    found = open_dump(dump)
    joined = attribute(found, read(trace))
    print(f"{joined.seconds_joined:.4f} of {joined.seconds:.4f} s joined", flush=True)
    times, roof = measured_in(joined), roof_of(found)
    if roof is None:
        print("its device has no roof")
        return []
    print(f"{roof.name}: {roof.bandwidth / 1e9:,.0f} GB/s ({roof.source})")
    return [row for graph in found.outermost() for row in roofline(CompiledGraph(found, graph.graph), roof, times)]


def told(row: Bounds) -> str:
    """One line."""
    reached = "      " if row.reached is None else f"{row.reached:6.3f}"
    measured = row.measured_seconds or 0.0
    place = f"{row.lines[0].line:4}" if row.lines else "    "
    times = f"{row.least_seconds * 1e6:9.1f} of {measured * 1e6:9.1f} µs"
    moved = f"{row.bytes / 1e6:8.1f} MB +{row.unsure / 1e6:7.1f}"
    work = f"{(row.heavy + row.scalar) / 1e9:9.2f} GFLOP {row.peak:9}"
    return f"{reached}  {times}  {row.bound:7}  {moved}  {work}{place}  {row.kernel}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", metavar="GROUP", choices=(*GROUPS, []), help=", ".join(GROUPS))
    parser.add_argument("-o", "--output", type=Path, help="where dumps and traces stay")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rows = []
        for group in arguments.groups or GROUPS:
            print(f"\n{group}")
            try:
                found = launches_of(group, arguments.output or Path(scratch))
            except subprocess.TimeoutExpired:
                print(f"not done in {SECONDS} s")
                continue
            for row in found:
                print(told(row), flush=True)
            rows += found
    large = [row for row in rows if row.bytes > MOVED and row.reached is not None]
    above = [row for row in large if row.reached is not None and row.reached > SLACK]
    median = median_reached(large)
    print(f"\n{len(large)} launches move more than {MOVED / 1e6:.0f} MB; least/measured: median {median or 0:.3f}")
    for row in above:
        print(f"faster than its bound: {told(row)}")
    sys.exit(bool(above) or not large)


if __name__ == "__main__":
    main()
