"""How much of what `--target` makes is what the GPU itself gets: `python3 benchmarks/fidelity.py`, on an H200 say.

Each program is compiled on the GPU that is here, and for it, with the same data; several at a time. Graphs are paired
by their compile and their direction. What Inductor times on the device it times beside other programs then, and a
timing may come out either way: where the target had such a choice, the program is compiled on the GPU once more, alone
and with a cache that knows none of those timings, as long as there is time, those first that differ.

A kernel is the same if its name and its source are, but for the number in its name, what is known of the device (its
properties) and of the installation (a hash of Triton's backend). Extern kernels are the same by name and number of
calls. A table per program and direction is printed; JSON holds the differences, too. A note tells where
`inspect-compile diff` is of another opinion.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
try:
    import inspect_compile  # noqa: F401
except ModuleNotFoundError:  # not installed: as this tree has it
    subprocess.run([sys.executable, str(ROOT / "scripts" / "link_tree.py")], check=True)
    sys.path.insert(0, str(ROOT / "build" / "typing"))
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT / "build" / "typing"), *filter(None, [os.environ.get("PYTHONPATH")])]
    )

from inspect_compile.analysis.compare.content import content  # noqa: E402
from inspect_compile.analysis.compare.differences import compare  # noqa: E402
from inspect_compile.analysis.compare.pairing import Pairing  # noqa: E402
from inspect_compile.analysis.dumps.nothing import nothing_text  # noqa: E402
from inspect_compile.dump import Dump  # noqa: E402
from inspect_compile.facts import Graph, Kernel, Remark  # noqa: E402

MODELS = ROOT / "tests" / "harmless" / "programs"
TRANSFORMERS = (
    *("gpt2", "bert", "llama", "mixtral", "t5", "vit", "convnext"),
    *("mamba2", "whisper", "swin", "segformer", "detr", "rwkv", "deberta"),
)
PLAIN = ("unet", "gnn", "int8", "fft", "control", "sorted", "jagged")
OF_MODELS = {
    f"{name}-{kind}": (str(MODELS / file), name, kind)
    for file, names in (("real_model.py", TRANSFORMERS), ("plain_model.py", PLAIN))
    for name in names
    for kind in ("inference", "training")
}
FAMILIES = ("gemma3", "t5gemma", "qwen3_moe", "dlrm", "gat", "dit", "resnet_last", "unet_last")
OF_MODELS |= {
    f"{name}-{kind}": (str(HERE / "programs" / "families.py"), name, kind)
    for name in FAMILIES
    for kind in ("inference", "training")
}
OTHERS = {
    **{name: (str(HERE / "programs" / "model.py"), name) for name in ("gpt2", "bert", "llama")},
    **{name: (str(HERE / "programs" / "forms.py"), name) for name in ("bf16", "float8", "tuned_mm", "tuned_conv")},
    **{
        path.stem: (str(path),)
        for path in sorted((ROOT / "samples").glob("*.py"))
        if path.stem not in ("user_triton_kernel", "ddp_step")  # one needs a GPU, one several processes
    },
}
PROGRAMS = {**OF_MODELS, **OTHERS}
ON_GPU = {"softmax_mlp": ("--device", "cuda")}
"""What a program must be told to compute there."""
OF_THE_PLACE = (
    (re.compile(r"DeviceProperties\([^)]*\)"), "DeviceProperties()"),
    (re.compile(r"'backend_hash': '[^']*'"), "'backend_hash': ''"),
)
NUMBER = re.compile(r"_\d+$")
LEAST = 15.0
"""Seconds: with less than that none is begun."""
LONGEST = 40
"""Lines of a difference that are kept."""


class Contents(NamedTuple):
    """What one graph calls: name without its number and source, each as often as it is there."""

    kernels: Counter[tuple[str, str]]
    extern: Counter[str]


class Row(NamedTuple):
    """One direction of a program: what the GPU gets, and how much of that the target got, too."""

    program: str
    kind: str
    graphs: int
    kernels: int
    same_kernels: int
    extern: int
    same_extern: int
    notes: tuple[str, ...]
    differ: tuple[str, ...]

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        total = self.kernels + self.extern
        return (self.same_kernels + self.same_extern) / total if total else 1.0


def contents(dump: Dump, graph: Graph) -> Contents:
    """What a graph and those nested in it call."""
    kernels: Counter[tuple[str, str]] = Counter()
    extern: Counter[str] = Counter()
    for kernel in dump.rows(Kernel, graph.graph):
        source = dump.text(kernel.graph, kernel.source) or "" if kernel.source else ""
        if not source:
            extern[kernel.name] += max(1, len(kernel.launches))
            continue
        for pattern, instead in OF_THE_PLACE:
            source = pattern.sub(instead, source)
        kernels[NUMBER.sub("", kernel.name), source.replace(kernel.name, "KERNEL")] += 1
    return Contents(kernels, extern)


def paired(real: Dump, made: Dump) -> Iterator[tuple[Graph, Graph | None]]:
    """The graphs of the GPU, each with that of the target: of the same compile, in the same direction."""
    there: dict[tuple[str | None, str], list[Graph]] = {}
    for graph in made.outermost():
        there.setdefault((graph.compile_id, graph.kind), []).append(graph)
    for graph in real.outermost():
        candidates = there.get((graph.compile_id, graph.kind))
        yield graph, candidates.pop(0) if candidates else None


def record(words: tuple[str, ...], folder: Path, cache: Path, seconds: float, *options: str) -> str:
    """Record one run in `folder`; what went wrong, in a line."""
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(folder), *options]
    one_core = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": "1"}
    fixed = {"PYTHONHASHSEED": "0"}  # of ways to tile that Inductor thinks as good it takes the first in a set
    try:
        done = subprocess.run(
            [*command, str(HERE / "programs" / "on_device.py"), "cuda", *words],
            cwd=cache,
            env={**os.environ, **one_core, **fixed, "TORCHINDUCTOR_CACHE_DIR": str(cache)},
            capture_output=True,
            text=True,
            check=False,
            timeout=max(1.0, seconds),
        )
    except subprocess.TimeoutExpired:
        return "it took too long"
    folder.with_suffix(".txt").write_text(done.stderr)
    said = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("inspect-compile")]
    return f"exit status {done.returncode}: {said[-1] if said else ''}" if done.returncode else ""


def compared(name: str, root: Path, target: str, failures: list[str], part: str = "real") -> list[Row]:
    """One program: a row for each direction, or one that says why there is none. `part` is what the GPU got."""
    real_root, made_root = root / part, root / "made" / f"target_{target}"
    if failures[0] or not (real_root / "run.json").exists():
        return [Row(name, "", 0, 0, 0, 0, 0, (f"on the GPU: {failures[0]}",), ())]
    notes = [f"for the target: {failures[1]}"] if failures[1] else []
    real, made = Dump(real_root), Dump(made_root) if (made_root / "run.json").exists() else None
    told = [where for where in (made, Dump(root / "made")) if where is not None and (where.root / "run.json").exists()]
    codes = ("target-failed", "target-not-sent", "target-cuda")
    notes += [row.message for where in told for row in where.rows(Remark) if row.code in codes]
    if part != "real":
        notes.append("on the GPU once more, alone: the target had choices that are timed there")
    found: dict[str, list[tuple[Contents, Contents]]] = {}
    nothing = Contents(Counter(), Counter())
    for graph, other in paired(real, made) if made is not None else ((one, None) for one in real.outermost()):
        if other is None:
            notes.append(f"{graph.kind} {graph.compile_id}: nothing was compiled for {target}")
        ours = nothing if other is None or made is None else contents(made, other)
        found.setdefault(graph.kind, []).append((contents(real, graph), ours))
    if not found:
        return [Row(name, "", 0, 0, 0, 0, 0, (f"on the GPU: {nothing_text(real)}",), ())]
    rows = [_row(name, kind, pairs, notes) for kind, pairs in found.items()]
    said = compare(Pairing(content(real), content(made))) if made is not None else []
    if bool(said) != any(row.differ for row in rows):
        notes.append(f"inspect-compile diff says otherwise: {said[0].message if said else 'no difference'}")
        rows = [_row(name, kind, pairs, notes) for kind, pairs in found.items()]
    return rows


def is_timed(made: Path, target: str) -> bool:
    """Was there a choice in what was compiled for the target that Inductor times?"""
    root = made / f"target_{target}"
    there = (root / "run.json").exists()
    return there and any(row.code == "target-not-measured" for row in Dump(root).rows(Remark))


def _row(name: str, kind: str, pairs: list[tuple[Contents, Contents]], notes: list[str]) -> Row:
    differ = [line for there, ours in pairs for line in _differences(there, ours)]
    return Row(
        name,
        kind,
        len(pairs),
        sum(there.kernels.total() for there, _ in pairs),
        sum((there.kernels & ours.kernels).total() for there, ours in pairs),
        sum(there.extern.total() for there, _ in pairs),
        sum((there.extern & ours.extern).total() for there, ours in pairs),
        tuple(dict.fromkeys(notes)),
        tuple(differ),
    )


def _differences(there: Contents, ours: Contents) -> Iterator[str]:
    left = list((ours.kernels - there.kernels).elements())
    for name, source in (there.kernels - ours.kernels).elements():
        other = next((one for one in left if one[0] == name), None)
        if other is None:
            yield f"only on the GPU: {name}"
            continue
        left.remove(other)
        lines = difflib.unified_diff(source.splitlines(), other[1].splitlines(), "GPU", "target", lineterm="", n=0)
        yield "\n".join([f"differs: {name}", *list(lines)[2:LONGEST]])
    yield from (f"only for the target: {name}" for name, _ in left)
    yield from (f"only on the GPU: {name} ({count}×)" for name, count in (there.extern - ours.extern).items())
    yield from (f"only for the target: {name} ({count}×)" for name, count in (ours.extern - there.extern).items())


def main() -> None:
    """Record all, compare, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="sm_90", help="the GPU that is here: sm_90 (the default), …")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(OF_MODELS), metavar="NAME")
    parser.add_argument("--json", type=Path, default=Path("build/fidelity.json"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many runs at a time")
    parser.add_argument("--seconds", type=float, default=450, help="what has not ended by then is left out")
    parser.add_argument("--alone", type=float, default=120, help="seconds more, for programs whose choices are timed")
    parser.add_argument("--keep", type=Path, help="leave the dumps there")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ThreadPoolExecutor(options.jobs) as pool:
        keep = (options.keep or Path(folder)).absolute()
        cache = Path(folder) / "cache"
        cache.mkdir()

        def start(name: str, part: str, *more: str, words: tuple[str, ...] = ()) -> "Future[str]":
            (keep / name).mkdir(parents=True, exist_ok=True)
            given = (*PROGRAMS[name], *words)
            return pool.submit(lambda: record(given, keep / name / part, cache, end - time.monotonic(), *more))

        runs = {
            name: (
                start(name, "real", words=ON_GPU.get(name, ())),
                start(name, "made", "--target", options.target, words=ON_GPU.get(name, ())),
            )
            for name in options.programs
        }
        rows = []
        print(f"{'program':22} {'direction':10} {'graphs':>6} {'kernels':>11} {'extern':>11} {'same':>7}")
        for name, both in runs.items():
            for row in compared(name, keep / name, options.target, [one.result() for one in both]):
                rows.append(row)
                _tell(row)
        end += options.alone
        told = [name for name in runs if is_timed(keep / name / "made", options.target)]
        quiet = Path(folder) / "quiet"
        quiet.mkdir()
        differing = {row.program for row in rows if row.differ}
        for name in sorted(told, key=lambda name: name not in differing):
            if (left := end - time.monotonic()) < LEAST:
                break
            given = (*PROGRAMS[name], *ON_GPU.get(name, ()))
            failures = [record(given, keep / name / "alone", quiet, left), ""]
            if failures[0]:
                continue
            again = compared(name, keep / name, options.target, failures, "alone")
            rows = [row for row in rows if row.program != name] + again
            for row in again:
                _tell(row)
    _sum_up(rows)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    written: list[dict[str, Any]] = [{**row._asdict(), "share": round(row.share, 4)} for row in rows]
    options.json.write_text(json.dumps(written, indent=1) + "\n")


def _tell(row: Row) -> None:
    kernels, extern = f"{row.same_kernels}/{row.kernels}", f"{row.same_extern}/{row.extern}"
    share = f"{row.share:.1%}" if row.graphs else "–"
    print(f"{row.program:22} {row.kind:10} {row.graphs:6} {kernels:>11} {extern:>11} {share:>7}", flush=True)
    for note in (*row.notes, *(line.partition("\n")[0] for line in row.differ)):
        print(f"    {note[:160]}", flush=True)


def _sum_up(rows: list[Row]) -> None:
    """The sums, by direction and over all."""
    for kind in (*dict.fromkeys(row.kind for row in rows if row.graphs), "all"):
        counted = [row for row in rows if row.graphs and kind in (row.kind, "all")]
        _tell(
            Row(
                "sum",
                kind,
                sum(row.graphs for row in counted),
                sum(row.kernels for row in counted),
                sum(row.same_kernels for row in counted),
                sum(row.extern for row in counted),
                sum(row.same_extern for row in counted),
                (),
                (),
            )
        )
    if without := [row.program for row in rows if not row.graphs]:
        print(f"without a figure: {', '.join(without)}")


if __name__ == "__main__":
    main()
