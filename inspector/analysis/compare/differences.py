"""Differences between two compiles: two ranks of one run, two runs, or a graph and its replay."""

import difflib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.compare.beside_target import comparable
from inspect_compile.analysis.compare.content import Content, FrameContent, GraphContent, Lines, sides

KINDS: Final = (
    "collectives", "frames", "recompiles", "graph_breaks", "graphs", "status", "nodes", "kernels", "fusion", "guards",
    "caches", "remarks", "settings",
)  # fmt: skip
"""The kinds of difference, those that make ranks wait for each other first."""

LONGEST: Final = 4_000_000
"""Limit on lines of one side times lines of the other: beyond it lines are counted, not aligned."""

Found = Callable[[str, str, Lines, Lines], "Difference"]
"""(kind, message, only in a, only in b) → the difference, for the current pair."""


_Key = Callable[[GraphContent], object]


class Difference(msgspec.Struct, frozen=True, tag_field="fact", tag="difference"):
    """One difference between two compiles. `diff --json` and `show ranks --json` print these."""

    kind: str
    """collectives, frames, recompiles, graph_breaks, graphs, status, nodes, kernels, fusion, guards, caches, remarks,
    settings."""
    compile_id: str
    """Dynamo's compile id on the first side that has one."""
    graph: str
    """The graph on the first side; empty if there is none."""
    other_graph: str
    """The graph on the other side."""
    message: str
    """One sentence."""
    a: tuple[str, ...] = ()
    """What only the first side has, in order."""
    b: tuple[str, ...] = ()
    """What only the other side has."""
    a_name: str = "a"
    b_name: str = "b"
    """Names of the two sides: paths of dumps, or ranks."""


class Pair(NamedTuple):
    """A graph on both sides, or on one only."""

    a: GraphContent | None
    b: GraphContent | None


def compare(a: Content, b: Content, names: tuple[str, str] = ("a", "b")) -> list[Difference]:
    """All differences, in the order of KINDS. Names, ids and device numbers that differ do not count; nor,
    if one of them is for a target, what only the presence of a GPU makes differ.
    """
    a, b = comparable(a, b)
    if replace(a, target=b.target) == b:
        return []
    found = [
        *_settings(a, b),
        *(difference for one, other in frame_pairs(a, b) for difference in _frame(one, other)),
        *(difference for pair in graph_pairs(a, b) for difference in _graph(pair)),
    ]
    return sorted((_named(row, *names) for row in found), key=lambda row: KINDS.index(row.kind))


def compare_graphs(
    a: GraphContent | None, b: GraphContent | None, names: tuple[str, str] = ("a", "b")
) -> list[Difference]:
    """The same for one graph on each side; None: the side has none. One of them has to be there."""
    found = _graph(Pair(a, b)) if a != b else ()
    return sorted((_named(row, *names) for row in found), key=lambda row: KINDS.index(row.kind))


def compare_frames(
    a: FrameContent | None, b: FrameContent | None, names: tuple[str, str] = ("a", "b")
) -> list[Difference]:
    """The same for one compile of a function on each side."""
    found = _frame(a, b) if a != b else ()
    return sorted((_named(row, *names) for row in found), key=lambda row: KINDS.index(row.kind))


def compare_settings(a: Content, b: Content, names: tuple[str, str] = ("a", "b")) -> list[Difference]:
    """The same for what both were compiled with."""
    return [_named(row, *names) for row in _settings(a, b)]


def _named(row: Difference, a: str, b: str) -> Difference:
    """The difference with the names of its sides, also in place of `{a}` and `{b}` in its message."""
    message = row.message.replace("{a}", a).replace("{b}", b)
    return msgspec.structs.replace(row, message=message, a_name=a, b_name=b)


