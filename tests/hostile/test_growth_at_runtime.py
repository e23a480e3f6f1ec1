"""What reads calls: of graphs in a profile, of functions in a compile, of nested graphs in the generated code.

Twice the facts and events take at most 2.5 times as long.
"""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from inspect_compile.analysis.frontend.call_path import call_path, call_rows
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.analysis.runtime.launch_plan import plans
from inspect_compile.analysis.runtime.measured import measured_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import Call, CudaGraph, Fact, Graph, Kernel, Launched
from inspect_compile.facts.runtime import Recording
from inspect_compile.graph import CompiledGraph, Graphs
from tests.handmade import GRAPH, line, made, operation
from tests.hostile.long_wrappers import WRAPPERS
from tests.hostile.recorded_calls import PROFILES, launching, triton
from tests.hostile.test_growth import check

LEAST: Final = 0.05
"""Seconds of CPU time that say something: loops in C show late how they grow."""


@pytest.mark.harmless
@pytest.mark.parametrize("name", PROFILES)
def test_profiles_with_their_dumps(name: str, tmp_path: Path) -> None:
    folders = itertools.count()

    def prepared(count: int) -> Callable[[], object]:
        facts, profile = PROFILES[name](count)
        root = made(tmp_path / str(next(folders)), *facts).root
        return lambda: attribute(Dump(root), profile)

    check(prepared, LEAST)


def _grows(tmp_path: Path, facts: Callable[[int], list[Fact]], look: Callable[[Dump], object]) -> None:
    folders = itertools.count()

    def prepared(count: int) -> Callable[[], object]:
        root = made(tmp_path / str(next(folders)), *facts(count)).root
        return lambda: look(Dump(root))

    check(prepared, LEAST)


@pytest.mark.harmless
@pytest.mark.parametrize("name", WRAPPERS)
def test_memory_calls(name: str, tmp_path: Path) -> None:
    whole = Graph(graph=GRAPH, kind="inference", compile_id="0/0")
    _grows(tmp_path, lambda n: [whole, *WRAPPERS[name](n)], lambda dump: CompiledGraph(dump, GRAPH).memory)


def _launches(n: int) -> list[Fact]:
    """One kernel that is called over and over, for as many groups."""
    groups = [f"op{i}" for i in range(n)]
    return [
        *launching(GRAPH, ("aten::mm",)),
        *(operation(name, reads={f"in{name}": 8}, writes={f"buf{name}": 8}) for name in groups),
        Kernel(
            graph=GRAPH,
            name=triton(0),
            kind="triton",
            groups=tuple(groups),
            operations=tuple(groups),
            launches=tuple(range(2, n + 2)),
        ),
        *(line(i + 1, "launch", kernel=triton(0), arguments=(f"inop{i}", f"bufop{i}")) for i in range(n)),
    ]


def _measured(n: int) -> list[Fact]:
    return [
        *launching(GRAPH, [triton(i) for i in range(n)]),
        *(
            Launched(graph=GRAPH, kernel=triton(i), line=i + 1, calls=calls, timed=calls, milliseconds=1.0, least=1.0)
            for calls in range(3)
            for i in range(n)
        ),
    ]


def _cudagraphs(n: int) -> list[Fact]:
    recordings = tuple(Recording(node=i, why=f"input {i} moved", inputs=(f"arg{i}",)) for i in range(n))
    return [
        Graph(graph=GRAPH, kind="inference"),
        *(CudaGraph(graph=GRAPH, number=i, recorded=1) for i in range(n)),
        CudaGraph(graph=GRAPH, number=n, recorded=n, recordings=recordings),
    ]


def _functions(n: int) -> list[Fact]:
    return [
        Graph(graph=GRAPH, kind="inference"),
        *(
            Call(
                graph="",
                index=i,
                parent=i - 1 if i else None,
                stage="inner",
                function="f",
                defined="a.py:1",
                received="",
                inductor_graph=GRAPH,
            )
            for i in range(n)
        ),
    ]


READERS: Final[dict[str, tuple[Callable[[int], list[Fact]], Callable[[Dump], object]]]] = {
    "the launch plan": (_launches, lambda dump: [plan.steps for plan in plans(dump)]),
    "the launch plan of many graphs": (
        lambda n: [fact for i in range(n) for fact in launching(f"model__{i}_inference_{i}.0", (triton(i),), f"{i}/0")],
        lambda dump: [plan.steps for plan in plans(dump)],
    ),
    "measured launches": (_measured, lambda dump: list(measured_rows(Graphs(dump, None)))),
    "CUDA graphs": (_cudagraphs, lambda dump: cudagraph_rows(Graphs(dump))),
    "functions": (_functions, lambda dump: call_rows(Graphs(dump))),
    "functions of a graph": (_functions, lambda dump: call_path(CompiledGraph(dump, GRAPH))),
}


@pytest.mark.harmless
@pytest.mark.parametrize("name", READERS)
def test_calls(name: str, tmp_path: Path) -> None:
    _grows(tmp_path, *READERS[name])
