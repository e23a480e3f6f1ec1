"""Differences between two compiles: two ranks of one run, two runs, or a graph and its replay."""

import difflib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import msgspec

from inspect_compile.analysis.compare.content import Content, FrameContent, GraphContent, Lines, sides
from inspect_compile.analysis.compare.pairing import Pairing

KINDS: Final = (
    "collectives", "frames", "recompiles", "graph_breaks", "graphs", "status", "nodes", "kernels", "fusion", "guards",
    "caches", "remarks", "settings",
)  # fmt: skip
"""The kinds of difference, those that make ranks wait for each other first."""

LONGEST: Final = 4_000_000
"""Limit on lines of one side times lines of the other: beyond it lines are counted, not aligned."""

Found = Callable[[str, str, Lines, Lines], "Difference"]
"""(kind, message, only in a, only in b) → the difference, for the current pair."""


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


def compare(both: Pairing, names: tuple[str, str] = ("a", "b")) -> list[Difference]:
    """All differences, in the order of KINDS. Names, ids and device numbers that differ do not count."""
    a, b = both.a, both.b
    if replace(a, target=b.target) == b:
        return []
    found = [
        *_settings(a, b),
        *(difference for frames in both.frames for difference in _frame(*frames)),
        *(difference for graphs in both.graphs for difference in _graph(*graphs)),
    ]
    return sorted((_named(row, *names) for row in found), key=lambda row: KINDS.index(row.kind))


def compare_graphs(
    a: GraphContent | None, b: GraphContent | None, names: tuple[str, str] = ("a", "b")
) -> list[Difference]:
    """The same for one graph on each side; None: the side has none. One of them has to be there."""
    found = _graph(a, b) if a != b else ()
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
        history = only.recompiles or (f"{only.compile_id} {where}: {only.status}",)
        yield Difference(kind, only.compile_id, "", "", message, *((history, ()) if b is None else ((), history)))
        return

    def differ(
        kind: str, message: str, one: Lines, other: Lines, shown: tuple[Lines, Lines] | None = None
    ) -> Iterator[Difference]:
        only_a, only_b = sides(one, other, shown)
        if only_a or only_b:
            yield Difference(kind, only.compile_id, "", "", f"{where}: {message}", only_a, only_b)

    yield from differ("frames", "the outcome differs", (a.status,), (b.status,))
    yield from differ("recompiles", "recompiled for other reasons", a.recompiles, b.recompiles)
    places = tuple(map(a.in_any_file, a.breaks)), tuple(map(b.in_any_file, b.breaks))
    yield from differ("graph_breaks", "the graph breaks elsewhere", *places, (a.breaks, b.breaks))
    yield from differ("guards", "the guards differ", a.guards, b.guards)
    yield from differ("caches", "torch's caches answered differently", a.caches, b.caches)
    yield from differ("remarks", "the remarks differ", a.remarks, b.remarks)


def _graph(a: GraphContent | None, b: GraphContent | None) -> Iterator[Difference]:
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
        sentence = counts if len(a.collectives) != len(b.collectives) else "they differ, or are in another order"
        yield found("collectives", sentence, *_aligned(a.collectives, b.collectives))
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
        return "the same nodes are connected differently"
    if len(a) == len(b):
        return f"{_words(a)} {'differs' if len(a) == 1 else 'differ'}"
    return f"{_words(a)} only in {{a}}, {_words(b)} only in {{b}}"


def _words(lines: Lines, noun: str = "node") -> str:
    return f"{len(lines)} {noun}{'s' * (len(lines) != 1)}"
