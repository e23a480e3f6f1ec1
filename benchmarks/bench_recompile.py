"""How far a graph compiled again from a log alone is the graph that was recorded: `bench_recompile.py PROGRAM…`.

Each program runs once under `inspect-compile run` with TORCH_TRACE set. Its log is then imported with `--recompile`,
and the second compile of each graph is compared with the recording of the first: kernels equal after renaming, verdicts
and reasons of fusion, and each step of memory. A line for each program; what differs is printed below it.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from inspect_compile.analysis.dumps.parts import replays
from inspect_compile.analysis.kernels.recorded_kernels import kernels_joined
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.graph.memory.plan import memories

_MOST_SHOWN = 6


class Compared(NamedTuple):
    """One graph, of the recording and of the log compiled again."""

    graph: str
    kernels: int
    equal: int
    decisions: int
    same_decisions: int
    is_memory_same: bool
    differ: tuple[str, ...]


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


def compared(recorded: Dump, read: Dump) -> Iterator[Compared]:
    """Each graph of the recording, with what became of it in the log's second compile."""
    again = {part.dump.run.replay_of: part.dump for part in replays(read).values()}
    for fact in recorded.outermost():
        first = CompiledGraph(recorded, fact.graph)
        dump = again.get(fact.graph)
        if dump is None or dump.graph(fact.graph) is None:
            yield Compared(fact.graph, 0, 0, 0, 0, False, ("not compiled again",))
            continue
        second = CompiledGraph(dump, fact.graph)
        kernels = kernels_joined(first, second)
        looks = [
            Counter((row.round, row.a, row.b, row.verdict, row.code, row.reason) for row in candidates(graph))
            for graph in (first, second)
        ]
        memory = [_steps(graph) for graph in (first, second)]
        differ = [f"{one.recorded.name}: another source" for one in kernels.same if one.is_equal is False]
        differ += [f"only recorded: {' '.join(map(str, look))}" for look in looks[0] - looks[1]]
        differ += [f"only again: {' '.join(map(str, look))}" for look in looks[1] - looks[0]]
        differ += [f"memory: {a} / {b}" for a, b in zip(*memory, strict=False) if a != b]
        yield Compared(
            fact.graph,
            kernels.generated,
            kernels.equal,
            looks[0].total(),
            (looks[0] & looks[1]).total(),
            memory[0] == memory[1],
            tuple(differ),
        )


def _steps(graph: CompiledGraph) -> list[tuple[object, ...]]:
    return [
        (name, step.what, step.buffer, step.of, step.change, step.live)
        for name, memory in memories(graph).items()
        for step in memory.steps
    ]


def main(programs: Sequence[str]) -> int:
    """1 if a program's kernels, decisions or memory are not those of the recording."""
    is_bad = False
    for program in programs:
        with tempfile.TemporaryDirectory() as folder:
            rows = list(compared(*logged([program], Path(folder))))
        kernels, equal = sum(row.kernels for row in rows), sum(row.equal for row in rows)
        looks, same = sum(row.decisions for row in rows), sum(row.same_decisions for row in rows)
        memory = sum(row.is_memory_same for row in rows)
        print(
            f"{Path(program).stem}: {len(rows)} graphs, {equal} of {kernels} kernels equal, "
            f"{same} of {looks} decisions, memory of {memory} the same"
        )
        for row in rows:
            for line in row.differ[:_MOST_SHOWN]:
                print(f"    {row.graph}: {line}")
        is_bad = is_bad or equal < kernels or same < looks or memory < len(rows)
    return int(is_bad)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