def graph_pairs(a: Content, b: Content) -> list[Pair]:
    """Matches the graphs of both sides.

    First those of the same frame and kind, those with the same content before those in order: backward graphs of one
    frame are compiled in reverse on a GPU, and with their forward for a target. Then those with the same content; then
    those with the same compile id and kind. What is left has no counterpart. A frame that was not recorded is known by
    its compile id.
    """
    frames: dict[str, str | None] = {other.compile_id: None for other in b.frames}
    frames |= {
        other.compile_id: one.compile_id for one, other in frame_pairs(a, b) if one is not None and other is not None
    }

    def frame(other: GraphContent) -> str | None:
        return frames.get(other.compile_id, other.compile_id)

    left, right = list(a.graphs), list(b.graphs)
    pairs: list[Pair] = []
    keys: tuple[tuple[_Key, _Key], ...] = (
        (lambda one: (one.compile_id, one.kind, one.wiring), lambda other: (frame(other), other.kind, other.wiring)),
        (lambda one: (one.compile_id, one.kind), lambda other: (frame(other), other.kind)),
        (lambda one: (one.kind, one.wiring), lambda other: (other.kind, other.wiring)),
        (lambda one: (one.compile_id, one.kind), lambda other: (other.compile_id, other.kind)),
    )
    for key, other_key in keys:
        waiting: dict[object, deque[GraphContent]] = {}
        for graph in right:
            waiting.setdefault(other_key(graph), deque()).append(graph)
        alone: list[GraphContent] = []
        for graph in left:
            if others := waiting.get(key(graph)):
                pairs.append(Pair(graph, others.popleft()))
            else:
                alone.append(graph)
        still = {id(graph) for others in waiting.values() for graph in others}
        left, right = alone, [graph for graph in right if id(graph) in still]
    order = {graph.graph: index for index, graph in enumerate(a.graphs)}
    pairs.sort(key=lambda pair: order[pair.a.graph] if pair.a is not None else 0)
    return [*pairs, *(Pair(graph, None) for graph in left), *(Pair(None, graph) for graph in right)]


def frame_pairs(a: Content, b: Content) -> Iterator[tuple[FrameContent | None, FrameContent | None]]:
    """The n-th compile of a function with the n-th on the other side, at the same line before at another one of the
    file, which may have another name if it is the program itself; then those that only the other side has.
    """
    keys: tuple[Callable[[FrameContent], object], ...] = (
        lambda row: (row.function, row.in_any_file(row.where)),
        lambda row: (row.function, row.in_any_file(row.where).rpartition(":")[0]),
    )
    found: dict[int, FrameContent] = {}
    left, right = list(a.frames), list(b.frames)
    for key in keys:
        waiting: dict[object, deque[FrameContent]] = {}
        for row in right:
            waiting.setdefault(key(row), deque()).append(row)
        for row in left:
            if others := waiting.get(key(row)):
                found[id(row)] = others.popleft()
        left = [row for row in left if id(row) not in found]
        still = {id(row) for others in waiting.values() for row in others}
        right = [row for row in right if id(row) in still]
    yield from ((row, found.get(id(row))) for row in a.frames)
    yield from ((None, row) for row in right)


def _settings(a: Content, b: Content) -> Iterator[Difference]:
    only_a, only_b = sides(a.settings, b.settings)
    if only_a or only_b:
        yield Difference("settings", "", "", "", "versions, devices or variables differ", only_a, only_b)


def _frame(a: FrameContent | None, b: FrameContent | None) -> Iterator[Difference]:
    only = a or b
    assert only is not None
    where = f"{only.function} {only.where}".strip() or f"frame {only.compile_id}"
    if a is None or b is None:
        side, other = ("{a}", "{b}") if b is None else ("{b}", "{a}")
        message = f"{side} compiled {where} as {only.compile_id}, {other} did not"
        if only.recompiles:
            message = f"{side} compiled {where} again as {only.compile_id}, {other} did not"
        kind = "recompiles" if only.recompiles else "frames"
        told = only.recompiles or (f"{only.compile_id} {where}: {only.status}",)
        yield Difference(kind, only.compile_id, "", "", message, *((told, ()) if b is None else ((), told)))
        return

    def differ(
        kind: str, message: str, one: Lines, other: Lines, told: tuple[Lines, Lines] | None = None
    ) -> Iterator[Difference]:
        only_a, only_b = sides(one, other, told)
        if only_a or only_b:
            yield Difference(kind, only.compile_id, "", "", f"{where}: {message}", only_a, only_b)

    yield from differ("frames", "what became of it differs", (a.status,), (b.status,))
    yield from differ("recompiles", "compiled again for other reasons", a.recompiles, b.recompiles)
    places = tuple(map(a.in_any_file, a.breaks)), tuple(map(b.in_any_file, b.breaks))
    yield from differ("graph_breaks", "the graph breaks elsewhere", *places, (a.breaks, b.breaks))
    yield from differ("guards", "the guards differ", a.guards, b.guards)
    yield from differ("caches", "torch's caches answered differently", a.caches, b.caches)
    yield from differ("remarks", "the remarks differ", a.remarks, b.remarks)


