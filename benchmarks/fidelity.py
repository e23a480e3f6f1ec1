"""How much of what `--target` makes is what the GPU itself gets: `python benchmarks/fidelity.py --target sm_90` on one.

Every program is compiled on the GPU, and for it, with the same data. A kernel is the same if its name and its source
are, but for what is known of the device (its properties) and of the installation (a hash of Triton's backend). Extern
kernels are the same by name and number of calls.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from inspect_compile.analysis.graphs import outermost
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Kernel, Remark

HERE = Path(__file__).resolve().parent
PROGRAMS = {
    **{name: (str(HERE / "programs" / "model.py"), name) for name in ("gpt2", "bert", "llama")},
    **{name: (str(HERE / "programs" / "forms.py"), name) for name in ("bf16", "float8", "tuned_mm", "tuned_conv")},
    **{
        path.stem: (str(path),)
        for path in sorted((HERE.parent / "samples").glob("*.py"))
        if path.stem not in ("user_triton_kernel", "ddp_step")  # one needs a GPU, one several processes
    },
}
ON_GPU = {"softmax_mlp": ("--device", "cuda")}
"""What a program must be told to compute there."""
OF_THE_PLACE = (
    (re.compile(r"DeviceProperties\([^)]*\)"), "DeviceProperties()"),
    (re.compile(r"'backend_hash': '[^']*'"), "'backend_hash': ''"),
)


def kernels(dump: Dump, graph: Graph) -> Counter[tuple[str, str]]:
    """(name, source) of each kernel, as often as it is called where it is an extern one."""
    found: Counter[tuple[str, str]] = Counter()
    for kernel in dump.rows(Kernel, graph.graph):
        source = dump.text(kernel.graph, kernel.source) or "" if kernel.source else ""
        for pattern, instead in OF_THE_PLACE:
            source = pattern.sub(instead, source)
        found[kernel.name, source] = 1 if source else max(1, len(kernel.launches))
    return found


def record(words: tuple[str, ...], folder: Path, *options: str, on_gpu: bool) -> Dump:
    """The dump of one run."""
    first = [str(HERE / "programs" / "on_device.py"), "cuda" if on_gpu else "cpu"]
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(folder), *options]
    done = subprocess.run([*command, *first, *words], cwd=folder.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr[-2000:]}")
    return Dump(folder)


def compared(name: str, target: str, keep: Path) -> dict[str, object]:
    """One program: how many kernels are the same, and what the others are."""
    words = PROGRAMS[name]
    real = record((*words, *ON_GPU.get(name, ())), keep / name / "real", on_gpu=True)
    record(words, keep / name / "made", "--target", target, on_gpu=False)
    made = Dump(keep / name / "made" / f"target_{target}")
    same = total = 0
    differ: list[str] = []
    pairs = list(zip(outermost(real), outermost(made), strict=False))
    for there, here in pairs:
        a, b = kernels(real, there), kernels(made, here)
        same += (a & b).total()
        total += a.total()
        differ += [f"{there.kind} - {kernel}" for kernel, _ in a - b] + [
            f"{there.kind} + {kernel}" for kernel, _ in b - a
        ]
    differ += [row.message for row in made.rows(Remark) if row.code in ("target-failed", "target-not-sent")]
    graphs = [len(outermost(real)), len(outermost(made))]
    return {"program": name, "graphs": graphs, "same": same, "kernels": total, "differ": differ}


def main() -> None:
    """Compare; each row goes to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True, help="the GPU that is here: sm_90, …")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--json", type=Path, default=Path("build/fidelity.json"))
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.programs:
            (Path(folder) / name).mkdir()
            row = compared(name, options.target, Path(folder))
            rows.append(row)
            share = row["same"] / row["kernels"] if row["kernels"] else 1.0  # type: ignore[operator]
            print(f"{name:20} graphs {row['graphs']}  same {row['same']} of {row['kernels']}  {share:.0%}", flush=True)
            print(*(f"    {line}" for line in row["differ"]), sep="\n", flush=True)  # type: ignore[attr-defined]
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1) + "\n")
    same, total = (sum(row[what] for row in rows) for what in ("same", "kernels"))  # type: ignore[misc]
    print(f"all: {same} of {total}, {same / total:.1%}")


if __name__ == "__main__":
    main()
