"""A recording beside the second compile of the same run's log, which had nothing but the log: what differs."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from inspect_compile.analysis.dumps.parts import replays
from inspect_compile.analysis.kernels.recorded_kernels import kernels_joined
from inspect_compile.dump import Dump
from inspect_compile.facts import WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.graph.memory.plan import memories


class Compared(NamedTuple):
    """One graph, of the recording and of the log compiled again."""

    graph: str
    kernels: int
    equal: int
    decisions: int
    same_decisions: int
    is_plan_same: bool
    """The same buffers are allocated, reused and freed, line by line."""
    is_memory_same: bool
    """The same is held after each line, what the backward frees of the forward's included."""
    differ: tuple[str, ...]


def compared(recorded: Dump, read: Dump) -> Iterator[Compared]:
    """Each graph of the recording, with what became of it in the log's second compile."""
    again = {part.dump.run.replay_of: part.dump for part in replays(read).values()}
    for fact in recorded.outermost():
        first = CompiledGraph(recorded, fact.graph)
        dump = again.get(fact.graph)
        if dump is None or dump.graph(fact.graph) is None:
            yield Compared(fact.graph, 0, 0, 0, 0, False, False, ("not compiled again",))
            continue
        second = CompiledGraph(dump, fact.graph)
        kernels = kernels_joined(first, second)
        looks = [
            Counter((row.round, row.a, row.b, row.verdict, row.code, row.reason) for row in candidates(graph))
            for graph in (first, second)
        ]
        plans = [_plan(graph) for graph in (first, second)]
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
            plans[0] == plans[1],
            memory[0] == memory[1],
            tuple(differ),
        )


def _plan(graph: CompiledGraph) -> list[tuple[object, ...]]:
    return [
        (row.graph, row.what, row.buffer, row.becomes, row.bytes)
        for row in graph.rows(WrapperLine)
        if row.is_planned or row.line is not None
    ]


def _steps(graph: CompiledGraph) -> list[tuple[object, ...]]:
    return [
        (name, step.what, step.buffer, step.of, step.change, step.live)
        for name, memory in memories(graph).items()
        for step in memory.steps
    ]
