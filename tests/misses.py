"""What holds of the misses of every dump: no set of them that could hold together is worth more than what is moved."""

from collections.abc import Iterable

from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.analysis.fusion.misses import UNFUSABLE, Miss
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic

_Place = tuple[str, str | int]


def check_misses(dump: Dump) -> list[Miss]:
    """Assert it of every graph; its misses."""
    return [miss for graph in dump.outermost() for miss in _check(dump, graph.graph)]


def _check(dump: Dump, graph: str) -> list[Miss]:
    found, traffic = fusion(CompiledGraph(dump, graph)), CompiledGraph(dump, graph).traffic
    rows = traffic.all()
    place_of: dict[tuple[str, str], _Place] = {}
    moved: dict[_Place, KernelTraffic] = {}
    for place, (launch, row) in enumerate(zip(traffic.launches, rows, strict=True)):
        moved["launch", place] = row
        place_of.update(((launch.graph, group), ("launch", place)) for group in launch.groups)
    parts = {(row.graph, row.name) for row in dump.rows(Operation, graph) if row.ir_type == "MultiOutput"}
    for miss in found.misses:
        a, b = (place_of.get((miss.graph, name)) for name in (miss.a, miss.b))
        assert miss.saved_bytes > 0
        assert set(miss.handed) <= set(miss.buffers)
        if a is None or b is None:
            is_part = bool({(miss.graph, miss.a), (miss.graph, miss.b)} & parts)
            assert is_part or miss.code == UNFUSABLE, f"{miss.a} and {miss.b} are in no launch"  # a cond is no launch
            continue
        assert miss.one_kernel == (a == b), f"{miss.a} and {miss.b} of {miss.graph}"
        worth = (moved[a].generated, moved[b].generated) if a == b else (moved[a].least, moved[b].least)
        assert miss.saved_bytes <= (sum(worth) if miss.handed else min(worth))
    launched = [row for row in found.misses if {(row.graph, row.a), (row.graph, row.b)} <= place_of.keys() | parts]
    apart = [miss for miss in launched if not miss.one_kernel]
    assert _dearest(apart, place_of) <= traffic.moved
    told = graph_bytes(CompiledGraph(dump, graph))
    assert max((miss.saved_bytes for miss in found.apart), default=0) <= told.missed <= told.moved
    assert _dearest(launched, {}) <= told.generated
    return found.misses


def _dearest(misses: Iterable[Miss], place_of: dict[tuple[str, str], _Place]) -> int:
    """The most that any of them are worth that could hold together: each joins what the others have not joined.

    The heaviest spanning forest of launches, or of scheduler nodes that are in none.
    """
    above: dict[object, object] = {}

    def root(one: object) -> object:
        while one in above:
            one = above[one]
        return one

    total = 0
    for miss in sorted(misses, key=lambda miss: -miss.saved_bytes):
        a, b = (root(place_of.get((miss.graph, name), (miss.graph, name))) for name in (miss.a, miss.b))
        if a != b:
            above[a] = b
            total += miss.saved_bytes
    return total
