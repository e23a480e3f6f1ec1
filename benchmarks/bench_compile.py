"""What watching a compile costs: `python benchmarks/bench_compile.py [--pairs 11] [--models gpt2-12 …] [--ways facts …]
[--device cpu] [--minutes M] [--lanes L] [--warm]`.

Each model is compiled by a new process in several ways, in turn: plain, inspected without texts (`--level facts`),
inspected, with TORCH_COMPILE_DEBUG=1, and with TORCH_TRACE (and tlparse, where it is installed); `--ways` chooses among
those beside plain. Each turn begins with another way, A B C D E B C D E A …, so that none always comes first. All of
them find the kernels compiled and torch's graph caches empty, which is what a recording leaves of them. Seconds of one
way are compared with those of plain in the same turn. What is printed is the median of these ratios, and the least and
the greatest.

Below that, where torch's graph caches are warm: plain, inspected with `--cache auto` where all facts are kept, and
where none are (then it compiles anew), in turn, too; with `--warm` nothing else.

On a machine with many cores several turns can go on beside each other, each in a lane of cores of its own: what the
lanes take from each other they take from all ways alike.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
MODELS = {
    "gpt2-12": ("gpt2.py", "12"),
    "gpt2-48": ("gpt2.py", "48"),
    "gpt2-96": ("gpt2.py", "96"),
    "bert": ("bert.py", "12"),
    "resnet-8": ("resnet.py", "8", "inference"),
    "resnet-training": ("resnet.py", "8", "training"),
}
WAYS = ("plain", "facts", "inspected", "debug", "trace")
OURS = {"facts": ["--level", "facts"], "inspected": [], "auto": ["--cache", "auto"], "empty": ["--cache", "auto"]}
"""Way of ours → its options: the tables alone, with texts, with what is kept, and where nothing is."""
WARM = ("warm", "auto", "empty")
"""Ways with warm graph caches: plain, with all facts kept, and with none."""
COLUMNS = {
    "compile_cpu": "compile CPU",
    "compile_wall": "compile wall",
    "tree_cpu": "whole run CPU",
    "calls_wall": "100 calls",
    "peak_bytes": "peak memory",
}
"""Field of a Run → heading."""
GRAPH_CACHES = ("fxgraph", "aotautograd")
STAGES = ("cubin", "hsaco", "llir", "ptx", "amdgcn", "ttgir", "ttir", "sass")
"""Suffixes of compiled stages, whose bytes are told apart."""


@dataclass(frozen=True)
class Run:
    """One process. Seconds and bytes."""

    compile_wall: float
    compile_cpu: float
    """Of the process and its children, from the first call's begin to its end."""
    calls_wall: float
    tree_cpu: float
    """Of the whole run, with what was left to do when the program had ended."""
    peak_bytes: int
    left_bytes: int
    """What it left on disk, compiled stages apart."""
    stage_bytes: int
    own_clock: float
    """Seconds that our probes say they cost, of `compile_wall`; 0 for the other ways."""
    open_seconds: float
    """`inspect-compile show` on the dump; 0 for the other ways."""


