"""How long `diff` takes for two dumps of NODES nodes that differ little or much: `bench_diff.py [NODES]`.

Seconds of the whole command, and of finding the causes alone, for one node in so many that has another operator, and
a kernel in as many that has another source.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from synthetic_dump import GRAPH, make  # beside this file

from inspect_compile.analysis.compare.causes.find import causes
from inspect_compile.analysis.compare.pairing import paired
from inspect_compile.dump import open_dump

EVERY = (0, 5000, 100, 5)


def changed(root: Path, every: int) -> None:
    """Give every so many-th node, and kernel, something else to do."""
    folder = root / "torchinductor" / GRAPH
    for path in [folder / "nodes.jsonl", *folder.glob("kernels/*/source.cpp")]:
        lines = path.read_text().splitlines(keepends=True)
        if path.suffix == ".jsonl":
            lines = [
                line.replace("aten.exp.default", "aten.sin.default") if index // 2 % every == every // 2 else line
                for index, line in enumerate(lines)
            ]
        else:
            number = int(path.parent.name.rpartition("_")[2])
            lines += ["// else\nint other;\n"] if number * 8 % every < 8 else []
        path.write_text("".join(lines))


def main(nodes: int) -> None:
    """Print a line for each."""
    for every in EVERY:
        with tempfile.TemporaryDirectory() as folder:
            one, other = Path(folder, "one"), Path(folder, "other")
            for root in (one, other):
                make(root, nodes)
            if every:
                changed(other, every)
            started = time.monotonic()
            found = causes(paired(open_dump(one), open_dump(other)))
            alone = time.monotonic() - started
            command = [sys.executable, "-m", "inspect_compile", "diff", str(one), str(other)]
            started = time.monotonic()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
            whole = time.monotonic() - started
            told = f"one in {every}" if every else "nothing"
            print(
                f"{nodes:,} nodes, {told} differs: {whole:.1f} s, causes {alone:.1f} s ({len(found)} causes)",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
