"""How long each view of a dump takes, as the number of compiles in it grows: it is to grow no faster than they do.

`bench_sweep.py` records programs/sweep.py, whose compiles are one process's with resets between them, then takes the
first half and the first quarter of that dump and looks at all three: seconds at each size, and how much longer the
double takes. `--dump DUMP` takes one that is there already, `--views NAME …` only those.
"""

import argparse
import contextlib
import io
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from inspect_compile.commands import main
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Frame, Graph, Operation
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables import TABLES
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.fusion import misses
from inspect_compile.tui.models.fx import STAGES, fx
from inspect_compile.tui.models.outline import outline
from inspect_compile.tui.models.run import pages

PROGRAM = Path(__file__).parent / "programs" / "sweep.py"
SLACK = 1.3
"""By how much the double may take longer than twice as long: caches of the processor, collections of garbage."""
SHORTEST = 0.3
"""Seconds below which a view is too short for a ratio to mean something."""

_TOP = "*.jsonl"


def record(root: Path, turns: int) -> None:
    """The sweep, of so many turns."""
    words = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", root, PROGRAM, turns]
    subprocess.run([str(word) for word in words], check=True)


def first(dump: Dump, root: Path, graphs: int) -> None:
    """The dump as it would be, had the program ended behind so many graphs."""
    root.mkdir(parents=True)
    for name in (paths.RUN, paths.FINISHED):
        shutil.copy(dump.root / name, root / name)
    kept = {graph.graph for graph in dump.outermost()[:graphs]}
    compiles = {graph.compile_id for graph in dump.outermost()[:graphs]}
    for table in dump.root.glob(_TOP):
        with table.open("rb") as lines, (root / table.name).open("wb") as out:
            for line in lines:
                graph = msgspec.json.decode(line, type=dict[str, object]).get("graph", "")
                name = str(graph).partition("/")[0]
                if not graph or name in kept or graph in compiles or "/".join(str(graph).split("/")[:2]) in compiles:
                    out.write(line)
    for name in kept:
        shutil.copytree(dump.folder(name), root / paths.graph_folder(name))


def views() -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Name of a view, and what looks."""

    def command(*words: str) -> Callable[[Path], object]:
        def look(root: Path) -> None:
            out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as told:
                if main([str(root) if word == "DUMP" else word for word in words]) > 1:
                    raise RuntimeError(told.getvalue())

        return look

    def why(root: Path) -> None:
        dump = Dump(root)
        last = next(graph for graph in reversed(dump.outermost()) if len(_operations(dump, graph)) > 1)
        command("why", str(root), *_operations(dump, last)[:2], "--graph", last.graph)(root)

    def tree(root: Path) -> None:
        outline(Dump(root), with_kernels=True)

    def run_page(root: Path) -> None:
        pages.run_page(Dump(root), has_program=False)

    def frame_pages(root: Path) -> None:
        dump = Dump(root)
        for name in dict.fromkeys(frame.graph for frame in dump.rows(Frame)):
            pages.frame_page(dump, name)

    def graph_views(root: Path) -> None:
        dump = Dump(root)
        for graph in dump.outermost():
            chain = Chain(CompiledGraph(dump, graph.graph))
            misses(dump, chain)
            for stage in STAGES:
                fx(dump, chain, stage)

    for table in TABLES:
        yield f"show {table}", command("show", "DUMP", table)
        yield f"show {table} --all", command("show", "DUMP", table, "--all")
        yield f"show {table} --json", command("show", "DUMP", table, "--json")
    yield "why", why
    yield "diff", lambda root: command("diff", str(root), str(root.with_name(f"{root.name}-again")))(root)
    yield "tree of the TUI", tree
    yield "page of the run", run_page
    yield "pages of all frames", frame_pages
    yield "models of all graphs", graph_views


def _operations(dump: Dump, graph: Graph) -> list[str]:
    return [row.name for row in dump.rows(Operation, graph.graph) if row.phase == "pre_fusion"]


def seconds(look: Callable[[Path], object], root: Path) -> float:
    """What one look takes of the processor: others may use the machine too."""
    start = time.process_time()
    look(root)
    return time.process_time() - start


def compare(dump: Dump, below: Path, wanted: list[str]) -> bool:
    """Print the table; does each view grow no faster than the dump?"""
    whole = len(dump.outermost())
    sizes = [whole // 4, whole // 2, whole]
    roots = [below / str(size) for size in sizes]
    for size, root in zip(sizes, roots, strict=True):
        first(dump, root, size)
        shutil.copytree(root, root.with_name(f"{root.name}-again"))
    print(f"{'view':32}{''.join(f'{size:>9,}' for size in sizes)}   {'×2':>5} {'×2':>5}")
    good = True
    for name, look in views():
        if wanted and not any(word in name for word in wanted):
            continue
        look(roots[0])  # imports
        took = [seconds(look, root) for root in roots]
        ratios = [later / earlier for earlier, later in itertools.pairwise(took)]
        is_good = took[-1] < SHORTEST or ratios[-1] < 2 * SLACK
        good &= is_good
        words = "".join(f"{found:8.2f} s"[:9].rjust(9) for found in took)
        told = " ".join(f"{ratio:5.1f}" for ratio in ratios)
        print(f"{name:32}{words}   {told}{'' if is_good else '  faster than the dump'}", flush=True)
    return good


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--dump", type=Path, help="one that was recorded")
    parser.add_argument("--turns", type=int, default=430, help="of the sweep; 430 make 1,000 compiles")
    parser.add_argument("--views", nargs="*", default=[], help="only those with one of these words in their names")
    return parser.parse_args()


if __name__ == "__main__":
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        root = arguments.dump or Path(folder, "dump")
        if arguments.dump is None:
            record(root, arguments.turns)
        sys.exit(not compare(Dump(root), Path(folder), arguments.views))
