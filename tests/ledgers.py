"""What holds of the fusion ledger of every dump."""

import re
from collections import Counter
from itertools import combinations

from inspect_compile.dump import Dump
from inspect_compile.facts import FusionCombo, FusionLooks, FusionOrder, FusionRound, Kernel, Operation
from inspect_compile.facts.fusion import FusionRow
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import Candidate, Ledger
from inspect_compile.graph.fusion.ledger_rows import decoded_looks

_REFUSED = re.compile(r"cannot fuse (\S+) with (\S+): (.*)")
_FUSED = re.compile(r"\] fusing (\S+) with (\S+)")

Said = Counter[tuple[str, ...]]
"""How often torch said what of a pair."""


def logged(log: str) -> list[Said]:
    """What each round of TORCH_LOGS=fusion says, in their order."""
    rounds: list[Said] = []
    for line in log.splitlines():
        if "fuse_nodes_once, candidates:" in line:
            rounds.append(Counter())
        elif found := _REFUSED.search(line):
            rounds[-1]["cannot fuse", *found.groups()] += 1
        elif found := _FUSED.search(line):
            rounds[-1]["fusing", *found.groups()] += 1
    return rounds


def recorded(dump: Dump) -> list[Said]:
    """The same of a dump's rows."""
    rounds: dict[tuple[str, int], Said] = {}
    for graph in dump.outermost():
        rows = _rows(dump, graph.graph)
        for name in dict.fromkeys(row.graph for row in rows):
            own = [row for row in rows if row.graph == name]
            found = decoded_looks(own)
            for begun in found.rounds:
                rounds[name, begun.round] = Counter()
            for row in own:
                if isinstance(row, FusionLooks):
                    said = rounds[name, row.round]
                    for look in row.looks:
                        for refusal in look.refusals:
                            said["cannot fuse", found.text(look.a), found.text(look.b), found.reason(refusal)[0]] += 1
                    for done in row.fused:
                        said["fusing", found.text(done.a), found.text(done.b)] += 1
    return [rounds[key] for key in rounds]


def _rows(dump: Dump, graph: str) -> list[FusionRow]:
    return [row for kind in (FusionRound, FusionLooks, FusionOrder, FusionCombo) for row in dump.rows(kind, graph)]


def check_ledgers(dump: Dump) -> list[Ledger]:
    """Assert all that does not need another run."""
    found = [one for graph in dump.outermost() for one in CompiledGraph(dump, graph.graph).ledgers]
    for one in found:
        _candidates_are_those_that_torch_tried(dump, one)
        _every_sharing_pair_has_a_verdict(one)
        _kernels_are_unions_of_groups(dump, one)
        _numbers_hold(one)
    return found


def _candidates_are_those_that_torch_tried(dump: Dump, ledger: Ledger) -> None:
    """What is made of a round's node list is what can_fuse saw while candidates were collected."""
    rows = [row for row in _rows(dump, ledger.graph) if row.graph == ledger.graph]
    texts = decoded_looks(rows)
    for begun in ledger.rounds:
        seen = {
            frozenset((texts.text(look.a), texts.text(look.b)))
            for row in rows
            if isinstance(row, FusionLooks) and (row.round, row.phase) == (begun.number, "generate")
            for look in row.looks
            if look.outcome <= 1
        }
        assert seen == {frozenset(pair) for pair in begun.pairs()}, f"{ledger.graph} round {begun.number}"


def _every_sharing_pair_has_a_verdict(ledger: Ledger) -> None:
    untried = {frozenset((row.a, row.b)): row for row in ledger.untried()}
    assert all(row.verdict == "untried" and row.code for row in untried.values())
    for begun in ledger.rounds[:1]:
        for a, b in combinations(begun.nodes, 2):
            if not set(begun.buffers[a]) & set(begun.buffers[b]):
                continue
            met = ledger.met(a, b)
            assert met
            assert all(row.verdict != "untried" or row.code for row in met)
            is_tried = any(row.verdict != "untried" for row in met)
            is_together = ledger.final.get(_first(ledger, a), a) == ledger.final.get(_first(ledger, b), b)
            assert (is_tried or is_together) != (frozenset((a, b)) in untried)


def _first(ledger: Ledger, name: str) -> str:
    return ledger.members.get(name, (name,))[0]


def _kernels_are_unions_of_groups(dump: Dump, ledger: Ledger) -> None:
    """Each group stands whole in one kernel of the generated code, and a kernel holds nothing but whole groups."""
    groups = [row for row in dump.rows(Operation, ledger.graph) if row.phase == "post_fusion"]
    groups = [row for row in groups if row.graph == ledger.graph]
    kernels = [row for row in dump.rows(Kernel, ledger.graph) if row.graph == ledger.graph and row.kind != "extern"]
    held: dict[str, set[str]] = {kernel.name: set() for kernel in kernels}
    # torch calls eager operators for the second stages of reductions along both axes.
    along_both = [row for row in groups if row.node_type == "FusedMixOrderReductions"]
    in_stages = {access.buffer for row in along_both for access in row.writes}
    for row in groups:
        assert {ledger.final[member] for member in row.members} == {row.name}
        assert set(row.members) == set(ledger.members[row.name])
        holding = {kernel.name for kernel in kernels if set(row.members) & set(kernel.operations)}
        is_second_stage = not holding and bool(row.reads) and {access.buffer for access in row.reads} <= in_stages
        assert len(holding) == 1 or is_second_stage or row.kind not in ("pointwise", "reduction", "fused", "foreach")
        for name in holding:
            held[name].update(row.members)
    for kernel in kernels:
        assert held[kernel.name] == set(kernel.operations)


def _numbers_hold(ledger: Ledger) -> None:
    for row in ledger.candidates:
        numbers = {name: value for name, value in row.numbers if isinstance(value, int)}
        if "distance" in numbers:
            assert numbers["distance"] > numbers["limit"]
        elif "overhead" in numbers:
            assert numbers["overhead"] > numbers["factor"] * numbers["saved"]
        elif "threshold" in numbers:
            assert numbers["score"] < numbers["threshold"]
        elif "size_a" in numbers:
            assert numbers["size_a"] + numbers["size_b"] > numbers["limit"]
        elif "buffers" in numbers:
            assert numbers["buffers"] > numbers["limit"]
        _is_whole(row)


def _is_whole(row: Candidate) -> None:
    if row.verdict in ("fused", "undone"):
        assert row.into
    if row.verdict == "refused":
        assert row.code
        assert row.reason
    if row.verdict == "allowed" and row.code:
        assert row.won
