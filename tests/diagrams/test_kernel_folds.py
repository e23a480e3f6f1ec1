"""Large kernels in few boxes: no statement is lost, and what is drawn once is what repeats."""

from collections import Counter
from collections.abc import Sequence

import pytest

from inspect_compile.analysis.kernels.statement_flow import COMPUTE, LOAD, STORE, Flow, Read, Step, flow
from inspect_compile.diagrams.kernel_folds import StatementBox, folded
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.statements import Annotated
from tests.diagrams.pictures import FOLDERS, recorded


def step(role: str, operator: str, node: str, reads: Sequence[int] = (), pointer: str = "", loop: int = 0) -> Step:
    row = Annotated("g", "k", 1, "text", operator, (node,), (), ())
    return Step(row, role, tuple(Read(one, f"tmp{one}") for one in reads), (pointer,) if pointer else (), (loop,))


def fold(steps: list[Step], most: int) -> tuple[list[StatementBox], Flow]:
    found = Flow(tuple(steps), ("x0 < 8",) * 100, 0)
    parts, _ = folded([StatementBox((place,)) for place in range(len(steps))], found, most)
    return parts, found


def each_once(parts: Sequence[StatementBox], count: int) -> None:
    seen = Counter(one for part in parts for same in (part.steps, *part.alike) for one in same)
    assert seen == Counter(range(count))


def optimizer(parameters: int) -> list[Step]:
    """For each parameter in a loop of its own: load, sqrt, add of the loaded and the root, store."""
    steps: list[Step] = []
    for number in range(parameters):
        at = len(steps)
        steps += [
            step(LOAD, "load", f"copy_{number}", (), f"in_ptr{number}", number),
            step(COMPUTE, "sqrt", f"sqrt_{number}", (at,), "", number),
            step(COMPUTE, "add", f"add_{number}", (at, at + 1), "", number),
            step(STORE, "store", f"add_{number}", (at + 2,), f"out_ptr{number}", number),
        ]
    return steps


def test_what_repeats_for_other_buffers_is_drawn_once() -> None:
    parts, _ = fold(optimizer(12), 10)
    assert [part.steps for part in parts] == [(0,), (1,), (2,), (3,)]
    assert all(len(part.alike) == 11 for part in parts)
    each_once(parts, 48)


def test_what_differs_in_one_operator_is_drawn() -> None:
    steps = optimizer(12)
    steps[41] = step(COMPUTE, "rsqrt", "sqrt_10", (40,), "", 10)
    parts, _ = fold(steps, 10)
    assert len(parts) == 8
    each_once(parts, 48)


def test_what_reads_in_another_order_is_drawn() -> None:
    steps = optimizer(12)
    steps[42] = step(COMPUTE, "add", "add_10", (40,), "", 10)
    parts, _ = fold(steps, 10)
    assert len(parts) == 8


def window(places: int) -> list[Step]:
    """A maximum over loads of one buffer, each computed with two nodes."""
    steps = [step(LOAD, "load", "pool", (), "in_ptr0"), step(COMPUTE, "relu", "relu", (0,))]
    for _ in range(places):
        at = len(steps)
        steps += [
            step(LOAD, "load", "pool", (), "in_ptr0"),
            step(COMPUTE, "relu", "relu", (at,)),
            step(COMPUTE, "maximum", "pool", (at - 1, at + 1)),
        ]
    return [*steps, step(STORE, "store", "pool", (len(steps) - 1,), "out_ptr0")]


def test_a_window_is_one_box_of_each_node() -> None:
    steps = window(8)
    parts, found = fold(steps, 10)
    told = [(found.steps[part.steps[0]].role, len(part.steps)) for part in parts]
    assert told == [(LOAD, 9), (COMPUTE, 9), (COMPUTE, 8), (STORE, 1)]
    each_once(parts, len(steps))


def test_a_small_kernel_stays_as_it_is() -> None:
    parts, _ = fold(window(8), 100)
    assert len(parts) == len(window(8))


@pytest.mark.parametrize("name", FOLDERS)
def test_no_statement_of_a_recorded_kernel_is_lost(name: str) -> None:
    dump = recorded(name)
    for kernel in dump.rows(Kernel):
        source = dump.text(kernel.graph, kernel.source) if kernel.source else None
        rows = CompiledGraph(dump, kernel.graph).statements.all_annotated(kernel, ())
        if source is not None and rows:
            found = flow(rows, source)
            parts, _ = folded([StatementBox((place,)) for place in range(len(found.steps))], found, 0)
            each_once(parts, len(found.steps))
