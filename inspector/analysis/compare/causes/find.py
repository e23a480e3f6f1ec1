"""The causes of all differences between two dumps, the most expensive first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.causes.binaries import Binaries
from inspect_compile.analysis.compare.causes.compiled import Call, Compiled, changed_settings, total
from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.analysis.compare.causes.frames import FrameCauses
from inspect_compile.analysis.compare.causes.lowered import Lowered
from inspect_compile.analysis.compare.causes.records import Cause, label
from inspect_compile.analysis.compare.causes.regions import Region, regions
from inspect_compile.analysis.compare.causes.scheduled import Scheduled
from inspect_compile.analysis.compare.causes.settings import decides
from inspect_compile.analysis.compare.causes.stages import LOWERED, Half, Stages
from inspect_compile.analysis.compare.causes.upstream import Upstream
from inspect_compile.analysis.compare.pairing import GraphPair, Pairing
from inspect_compile.facts import Kernel, Location
from inspect_compile.facts.nesting import outermost
from inspect_compile.knowledge.frontend.own_code import own_line

_SETTINGS_OF: Final = (
    "dynamo",
    "aot",
    "partition",
    "pass",
    "lowering",
    "autotune",
    "realize",
    "fusion",
    "tiling",
    "codegen",
)
"""Levels at which a setting of torch can decide."""


@dataclass
class _Block:
    """The groups of launches with one cause."""

    finding: Finding
    graphs: dict[str, None] = field(default_factory=dict)
    a: dict[int, Call] = field(default_factory=dict)
    b: dict[int, Call] = field(default_factory=dict)
    also: tuple[dict[str, None], dict[str, None]] = field(default_factory=lambda: ({}, {}))
    """Kernels of either side whose cost is counted with another cause."""
    beside: dict[object, None] = field(default_factory=dict)
    """Keys of the causes that kernels of these groups differ for, too."""
    counted: dict[object, None] = field(default_factory=dict)
    """Those of them that have the cost."""
    settings: dict[str, None] = field(default_factory=dict)
    places: int = 0

    @property
    def label(self) -> str:
        """`fusion at model.py:12`."""
        return label(self.finding.level, _own(self.finding.where or self.finding.old_where))


class Comparison(NamedTuple):
    """Two dumps."""

    causes: list[Cause]
    """The most expensive first."""
    launches: list[tuple[Cause, tuple[Call, ...], tuple[Call, ...]]]
    """Of each cause, the launches whose cost is counted with it, on either side."""
    same: list[tuple[Call, Call]]
    """The launches that do the same with the same code."""


def causes(both: Pairing, names: tuple[str, str] = ("a", "b")) -> list[Cause]:
    """Why the kernels, and the graphs, of two dumps differ, the most expensive cause first."""
    return comparison(both, names).causes


def comparison(both: Pairing, names: tuple[str, str] = ("a", "b"), *, has_same: bool = False) -> Comparison:
    """The same, and with `has_same` the launches that do not differ."""
    unchanged: list[tuple[Call, Call]] = []
    frames = FrameCauses(both)
    blocks: dict[object, _Block] = {}
    for pair in _graphs(both):
        settings: tuple[str, ...] = ()
        ours = None if pair.a is None else Compiled(both.a.dump, pair.a)
        theirs = None if pair.b is None else Compiled(both.b.dump, pair.b)
        if ours is not None and theirs is not None:
            if pair.a == pair.b and not has_same and not _is_compiled_for_gpu(ours):
                continue
            settings = changed_settings(ours, theirs)
            found = _of_graphs(ours, theirs, frames, settings, unchanged)
        else:
            only = ours or theirs
            assert only is not None
            sides = (tuple(only.calls), ()) if theirs is None else ((), tuple(only.calls))
            found = iter([([frames.of_graph(only.content, is_b=ours is None)], Region(*sides))])
        for findings, region in found:
            for place, one in enumerate(findings):
                block = blocks.setdefault(one.key, _Block(one))
                block.graphs[(ours or theirs).graph] = None  # type: ignore[union-attr]
                block.places += 1
                block.beside |= {other.key: None for other in findings if other.key != one.key}
                if one.level in _SETTINGS_OF:
                    block.settings |= dict.fromkeys(settings)
                if place:
                    for calls, also in zip(region, block.also, strict=True):
                        also |= {call.name: None for call in calls}
                    block.counted[findings[0].key] = None
                    continue
                block.a |= {id(call): call for call in region.a}
                block.b |= {id(call): call for call in region.b}
    for one in (*frames.breaks(), *frames.edits()):
        blocks.setdefault(one.key, _Block(one))
    _divide_settings([*blocks.values()])
    found_causes = [
        (_cause(block, blocks, names), tuple(block.a.values()), tuple(block.b.values())) for block in blocks.values()
    ]
    found_causes.sort(key=lambda found: _expense(found[0]), reverse=True)
    return Comparison([found[0] for found in found_causes], found_causes, unchanged)


def _divide_settings(blocks: Sequence[_Block]) -> None:
    """A setting that is known to decide about one of the causes is told there alone."""
    own = [[one for one in block.settings if decides(block.finding, one)] for block in blocks]
    taken = {setting for settings in own for setting in settings}
    for block, decisive in zip(blocks, own, strict=True):
        block.settings = dict.fromkeys(decisive or [one for one in block.settings if one not in taken])


def counterparts(both: Pairing, kernel: Kernel, *, is_b: bool) -> list[Kernel]:
    """The kernels of the other side that compute the same as `kernel`, of which side `b` is with `is_b`; else those
    that compute a part of it, the largest part first.
    """
    outer = outermost(kernel.graph)
    for pair in _graphs(both):
        mine = pair.b if is_b else pair.a
        if mine is None or mine.graph != outer or pair.a is None or pair.b is None:
            continue
        ours, theirs = Compiled(both.a.dump, pair.a), Compiled(both.b.dump, pair.b)
        aligned = Stages(Half(ours.dump, ours.graph), Half(theirs.dump, theirs.graph)).at(LOWERED)
        differing, same = regions(aligned, ours.calls, theirs.calls)
        for calls in same:
            if _is_of(calls[is_b], kernel):
                return [calls[not is_b].launch.kernel]
        to = aligned.to_a if is_b else aligned.to_b
        for region in differing:
            own = {to.get(key) for call in region[is_b] if _is_of(call, kernel) for key in call.computes}
            if any(_is_of(call, kernel) for call in region[is_b]):
                found = sorted(region[not is_b], key=lambda call: -len(own.intersection(call.computes)))
                return [call.launch.kernel for call in found if own.intersection(call.computes)] or [
                    call.launch.kernel for call in found
                ]
    return []


def _is_of(call: Call, kernel: Kernel) -> bool:
    return (call.launch.graph, call.name) == (kernel.graph, kernel.name)


def _graphs(both: Pairing) -> list[GraphPair]:
    """The graphs; of a replay only the one that it is of."""
    of = both.a.dump.run.replay_of or both.b.dump.run.replay_of
    if not of:
        return both.graphs
    return [pair for pair in both.graphs if pair.a is not None and pair.b is not None and pair.a.graph == of]


def _is_compiled_for_gpu(side: Compiled) -> bool:
    return any(call.binary is not None for call in side.calls)


def _of_graphs(
    a: Compiled, b: Compiled, frames: FrameCauses, settings: Sequence[str], unchanged: list[tuple[Call, Call]]
) -> Iterator[tuple[list[Finding], Region]]:
    """Of each group of launches that differ, its causes. The launches that are the same are put into `unchanged`."""
    stages = Stages(Half(a.dump, a.graph), Half(b.dump, b.graph))
    aligned = stages.at(LOWERED)
    upstream, lowered, scheduled, binaries = (
        Upstream(stages),
        Lowered(aligned, a, b),
        Scheduled(aligned, a, b),
        Binaries(a, b),
    )
    differing, same = regions(aligned, a.calls, b.calls)
    broken = frames.broken(a.content.compile_id, b.content.compile_id)
    for region in differing:
        ours, theirs = ([key for call in calls for key in call.nodes] for calls in region)
        found = upstream.findings(ours, theirs)
        if broken is not None and (not found or found[0].level in ("source", "dynamo")):
            edits = [one for one in found if frames.is_edit(one)]
            found = edits if found and len(edits) == len(found) else [broken, *edits]
        if not found:
            first = lowered.first(ours)
            if first is not None:
                near = list(aligned.a.near(first))
                found = upstream.findings(
                    [first, *near], [aligned.to_b[key] for key in (first, *near) if key in aligned.to_b]
                )
                found = found or [lowered.finding(first)]
        later = (scheduled.fusion(region) or scheduled.loops(region)) if settings or not found else None
        if not found:
            found = [later or _generated(region)]
        elif later is not None and any(decides(later, setting) for setting in settings):
            found = [*found, later]  # what is decided by a setting follows from nothing before
        yield found, region
    for one, other in same:
        finding = binaries.finding(one, other)
        if finding is None:
            unchanged.append((one, other))
        else:
            yield [finding], Region((one,), (other,))


def _generated(region: Region) -> Finding:
    """What is left: another text of the same loops, another function of a library, or nothing that is known."""
    where, old = (
        next((line for call in calls for line in reversed(call.launch.lines)), None) for calls in (region.b, region.a)
    )
    kernels = tuple(tuple(call.name for call in calls) for calls in region)
    kinds = {call.launch.kernel.kind for calls in region for call in calls}
    if region.a and region.b and kinds == {"extern"}:
        summary = f"{kernels[1][0]} is called, was {kernels[0][0]}"
        if kernels[0] == kernels[1]:
            summary = f"{kernels[1][0]} is called for other nodes, as far as recorded"
        return Finding("library", kernels[1][0], summary, ("library", kernels), where, old, *kernels)
    are_known = any(call.launch.groups or call.launch.nodes for calls in region for call in calls)
    if region.a and region.b and "extern" not in kinds and are_known:
        message = "the same loops generate different code"
        return Finding("codegen", "", message, ("codegen", ""), where, old, *kernels)
    return Finding("not known", "", "nothing in the dumps says why", ("not known", ""), where, old, *kernels)


def _cause(block: _Block, blocks: Mapping[object, _Block], names: tuple[str, str]) -> Cause:
    one = block.finding
    a, b = block.a.values(), block.b.values()
    where = one.where if one.where is not None else one.old_where
    return Cause(
        level=one.level,
        what=one.what,
        message=one.message.replace("{a}", names[0]).replace("{b}", names[1]),
        where=_own(where),
        old_where=_own(one.old_where),
        a=one.a,
        b=one.b,
        settings=tuple(block.settings),
        graphs=tuple(block.graphs),
        kernels_a=tuple(dict.fromkeys([*_names(a), *block.also[0]])),
        kernels_b=tuple(dict.fromkeys([*_names(b), *block.also[1]])),
        cost_a=total(a),
        cost_b=total(b),
        places=block.places,
        shared_with=tuple(dict.fromkeys(blocks[key].label for key in block.beside)),
        counted_with="" if a or b else next((blocks[key].label for key in block.counted), ""),
        a_name=names[0],
        b_name=names[1],
    )


def _own(where: Location | None) -> Location | None:
    return None if where is None else own_line(where) or where


def _names(calls: Iterable[Call]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(call.name for call in calls))


def _expense(cause: Cause) -> tuple[float, ...]:
    """What decides the order: measured time, then bytes, FLOPs, launches, registers, all as differences."""
    a, b = cause.cost_a, cause.cost_b
    seconds = abs((b.measured or 0.0) - (a.measured or 0.0)) if None not in (a.measured, b.measured) else 0.0
    registers = abs((b.registers or 0) - (a.registers or 0))
    return (
        seconds, abs(b.bytes - a.bytes), abs(b.flops - a.flops), abs(b.launches - a.launches), registers,
        a.bytes + b.bytes,
    )  # fmt: skip