def run(way: str, model: str, device: str, cache: Path, *, keep_graphs: bool = False) -> Run:
    """Compile `model` in one way."""
    if not keep_graphs:
        for name in GRAPH_CACHES:
            shutil.rmtree(cache / name, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        left = Path(folder) / "left"
        # One thread: two that wait for each other on a busy machine would measure the machine.
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        environment |= {"INSPECT_COMPILE_CACHE_DIR": str(Path(folder) if way == "empty" else cache) + "/kept"}
        environment |= {"TORCHINDUCTOR_CACHE_DIR": str(cache), "TORCH_COMPILE_DEBUG_DIR": str(left)}
        words = [str(PROGRAMS / MODELS[model][0]), *MODELS[model][1:], device]
        start = [sys.executable]
        if way in OURS:
            start += ["-m", "inspect_compile", "run", "--no-tui", *OURS[way], "--dump", str(left)]
        elif way == "debug":
            environment["TORCH_COMPILE_DEBUG"] = "1"
        elif way == "trace":
            environment["TORCH_TRACE"] = str(left)
        before = os.times()
        found = subprocess.run([*start, *words], env=environment, cwd=folder, capture_output=True, check=False)
        if found.returncode:
            raise SystemExit(f"{model}, {way}: {found.stderr.decode()[-2000:]}")
        if way == "trace" and (tlparse := shutil.which("tlparse")):
            logs = next(left.iterdir())
            subprocess.run([tlparse, str(logs), "-o", str(left / "tl")], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        told = json.loads(next(line for line in found.stdout.splitlines() if line.startswith(b"{")))
        own, opened = looked_at(left) if way in OURS else (0.0, 0.0)
        sizes = [(path.suffix[1:], path.stat().st_size) for path in left.rglob("*") if path.is_file()]
        return Run(
            **told,
            tree_cpu=after.children_user + after.children_system - before.children_user - before.children_system,
            left_bytes=sum(size for suffix, size in sizes if suffix not in STAGES),
            stage_bytes=sum(size for suffix, size in sizes if suffix in STAGES),
            own_clock=own,
            open_seconds=opened,
        )


def looked_at(dump: Path) -> tuple[float, float]:
    """(seconds that the probes of the run cost, seconds that `show` takes)."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "inspect_compile", "show", str(dump)], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - started
    rows = subprocess.run(
        [sys.executable, "-m", "inspect_compile", "show", str(dump), "overhead", "--json"],
        check=True,
        stdout=subprocess.PIPE,
    ).stdout.splitlines()
    return sum(json.loads(row).get("seconds", 0.0) for row in rows), seconds


def ratios(runs: dict[str, list[Run]], way: str, what: str, base: str = "plain") -> list[float]:
    """Of each turn: `what` of `way` to that of plain, or of `base`."""
    return [getattr(own, what) / getattr(plain, what) for own, plain in zip(runs[way], runs[base], strict=True)]


def told(runs: dict[str, list[Run]]) -> list[str]:
    """The table of one model."""
    lines = [f"{'':<11}" + "".join(f"{title:>21}" for title in COLUMNS.values()) + f"{'left on disk':>14}"]
    for way in (way for way in WAYS if runs[way]):
        found, cells = runs[way], []
        for what in COLUMNS:
            if way == "plain":
                median = statistics.median(getattr(run, what) for run in found)
                cells.append(f"{median / 1e6:.0f} MB" if what == "peak_bytes" else f"{median:.2f} s")
            else:
                found_ratios = ratios(runs, way, what)
                middle = statistics.median(found_ratios)
                cells.append(f"{middle:.3f}× ({min(found_ratios):.2f}–{max(found_ratios):.2f})")
        lines.append(
            f"{way:<11}" + "".join(f"{cell:>21}" for cell in cells) + f"{found[-1].left_bytes / 1e6:>11.1f} MB"
        )
    own = {way: statistics.median(run.own_clock / run.compile_wall for run in runs[way]) for way in OURS if runs[way]}
    clocks = ", ".join(f"{share:.1%} {way}" for way, share in own.items())
    lines.append(f"our own clock of the compile: {clocks}")
    if runs["inspected"]:
        opened = statistics.median(run.open_seconds for run in runs["inspected"])
        slower = statistics.median(run.compile_wall for run in runs["inspected"])
        slower /= statistics.median(run.compile_wall for run in runs["warm"])
        lines.append(f"`show overhead` {opened:.2f} s; the inspected compile {slower:.1f}× plain with warm caches")
    return lines


def told_warm(runs: dict[str, list[Run]]) -> list[str]:
    """What is told of warm graph caches: plain in seconds, `auto` against it, with what is kept and without."""
    lines = []
    for what in ("compile_wall", "compile_cpu", "peak_bytes"):
        plain = statistics.median(getattr(run, what) for run in runs["warm"])
        shown = f"{plain / 1e6:.0f} MB" if what == "peak_bytes" else f"{plain:.2f} s"
        kept, empty = (
            f"{statistics.median(found):.3f}× ({min(found):.2f}–{max(found):.2f})"
            for found in (ratios(runs, way, what, "warm") for way in ("auto", "empty"))
        )
        lines.append(f"warm, {COLUMNS[what]}: plain {shown}, --cache auto with all kept {kept}, with nothing {empty}")
    clock = statistics.median(run.own_clock for run in runs["auto"])
    return [*lines, f"our own clock of it: {clock:.2f} s"]


def within(numbers: range, end: float) -> Iterator[int]:
    """Those of the turns that end by `end` (of `time.monotonic`) if each takes as long as the longest; at least one."""
    longest = 0.0
    for number in numbers:
        began = time.monotonic()
        if number != numbers.start and began + longest > end:
            return
        yield number
        longest = max(longest, time.monotonic() - began)


def turns(
    lane: int,
    pairs: int,
    cores: set[int],
    model: str,
    device: str,
    end: float,
    ways: tuple[str, ...],
    compiled: Path,
) -> dict[str, list[Run]]:
    """At most `pairs` turns of one model on these cores, or on any, that end by `end`; at least one.

    The warm ones come first, and take at most half of the time where there are cold ones. `compiled` is a cache of
    Inductor's, with the kernels and the graphs of the model.
    """
    if cores:
        os.sched_setaffinity(0, cores)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        shutil.copytree(compiled, cache)
        runs: dict[str, list[Run]] = {way: [] for way in (*WAYS, *WARM)}
        run("auto", model, device, cache)  # keeps what it records
        now = time.monotonic()
        for turn in within(range(lane, lane + pairs), now + (end - now) / 2 if ways else end):
            for way in (*WARM[turn % len(WARM) :], *WARM[: turn % len(WARM)]):
                runs[way].append(run("plain" if way == "warm" else way, model, device, cache, keep_graphs=True))
        for turn in within(range(lane, lane + pairs), end) if ways else ():
            first = turn % len(ways)
            for way in (*ways[first:], *ways[:first]):
                runs[way].append(run(way, model, device, cache))
    return runs


def measure(
    model: str, pairs: int, device: str, minutes: float, lanes: int, ways: tuple[str, ...]
) -> dict[str, list[Run]]:
    """The turns of one model, and its table on stdout."""
    end = time.monotonic() + 60 * minutes
    cores = sorted(os.sched_getaffinity(0)) if lanes > 1 else []
    lanes = max(1, min(lanes, pairs, len(cores)))
    shares = [set(cores[lane * len(cores) // lanes : (lane + 1) * len(cores) // lanes]) for lane in range(lanes)]
    counts = [len(range(lane, pairs, lanes)) for lane in range(lanes)]
    with (
        tempfile.TemporaryDirectory() as compiled,
        ProcessPoolExecutor(lanes, multiprocessing.get_context("spawn")) as pool,
    ):
        run("plain", model, device, Path(compiled))
        same = [itertools.repeat(value) for value in (model, device, end, ways, Path(compiled))]
        found = list(pool.map(turns, range(lanes), counts, shares, *same))
    runs = {way: [run for lane in found for run in lane[way]] for way in (*WAYS, *WARM)}
    beside = f", {lanes} lanes" if lanes > 1 else ""
    lines = [*(told(runs) if ways else []), *told_warm(runs)]
    print(f"\n{model} on {device}, {len(runs['warm'])} turns{beside}", *lines, sep="\n", flush=True)
    return runs


def main() -> None:
    """Measure; the single runs go to a JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--ways", nargs="+", choices=WAYS[1:], default=list(WAYS[1:]))
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="for each model, with what is compiled before its turns: begin no turn that would not end within these",
    )
    parser.add_argument("--lanes", type=int, default=1, help="turns that go on beside each other (default 1)")
    parser.add_argument("--warm", action="store_true", help="with warm graph caches only")
    parser.add_argument("--json", type=Path, default=Path("build/bench_compile.json"))
    options = parser.parse_args()
    found = {}
    ways = () if options.warm else tuple(way for way in WAYS if way == "plain" or way in options.ways)
    for model in options.models:
        runs = measure(model, options.pairs, options.device, options.minutes, options.lanes, ways)
        found[model] = {way: [asdict(run) for run in own] for way, own in runs.items()}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"device": options.device, "models": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
