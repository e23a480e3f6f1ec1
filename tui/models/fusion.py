"""What was fused, which pairs stayed apart though they share bytes, and every pair that was looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import Final

from inspect_compile.analysis.fusion import Group, Miss
from inspect_compile.analysis.fusion import fusion as summed_up
from inspect_compile.dump import Dump
from inspect_compile.facts import Attempt
from inspect_compile.tables.text import byte_text, number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.sheet import Cell, Column, Row, Subject, Table, cell

GROUPS: Final = (
    Column("group", stretch=True, least=20, most=60),
    Column("kind"),
    Column("ops", right=True),
    Column("line", stretch=True, least=14, most=30, drop=2),
    Column("kernel", stretch=True, least=20, most=90, middle=True, drop=1),
)
MISSES: Final = (
    Column("shared", right=True),
    Column("one", stretch=True, least=8, most=36),
    Column("other", stretch=True, least=6, most=36),
    Column("why not", stretch=True, least=12, most=24),
    Column("reason", stretch=True, least=16, most=90, drop=1),
)
PAIRS: Final = (
    Column("round", right=True, drop=2),
    Column("one", stretch=True, least=8, most=36),
    Column("other", stretch=True, least=6, most=36),
    Column("shared", right=True),
    Column("verdict"),
    Column("reason", stretch=True, least=10, most=90),
)


WRAP: Final = 44
"""Columns of a reason."""


@dataclass(frozen=True)
class Fusion:
    """The fusion of a graph."""

    groups: Table
    missed: Table
    pairs: Table
    details: dict[str, Callable[[], list[CodeLine]]]
    """Row key → what puts all that is known of the row into words."""

    def detail(self, key: str) -> Code:
        """All that is known of a row."""
        return Code(self.details[key]()) if key in self.details else Code(())


def fusion(dump: Dump, chain: Chain) -> Fusion:
    """Sum up the chain's graph."""
    found = summed_up(dump, chain.graph)
    operations = _Operations(chain, found.groups)
    details: dict[str, Callable[[], list[CodeLine]]] = {}
    groups = []
    for group in found.groups:
        key = f"group {chain.key(group.graph, group.name)}"
        subject = operations.subject(group.graph, group.name)
        details[key] = partial(_group_detail, group)
        groups.append(Row(key, partial(_group_cells, group, chain, operations), subject))
    apart = [miss for miss in found.misses if not miss.one_kernel]
    together = [miss for miss in found.misses if miss.one_kernel]
    missed: list[Row] = []
    for misses, heading in ((apart, ""), (together, "in one kernel, as separate loops")):
        if misses and heading:
            missed.append(Row("together", (cell(heading, "title"),), heading=True))
        for miss in misses:
            key = f"miss {chain.key(miss.graph, miss.a)} {miss.b}"
            details[key] = partial(_miss_detail, miss, operations)
            missed.append(Row(key, partial(_miss_cells, miss), operations.pair(miss.graph, miss.a, miss.b)))
    pairs = []
    for index, attempt in enumerate(dump.rows(Attempt, chain.graph)):
        key = f"pair {index}"
        details[key] = partial(_pair_detail, attempt, operations)
        pairs.append(Row(key, partial(_pair_cells, attempt), operations.pair(attempt.graph, attempt.a, attempt.b)))
    return Fusion(
        Table(GROUPS, groups),
        Table(MISSES, missed),
        Table(PAIRS, pairs),
        details,
    )


def misses(dump: Dump, chain: Chain) -> list[tuple[Miss, Subject]]:
    """Pairs that share bytes and ended in two kernels, the dearest first, each with its operations."""
    found = summed_up(dump, chain.graph)
    operations = _Operations(chain, found.groups)
    return [(miss, operations.pair(miss.graph, miss.a, miss.b)) for miss in found.misses if not miss.one_kernel]


class _Operations:
    """The operations behind a scheduler node's name, of any round."""

    def __init__(self, chain: Chain, groups: list[Group]) -> None:
        self._chain = chain
        self._members = {(group.graph, group.name): group.members for group in groups}
        self._single = {(group.graph, name) for group in groups for name in group.members}
        self._names: dict[tuple[str, str], tuple[str, ...]] = {}

    def names(self, graph: str, name: str) -> tuple[str, ...]:
        """Operations, as the chain calls them; `op1_op2` of an early round is taken apart."""
        if (graph, name) not in self._names:
            members = self._members.get((graph, name))
            if members is None:
                members = (name,) if (graph, name) in self._single else _parts(name)
            self._names[graph, name] = tuple(self._chain.key(graph, member) for member in members)
        return self._names[graph, name]

    def subject(self, graph: str, name: str) -> Subject:
        """A scheduler node."""
        return Subject("operation", self.names(graph, name), name, (name,))

    def pair(self, graph: str, a: str, b: str) -> Subject:
        """Two scheduler nodes."""
        return Subject("operation", self.names(graph, a) + self.names(graph, b), f"{a} × {b}", (a, b))

    def told(self, graph: str, a: str, b: str) -> list[CodeLine]:
        """Where in the program the two of a pair come from."""
        names = max(len(a), len(b))
        return [CodeLine(f"{name:{names}}  {self.lines(graph, name)}", role="dim") for name in (a, b)]

    def lines(self, graph: str, name: str) -> str:
        """The user's lines of a scheduler node."""
        return self._chain.lines_of_operations(self.names(graph, name))


