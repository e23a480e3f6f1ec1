"""What two compiles of one program do differently: two ranks, two replays, two whole runs."""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.graphs import outermost
from inspect_compile.analysis.summary import summarize
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Graph, GraphBreak, Guard, Kernel, Location, Node, Recompile, Remark

LEVELS: Final = (
    "collectives",
    "graphs",
    "frames",
    "breaks",
    "recompiles",
    "nodes",
    "kernels",
    "remarks",
    "guards",
    "cost",
)
"""The gravest first: ranks whose collectives differ wait for each other for ever."""

_COLLECTIVE: Final = re.compile(r"c10d_functional|_dtensor|\bc10d\b")
_WAIT: Final = "wait_tensor"
_PROCESS_OWN: Final = re.compile(r"0x[0-9a-f]{6,}|\b\d{7,}\b")
"""Addresses and ids of objects, which two processes never share."""
_DEVICE: Final = re.compile(r"\b(cuda|xpu|hip)(?::\d+|', index=\d+|\((\d+)\))")
_COMMENT: Final = re.compile(r"^[ \t]*(?:# |//).*\n?", re.MULTILINE)
_MOST_PAIRS: Final = 4_000_000
"""Pairs of equal items in two lists of which the order is compared; with more, only how many there are of each."""
_COSTS: Final = (
    ("launches", "calls of kernels"),
    ("flops", "FLOP"),
    ("moved_bytes", "bytes moved"),
    ("peak_bytes", "bytes at the peak"),
)
"""(field of a GraphSummary, what it counts)."""


class Difference(msgspec.Struct, frozen=True, tag_field="fact", tag="difference"):
    """One thing that differs."""

    level: str
    """One of LEVELS."""
    graph: str
    """The first's graph, or a compile id for what is Dynamo's; empty where only the second has it."""
    other: str
    """The second's."""
    message: str
    """What differs, `{a}` and `{b}` standing for the two."""
    first: tuple[str, ...] = ()
    """What only the first has."""
    second: tuple[str, ...] = ()
    """What only the second has."""
    where: str | None = None
    """The user's line, `file.py:12`, that the difference begins with."""


class _Item(NamedTuple):
    """Something that can be the same in both: compared by `key`, told as `text`."""

    key: str
    text: str
    where: Location | None = None


def compare(a: Dump, b: Dump) -> list[Difference]:
    """All differences, the gravest level first."""
    found = [*_dynamo(a, b), *_graphs(a, b), *_remarks(a, b)]
    return sorted(found, key=lambda difference: LEVELS.index(difference.level))


def matched(a: Dump, b: Dump) -> list[tuple[Graph | None, Graph | None]]:
    """The outermost graphs in pairs: the same kind of the same compile, in order; None where one has no partner."""
    own, others = _numbered(a), _numbered(b)
    return [(own.get(key), others.get(key)) for key in dict.fromkeys([*own, *others])]


def _numbered(dump: Dump) -> dict[tuple[str | None, str, int], Graph]:
    seen: Counter[tuple[str | None, str]] = Counter()
    found = {}
    for graph in outermost(dump):
        kind = graph.compile_id, graph.kind
        found[*kind, seen[kind]] = graph
        seen[kind] += 1
    return found


def _graphs(a: Dump, b: Dump) -> Iterator[Difference]:
    for first, second in matched(a, b):
        if first is None or second is None:
            graph = first or second
            assert graph is not None
            yield Difference(
                "graphs",
                "" if first is None else first.graph,
                "" if second is None else second.graph,
                f"{graph.kind} {graph.compile_id or ''} was compiled by {{{'b' if first is None else 'a'}}} only",
            )
            continue
        nodes, others = _nodes(a, first), _nodes(b, second)
        calls, other_calls = ([item for item in items if _is_collective(item)] for items in (nodes, others))
        yield from _in_order("collectives", first, second, calls, other_calls, "collective call")
        yield from _in_order("nodes", first, second, nodes, others, "node")
        yield from _in_bags("kernels", first.graph, second.graph, _kernels(a, first), _kernels(b, second), "kernel")
        yield from _cost(a, first, b, second)


def _nodes(dump: Dump, graph: Graph) -> list[_Item]:
    rows = [row for row in dump.rows(Node, graph.graph) if row.stage == "post_grad"]
    return [
        _Item(
            f"{row.graph.removeprefix(graph.graph)} {row.op} {row.target} {_alike(_values(row))}",
            f"{row.target} {_values(row)}".strip(),
            row.where,
        )
        for row in rows
    ]


def _values(row: Node) -> str:
    return " ".join(f"{value.dtype}[{', '.join(map(str, value.size))}] {value.device}" for value in row.values)


def _is_collective(item: _Item) -> bool:
    return _COLLECTIVE.search(item.text) is not None and _WAIT not in item.text


def _kernels(dump: Dump, graph: Graph) -> list[_Item]:
    found = []
    for row in dump.rows(Kernel, graph.graph):
        source = dump.text(row.graph, row.source) if row.source else None
        content = row.name if source is None else _COMMENT.sub("", source).replace(row.name, "kernel")
        found.append(_Item(f"{row.kind} {_alike(content)}", row.name, next(iter(row.lines), None)))
    return found


def _alike(text: str) -> str:
    """`text` without what the ranks of one program can't have in common: addresses, and the number of the device."""
    return _PROCESS_OWN.sub("…", _DEVICE.sub(r"\1", text))


