"""The refusals that are read from torch's log of fusions are those that were recorded."""

from collections import Counter
from collections.abc import Iterable

from inspect_compile.dump import Dump
from inspect_compile.facts import FusionLooks, FusionRound, Operation
from inspect_compile.facts.fusion import REFUSED, FusionRow
from inspect_compile.origins.fusion_log import fusion_rows
from tests.conftest import DumpOf, PlainOf

_LOG = """
[scheduler.py:5993 DEBUG] fuse_nodes_once, candidates:
[scheduler.py:5995 DEBUG]   SchedulerNode(name='op0'), Pointwise(['[8]', 'origins=OrderedSet([relu])'])
[scheduler.py:5995 DEBUG]   ExternKernelSchedulerNode(name='op1')
[scheduler.py:5995 DEBUG]   SchedulerNode(name='op2'), Reduction(['[8]', 'sum', 'origins=OrderedSet([sum_1])'])
[scheduler.py:2059 DEBUG] cannot fuse op0 with op1: no shared data
[scheduler.py:5748 DEBUG] fusing op0 with op2
[scheduler.py:5993 DEBUG] fuse_nodes_once, candidates:
[scheduler.py:5995 DEBUG]   FusedSchedulerNode(nodes=op0_op2), snodes: ["SchedulerNode(name='op0')"]
"""

Refused = Counter[tuple[str, str]]


def texts_of(rows: Iterable[FusionRow]) -> dict[int, str]:
    return {number: text for row in rows for number, text in enumerate(row.texts, row.first)}


def refused(rows: list[FusionLooks], texts: dict[int, str]) -> Refused:
    return Counter((texts[look.a], texts[look.b]) for row in rows for look in row.looks if look.outcome == REFUSED)


def test_refusals_are_those_that_were_recorded(plain_of: PlainOf, dump_of: DumpOf) -> None:
    dump = Dump(dump_of("missed_fusion").dump)
    [graph] = dump.outermost()
    read = list(fusion_rows(graph.graph, plain_of("missed_fusion").log, dump.rows(Operation)))
    looks = [row for row in read if isinstance(row, FusionLooks)]
    recorded = dump.rows(FusionLooks)
    rounds = dump.rows(FusionRound)
    assert refused(looks, texts_of(read)) == refused(recorded, texts_of([*rounds, *recorded]))
    assert "no shared data" in texts_of(read).values()


def test_rounds_hold_their_nodes_and_what_those_use() -> None:
    first, looks, second = fusion_rows("g", _LOG)
    texts = texts_of([first, looks, second])
    assert isinstance(first, FusionRound)
    assert isinstance(looks, FusionLooks)
    assert isinstance(second, FusionRound)
    assert [texts[number] for number in first.nodes] == ["op0", "op1", "op2"]
    assert [texts[number] for number in first.unfusable] == ["op1"]
    assert [texts[number] for number in second.nodes] == ["op0_op2"]
    assert (first.round, looks.round, second.round) == (1, 1, 2)
    [fusion] = looks.fused
    assert texts[fusion.into] == "op0_op2"


def test_a_strange_log_is_read_as_far_as_it_goes() -> None:
    assert list(fusion_rows("g", "")) == []
    assert list(fusion_rows("g", "cannot fuse\nfusing\n" * 100_000)) == []
    assert list(fusion_rows("g", "cannot fuse " + "a" * 1_000_000)) == []
    long = list(fusion_rows("g", f"cannot fuse a with b: {'x' * 1_000_000}"))
    assert [len(text) for text in texts_of(long).values()] == [2000, 1, 1]
    assert len(list(fusion_rows("g", "fuse_nodes_once, candidates:\n" * 1000))) == 1000