def _graph(pair: Pair) -> Iterator[Difference]:
    a, b = pair
    if a is None or b is None:
        only = a or b
        assert only is not None
        side, other = ("{a}", "{b}") if b is None else ("{b}", "{a}")
        message = f"{side} compiled {only.graph} ({_words(only.nodes)}), {other} has no such graph"
        lines: Lines = (f"{only.kind} {only.compile_id}: {_words(only.nodes)}, {_words(only.kernels, 'kernel')}",)
        names = ("", only.graph) if a is None else (only.graph, "")
        yield Difference("graphs", only.compile_id, *names, message, *(((), lines) if a is None else (lines, ())))
        if only.collectives:
            calls = _words(only.collectives, "collective")
            message = f"{side} calls {calls} in {only.graph}, {other} has no such graph"
            both = ((), only.collectives) if a is None else (only.collectives, ())
            yield Difference("collectives", only.compile_id, *names, message, *both)
        return

    def found(kind: str, message: str, one: Lines, other: Lines) -> Difference:
        return Difference(kind, a.compile_id or b.compile_id, a.graph, b.graph, f"{a.graph}: {message}", one, other)

    if a.collectives != b.collectives:
        counts = f"{{a}} calls {_words(a.collectives, 'collective')}, {{b}} {len(b.collectives)}"
        told = counts if len(a.collectives) != len(b.collectives) else "they are others, or in another order"
        yield found("collectives", told, *_aligned(a.collectives, b.collectives))
    if a.status != b.status:
        yield found("status", f"{a.status} in {{a}}, {b.status} in {{b}}", (a.status,), (b.status,))
    if a.wiring != b.wiring:
        changed = _aligned(a.nodes, b.nodes)
        yield found("nodes", _node_words(*changed), *changed)
    yield from _kernels(a, b, found)
    groups = sides(a.groups, b.groups, (a.group_names, b.group_names))
    if any(groups) and a.wiring == b.wiring:  # otherwise each group would differ along with its nodes
        yield found("fusion", f"{len(a.groups)} groups in {{a}}, {len(b.groups)} in {{b}}", *groups)


def _kernels(a: GraphContent, b: GraphContent, found: Found) -> Iterator[Difference]:
    only = sides(a.kernels, b.kernels, (a.kernel_names, b.kernel_names))
    if any(only):
        same = len(a.kernels) - len(only[0])
        message = f"{len(only[0])} only in {{a}}, {len(only[1])} only in {{b}}, {same} the same"
        yield found("kernels", message, *only)


def _aligned(a: Lines, b: Lines) -> tuple[Lines, Lines]:
    """The lines outside of the longest common subsequence; if that is too expensive, those that only one side has."""
    start = next(
        (index for index, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b))
    )
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    one, other = a[start : len(a) - end], b[start : len(b) - end]
    if len(one) * len(other) > LONGEST:
        return sides(one, other)
    steps = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    return (
        tuple(line for _, begin, stop, _, _ in changed for line in one[begin:stop]),
        tuple(line for _, _, _, begin, stop in changed for line in other[begin:stop]),
    )


def _node_words(a: Lines, b: Lines) -> str:
    if not a and not b:
        return "the same nodes read each other in another way"
    if len(a) == len(b):
        return f"{_words(a)} {'differs' if len(a) == 1 else 'differ'}"
    return f"{_words(a)} only in {{a}}, {_words(b)} only in {{b}}"


def _words(lines: Lines, noun: str = "node") -> str:
    return f"{len(lines)} {noun}{'s' * (len(lines) != 1)}"