def _in_order(
    level: str, first: Graph, second: Graph, items: list[_Item], others: list[_Item], noun: str
) -> Iterator[Difference]:
    keys, other_keys = [item.key for item in items], [item.key for item in others]
    if keys == other_keys:
        return
    counts, other_counts = Counter(keys), Counter(other_keys)
    if sum(count * other_counts[key] for key, count in counts.items()) > _MOST_PAIRS:
        yield from _in_bags(level, first.graph, second.graph, items, others, noun)
        return
    steps = difflib.SequenceMatcher(None, keys, other_keys, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    own = [item for _, start, end, _, _ in changed for item in items[start:end]]
    foreign = [item for _, _, _, start, end in changed for item in others[start:end]]
    yield _difference(level, first.graph, second.graph, own, foreign, noun)


def _in_bags(
    level: str, graph: str, other: str, items: list[_Item], others: list[_Item], noun: str
) -> Iterator[Difference]:
    own, foreign = _left(items, others), _left(others, items)
    if own or foreign:
        yield _difference(level, graph, other, own, foreign, noun)


def _left(items: Iterable[_Item], others: Iterable[_Item]) -> list[_Item]:
    """The items that `others` lack."""
    there = Counter(item.key for item in others)
    found = []
    for item in items:
        if there[item.key]:
            there[item.key] -= 1
        else:
            found.append(item)
    return found


def _difference(level: str, graph: str, other: str, own: list[_Item], foreign: list[_Item], noun: str) -> Difference:
    counts = [
        f"{_number(len(items), noun)} only in {{{name}}}" for name, items in (("a", own), ("b", foreign)) if items
    ]
    where = next((item.where for item in (*own, *foreign) if item.where is not None), None)
    return Difference(
        level,
        graph,
        other,
        ", ".join(counts),
        tuple(item.text for item in own),
        tuple(item.text for item in foreign),
        None if where is None else f"{where.file}:{where.line}",
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _cost(a: Dump, first: Graph, b: Dump, second: Graph) -> Iterator[Difference]:
    own, foreign = summarize(a, first), summarize(b, second)
    rows = [(unit, getattr(own, field), getattr(foreign, field)) for field, unit in _COSTS]
    found = [(unit, value, other) for unit, value, other in rows if value != other]
    if found:
        yield Difference(
            "cost",
            first.graph,
            second.graph,
            "in {a} and {b}: " + ", ".join(f"{value:,} and {other:,} {unit}" for unit, value, other in found),
            tuple(f"{value} {unit}" for unit, value, _ in found),
            tuple(f"{other} {unit}" for unit, _, other in found),
        )


def _dynamo(a: Dump, b: Dump) -> Iterator[Difference]:
    levels: tuple[tuple[str, str, Callable[[Dump], list[tuple[str, _Item]]]], ...] = (
        ("frames", "attempt at a frame", _frames),
        ("breaks", "graph break", _breaks),
        ("recompiles", "recompile", _recompiles),
        ("guards", "guard", _guards),
    )
    for level, noun, read in levels:
        own, foreign = _by_compile(read(a)), _by_compile(read(b))
        for compile_id in dict.fromkeys([*own, *foreign]):
            items, others = own.get(compile_id, []), foreign.get(compile_id, [])
            yield from _in_bags(level, compile_id if items else "", compile_id if others else "", items, others, noun)


def _by_compile(rows: list[tuple[str, _Item]]) -> dict[str, list[_Item]]:
    found: dict[str, list[_Item]] = {}
    for compile_id, item in rows:
        found.setdefault(compile_id, []).append(item)
    return found


def _frames(dump: Dump) -> list[tuple[str, _Item]]:
    rows = dump.rows(Frame)
    return [
        (row.graph, _Item(f"{row.function} {row.status} {row.graphs}", f"{row.function} {row.status}", _line(row)))
        for row in rows
    ]


def _line(row: Frame | Recompile) -> Location:
    return Location(row.file, row.line, row.function)


def _breaks(dump: Dump) -> list[tuple[str, _Item]]:
    rows = dump.rows(GraphBreak)
    return [(row.graph, _Item(f"{_alike(row.reason)} {_spot(row.where)}", row.reason, row.where)) for row in rows]


def _spot(where: Location | None) -> str:
    """A line by what it says: its number moves with every edit above it."""
    return "" if where is None else f"{where.function} {where.code or where.line}"


def _recompiles(dump: Dump) -> list[tuple[str, _Item]]:
    rows = dump.rows(Recompile)
    return [
        (row.graph, _Item(f"{row.function} {_alike(' '.join(row.reasons))}", "; ".join(row.reasons), _line(row)))
        for row in rows
    ]


def _guards(dump: Dump) -> list[tuple[str, _Item]]:
    found = []
    for row in dump.rows(Guard):
        code = " and ".join(row.code)
        found.append((row.graph, _Item(f"{row.kind} {row.source} {_alike(code)}", code or row.source, row.where)))
    return found


def _remarks(a: Dump, b: Dump) -> Iterator[Difference]:
    own, foreign = (
        [_Item(f"{row.code} {_alike(row.message)}", row.message) for row in dump.rows(Remark)] for dump in (a, b)
    )
    yield from _in_bags("remarks", "", "", own, foreign, "remark")
