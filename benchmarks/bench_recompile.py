"""How far a graph compiled again from a log alone is the graph that was recorded.

`python benchmarks/bench_recompile.py samples/softmax_mlp.py "benchmarks/programs/families.py dlrm training"`

Each program runs once under `inspect-compile run` with TORCH_TRACE set. Its log is then imported with `--recompile`,
and the second compile of each graph is compared with the recording of the first: kernels equal after renaming, verdicts
and reasons of fusion, and each step of memory. A line for each program; what differs is printed below it.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from inspect_compile.dump import Dump

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.recompiled import compared

_MOST_SHOWN = 6


def logged(program: Sequence[str], folder: Path) -> tuple[Dump, Dump]:
    """Run the program; the dump of the recording, and the one that is made of its log and compiled again."""
    environment = {**os.environ, "TORCH_TRACE": str(folder / "log"), "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", "inspect_compile"]
    run = [*command, "run", "--no-tui", "--dump", str(folder / "dump"), *program]
    subprocess.run(run, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    again = [*command, "import", str(folder / "log"), "-o", str(folder / "read"), "--recompile"]
    done = subprocess.run(again, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, file=sys.stderr, end="")
    return Dump(folder / "dump"), Dump(folder / "read")


def main(programs: Sequence[str]) -> int:
    """1 if a program's kernels, decisions or plans of memory are not those of the recording."""
    is_bad = False
    for program in programs:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            rows = list(compared(*logged(shlex.split(program), Path(folder))))
        kernels, equal = sum(row.kernels for row in rows), sum(row.equal for row in rows)
        looks, same = sum(row.decisions for row in rows), sum(row.same_decisions for row in rows)
        plans, memory = sum(row.is_plan_same for row in rows), sum(row.is_memory_same for row in rows)
        print(
            f"{program}: {len(rows)} graphs, {equal} of {kernels} kernels equal, "
            f"{same} of {looks} decisions, plans of {plans} and memory of {memory} the same"
        )
        for row in rows:
            for line in row.differ[:_MOST_SHOWN]:
                print(f"    {row.graph}: {line}")
        is_bad = is_bad or equal < kernels or same < looks or plans < len(rows)
    return int(is_bad)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
