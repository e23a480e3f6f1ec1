"""The kernels of a log beside those of a second compile of its graph: which are the same ones, and whether in all.

A kernel is known by the FX nodes that it computes. Those that came in with the graph have the same names in both
compiles; one that a pass made is the same if its operator is, too. A log of C++ does not say which nodes a kernel
computes: such kernels are the same where nothing else has their source. No name of a kernel says that alone, since two
compiles count anew, unless a library function is called once in each.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from inspect_compile.analysis.dumps.parts import run_around
from inspect_compile.facts import Kernel, Node
from inspect_compile.graph import CompiledGraph, Once, grouped

_LEFT_OUT: Final = re.compile(
    r"^[^\S\n]*(?:#(?!pragma).*|//.*|import .*|from .*|filename=.*|triton_meta=.*|inductor_meta=.*"
    r"|triton_helpers\.set_driver.*)\n",
    re.MULTILINE,
)
"""What a source says of the machine, of torch's settings and of who reads it."""
_HEAD: Final = re.compile(r"\bextern\s+\"C\"\s+(?:__declspec\(dllexport\)|C10_EXPORT)?\s*void\s+\w+")


@dataclass(frozen=True)
class Same:
    """One kernel in both."""

    recorded: Kernel
    again: Kernel
    is_equal: bool | None
    """Whether both sources are equal but for their names; None where one of them is not known, or is a library's."""


@dataclass(frozen=True)
class KernelsJoined:
    """What two compiles of one graph have in common."""

    same: tuple[Same, ...]
    """In the order of the log's first calls."""
    generated: int
    """Kernels of the log that torch generated, and whose source it has."""
    grouped: int
    """Kernels that torch generated and of which the log says what they compute: which nodes were fused."""

    @property
    def equal(self) -> int:
        """Kernels of the log that came out again, equal but for their names."""
        return sum(one.is_equal is True for one in self.same)

    @property
    def same_group(self) -> int:
        """Kernels of the log that compute the same nodes again."""
        return sum(_is_generated(one.recorded) and bool(one.recorded.nodes) for one in self.same)

    @property
    def in_order(self) -> int:
        """How many of those in both are called in the same order."""
        return _longest_rise([min(one.again.launches, default=0) for one in self.same])

    @property
    def names(self) -> dict[str, str]:
        """Kernel of the second compile → what the log calls it; without library functions."""
        return {one.again.name: one.recorded.name for one in self.same if one.recorded.kind != "extern"}


@Once
def recorded_kernels(graph: CompiledGraph) -> KernelsJoined | None:
    """The kernels of a graph that was compiled again, beside those of its log; None for a graph of no log."""
    around = run_around(graph.dump) if graph.dump.run.replay_of else None
    if around is None or not around.run.origin or around.graph(graph.name) is None:
        return None
    return kernels_joined(CompiledGraph(around, graph.name), graph)


def kernels_joined(recorded: CompiledGraph, again: CompiledGraph) -> KernelsJoined:
    """The kernels of two compiles of one graph."""
    ours, theirs = _Side(recorded), _Side(again)
    left, right = list(ours.kernels), list(theirs.kernels)
    pairs: list[tuple[Kernel, Kernel]] = []
    for key in (_Side.nodes, _Side.text, _Side.library):
        found = _of_equal_keys(_by_key(left, partial(key, ours)), _by_key(right, partial(key, theirs)))
        pairs += [pair for group in found if key is not _Side.library or len(group) == 1 for pair in group]
        taken = {id(kernel) for pair in pairs for kernel in pair}
        left, right = ([kernel for kernel in kernels if id(kernel) not in taken] for kernels in (left, right))
    same = [Same(a, b, _is_equal(ours.text(a), theirs.text(b))) for a, b in pairs]
    generated = [kernel for kernel in ours.kernels if _is_generated(kernel)]
    return KernelsJoined(
        tuple(sorted(same, key=lambda one: min(one.recorded.launches, default=0))),
        sum(bool(kernel.source) for kernel in generated),
        sum(bool(kernel.nodes) for kernel in generated),
    )


def _by_key(kernels: Iterable[Kernel], key: Callable[[Kernel], Hashable]) -> dict[Hashable, list[Kernel]]:
    return {key: rows for key, rows in grouped(kernels, key).items() if key}


def _of_equal_keys(
    ours: Mapping[Hashable, list[Kernel]], theirs: Mapping[Hashable, list[Kernel]]
) -> Iterator[list[tuple[Kernel, Kernel]]]:
    """The kernels of each key that both have, in their order, where both have as many of it."""
    for key, kernels in ours.items():
        if len(theirs.get(key, ())) == len(kernels):
            yield list(zip(kernels, theirs[key], strict=True))


def _is_generated(kernel: Kernel) -> bool:
    return kernel.kind not in ("extern", "user_triton")


def _is_equal(a: str, b: str) -> bool | None:
    return a == b if a and b else None


class _Side:
    """The kernels of one compile."""

    def __init__(self, graph: CompiledGraph) -> None:
        self._graph = graph
        given = {node.name for node in graph.rows(Node) if node.stage == "aot" and node.graph == graph.name}
        self._given = {(node.graph, node.name) for node in graph.nodes if node.op in ("placeholder", "get_attr")}
        """Inputs, parameters and graphs that are called: what is given to a kernel, and not computed."""
        self._made = {
            (node.graph, node.name): f"{node.name} = {node.target}" for node in graph.nodes if node.name not in given
        }
        self.kernels = sorted(graph.rows(Kernel), key=lambda kernel: min(kernel.launches, default=0))
        self._texts: dict[int, str] = {}

    def nodes(self, kernel: Kernel) -> Hashable:
        """What it computes; nothing if that is not known."""
        nodes = frozenset(
            self._made.get((kernel.graph, name), name)
            for name in kernel.nodes
            if (kernel.graph, name) not in self._given
        )
        return (kernel.graph, kernel.kind == "extern", nodes) if nodes else None

    def text(self, kernel: Kernel) -> str:
        """Its source without its name and without what it does not compute; empty for a library function."""
        if id(kernel) not in self._texts:
            found = self._graph.dump.text(kernel.graph, kernel.source) if kernel.source else None
            self._texts[id(kernel)] = kernel_body(found or "", kernel.name)
        return self._texts[id(kernel)]

    def library(self, kernel: Kernel) -> Hashable:
        """The library function that it is."""
        return (kernel.graph, kernel.name) if kernel.kind == "extern" else None


def kernel_body(source: str, name: str) -> str:
    """What a kernel's source computes, in any torch, under any name and on any GPU of the kind."""
    plain = _HEAD.sub('extern "C" void kernel', source.replace(name, "kernel"))
    return "\n".join(line.rstrip() for line in _LEFT_OUT.sub("", plain).splitlines() if line.strip())


def _longest_rise(values: Sequence[int]) -> int:
    """The length of the longest part of `values`, not necessarily next to each other, that rises."""
    ends: list[int] = []
    for value in values:
        place = bisect_left(ends, value)
        ends[place : place + 1] = [value]
    return len(ends)


def names_in_log(graph: CompiledGraph) -> Mapping[str, str]:
    """Kernel → what the log calls it, of a graph of a log that was compiled again; empty for every other graph."""
    joined = recorded_kernels(graph.outermost)
    return {} if joined is None else joined.names