def _parts(name: str) -> tuple[str, ...]:
    """`op3_op12` → op3, op12; a nested graph's operations have underscores of their own: `true_graph_0_op3`."""
    parts: list[str] = []
    waiting: list[str] = []
    for word in name.split("_"):
        waiting.append(word)
        if word.startswith("op") and word[2:].isdecimal():
            parts.append("_".join(waiting))
            waiting = []
    return tuple(parts) or (name,)


def _group_cells(group: Group, chain: Chain, operations: _Operations) -> tuple[Cell, ...]:
    return (
        cell(chain.key(group.graph, group.name), "name" if len(group.members) > 1 else ""),
        cell(group.kind, "type" if group.kind == "fused" else "dim"),
        cell(str(len(group.members)), "accent" if len(group.members) > 1 else "dim"),
        cell(operations.lines(group.graph, group.name), "dim"),
        cell(group.kernel, "" if group.kernel else "dim"),
    )


def _group_detail(group: Group) -> list[CodeLine]:
    return [
        CodeLine(group.name, role="title"),
        CodeLine(f"{number_of(len(group.members), 'operation')}: {' '.join(group.members)}"),
        CodeLine(f"nodes    {', '.join(group.nodes)}", role="dim"),
        CodeLine(f"kernel   {group.kernel or 'none: a view, or a part of what another kernel writes'}", role="dim"),
    ]


def _miss_cells(miss: Miss) -> tuple[Cell, ...]:
    role = "dim" if miss.one_kernel else "warn"
    return (
        cell(byte_text(miss.shared_bytes), role),
        cell(miss.a, "name"),
        cell(miss.b, "name"),
        cell(miss.code, role),
        cell(miss.reason, "dim"),
    )


def _miss_detail(miss: Miss, operations: _Operations) -> list[CodeLine]:
    rounds = ", ".join(map(str, miss.rounds))
    lines = [
        CodeLine(f"{miss.a} × {miss.b}", role="title"),
        *operations.told(miss.graph, miss.a, miss.b),
        CodeLine(f"both touch {byte_text(miss.shared_bytes)}: {' '.join(miss.buffers)}"),
        *(CodeLine(line, role="warn") for line in wrap(f"{miss.code}: {miss.reason}", WRAP)),
        CodeLine(f"looked at in {'round' if len(miss.rounds) == 1 else 'rounds'} {rounds}", role="dim"),
    ]
    if miss.one_kernel:
        lines.append(CodeLine("Both stand in one kernel all the same, as two loops.", role="dim"))
    return lines


def _pair_cells(attempt: Attempt) -> tuple[Cell, ...]:
    role = {"fused": "good", "refused": "dim"}.get(attempt.verdict, "")
    reason = attempt.reason or (f"into {attempt.into}" if attempt.into else attempt.code)
    return (
        cell(str(attempt.round), "dim"),
        cell(attempt.a, "name"),
        cell(attempt.b, "name"),
        cell(byte_text(attempt.shared_bytes) if attempt.shared_bytes else "", "accent"),
        cell(attempt.verdict, role),
        cell(reason, "dim" if attempt.verdict != "fused" else "good"),
    )


def _pair_detail(attempt: Attempt, operations: _Operations) -> list[CodeLine]:
    facts = [
        ("verdict", attempt.verdict),
        ("into", attempt.into or ""),
        ("code", attempt.code),
        ("reason", attempt.reason),
        ("numbers", " ".join(attempt.arguments)),
        ("score", attempt.score or ""),
        ("shared", byte_text(attempt.shared_bytes) if attempt.shared_bytes is not None else ""),
        ("round", str(attempt.round)),
    ]
    lines = [
        CodeLine(f"{attempt.a} × {attempt.b}", role="title"),
        *operations.told(attempt.graph, attempt.a, attempt.b),
    ]
    return lines + [CodeLine(f"{name:9}{text}") for name, text in facts if text]
