"""What is worth a line while a program runs, from the facts as they are recorded."""

import os
from collections import deque
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

from inspect_compile.facts import (
    CacheLookup,
    CudaGraph,
    Fact,
    FailedGuard,
    FirstCall,
    Frame,
    KernelLookup,
    KeyPart,
    Location,
    Recompile,
    Timed,
)
from inspect_compile.knowledge.caches.keys import CONFIG, OF_GRAPH, PARTS
from inspect_compile.knowledge.frontend.compile_stages import stage_of

LONG: Final = 1.0
"""Seconds from which on a compile is told."""
_BACKWARD: Final = "entire_backward_compile"
_AHEAD: Final = "fullgraph_capture"
"""The outermost timer of a compile ahead of time (`aot_compile`, as in vLLM), which is no frame's."""
_MOST_TIMERS: Final = 4096
_MOST_KEPT: Final = 256
"""Frames, keys and parts of keys that are remembered: more than a process has that does not compile all the time."""
_MOST_NAMED: Final = 3
_LONGEST: Final = 80
_AS_A_WHOLE: Final = frozenset({"gm", "source"})
"""Parts whose members are lines of code: only that they differ is told."""
_GRAPHS, _KERNELS = "aot_autograd", "triton"
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line. With `--live=json` these fields are printed, without those that are empty."""

    event: str
    """`compile`, `recompile`, `limit`, `cache miss`, `kernel build`, `cuda graph` (one that was recorded again),
    `left out` (lines, because there were too many).
    """
    compile_id: str = ""
    """`0/1`; empty for what belongs to no compile."""
    name: str = ""
    """The function, the kernel or the graph."""
    place: str = ""
    """Where the function begins, `net.py:3`."""
    seconds: float | None = None
    """What it took."""
    why: tuple[str, ...] = ()
    """The guards that failed, the parts of a key that differ, what took longest."""
    where: str = ""
    """The line that needed the first of these guards."""
    count: int | None = None
    """Of what was left out: how many lines."""
    rank: int | None = None
    """Of a distributed run."""
    pid: int = 0
    """The process."""
    time: float = 0.0
    """When, in seconds since the epoch."""


class Watched:
    """What a process has compiled so far, as far as later events depend on it."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, str]] = {}
        """Compile id → function and place."""
        self._again: dict[str, None] = {}
        """Compiles of frames that were compiled before."""
        self._limited: set[tuple[str, str]] = set()
        self._ended: dict[int, list[tuple[float, float]]] = {}
        """Thread → start and seconds of timers that ended, and are inside of none that has ended."""
        self._stages: dict[str, dict[str, float]] = {}
        """Compile id → stage → seconds, without those of stages inside it."""
        self._of_none: deque[tuple[int, float, str, float]] = deque(maxlen=_MOST_TIMERS)
        """The same of timers that ran for no frame in particular: thread, start, stage and seconds."""
        self._keys: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
        """Cache and kernel → key → its components."""
        self._members: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
        """Part and checksum → member → checksum and value."""
        self._has_hit: set[str] = set()
        """The caches that had something in this process."""
        self._built: set[str] = set()
        self._captured: dict[int, int] = {}
        self._missed: dict[str, CacheLookup] = {}
        """Compile id → a miss of AOTAutograd's cache: whether the other cache has it is looked up next."""
        self._is_ready = False
        """Whether a compiled graph has run."""

    def saw(self, fact: Fact) -> Iterator[Event]:
        """What there is to tell, now that `fact` was recorded."""
        kind = type(fact)
        if kind is Timed:
            yield from self._timed(fact)  # type: ignore[arg-type]
        elif kind is KeyPart:
            self._keep_part(fact)  # type: ignore[arg-type]
        elif kind is CacheLookup:
            yield from self._looked_up(fact)  # type: ignore[arg-type]
        elif kind is KernelLookup:
            yield from self._built_kernel(fact)  # type: ignore[arg-type]
        elif kind is Recompile:
            yield self._recompile(fact)  # type: ignore[arg-type]
        elif kind is Frame:
            yield from self._frame(fact)  # type: ignore[arg-type]
        elif kind is CudaGraph:
            yield from self._captures(fact)  # type: ignore[arg-type]
        elif kind is FirstCall:
            self._is_ready = True

    def _frame(self, row: Frame) -> Iterator[Event]:
        place = f"{os.path.basename(row.file)}:{row.line}"
        if row.limit:
            if (row.function, place) not in self._limited:
                self._limited.add((row.function, place))
                why = (row.reason or row.limit,)
                yield Event(event="limit", compile_id=row.graph, name=row.function, place=place, why=why)
            return
        yield from self._only_missed(row.graph)
        _keep(self._names, row.graph, (row.function, place))
        if row.status == "compiled" and row.seconds >= LONG:
            yield self._compile(row.graph, row.seconds)
        self._stages.pop(row.graph, None)

    def _timed(self, row: Timed) -> Iterator[Event]:
        inside = 0.0
        ended = self._ended.setdefault(row.thread, [])
        while ended and ended[-1][0] >= row.start:
            inside += ended.pop()[1]
        ended.append((row.start, row.seconds))
        del ended[:-_MOST_KEPT]
        stage, own = stage_of(row.name), max(row.seconds - inside, 0.0)
        if row.graph:
            _add(self._stages.get(row.graph) or _keep(self._stages, row.graph, {}), stage, own)
        else:
            self._of_none.append((row.thread, row.start, stage, own))
            if row.name == _AHEAD and row.seconds >= LONG:
                stages = self._stages[""] = {}
                for thread, start, stage, own in self._of_none:
                    if thread == row.thread and start >= row.start:
                        _add(stages, stage, own)
                yield self._compile("", row.seconds, "ahead of time")
                del self._stages[""]
        if row.name == _BACKWARD:
            if row.seconds >= LONG:
                yield self._compile(row.graph, row.seconds, " (backward)")
            self._stages.pop(row.graph, None)

    def _compile(self, compile_id: str, seconds: float, part: str = "") -> Event:
        name, place = self._names.get(compile_id, ("", ""))
        stages = sorted(self._stages.get(compile_id, {}).items(), key=lambda one: -one[1])
        why = tuple(f"{stage} {took:.1f} s" for stage, took in stages[:_MOST_NAMED] if took >= 0.1)
        return Event(
            event="compile",
            compile_id=compile_id,
            name=f"{name}{part}",
            place=place,
            seconds=round(seconds, 3),
            why=why,
        )

    def _recompile(self, row: Recompile) -> Event:
        place = f"{os.path.basename(row.file)}:{row.line}"
        _keep(self._names, row.graph, (row.function, place))
        _bound(self._again)[row.graph] = None
        failed = row.failed[:1]  # of the newest compile
        why = tuple(map(_change, failed)) or row.failed_guards[:1]
        where = next((_line(one.where) for one in failed if one.where is not None), "")
        return Event(event="recompile", compile_id=row.graph, name=row.function, place=place, why=why, where=where)

    def _looked_up(self, row: CacheLookup) -> Iterator[Event]:
        if row.outcome == "failed":
            why = f"the entry could not be loaded{f': {row.reason}' if row.reason else ''}"
            yield Event(event="cache miss", compile_id=row.graph, name=row.cache, place="", why=(why,))
            return
        missed = row.outcome == "miss" or (row.outcome == "passed over" and row.stored is False)
        if missed and row.cache == _GRAPHS:
            _bound(self._missed)[row.graph] = row
            return
        if missed:
            self._missed.pop(row.graph, None)
            yield from self._miss(row)
        elif row.outcome == "hit":
            self._has_hit.add(row.cache)
            yield from self._only_missed(row.graph)
        self._keep_key(row)

    def _only_missed(self, compile_id: str) -> Iterator[Event]:
        row = self._missed.pop(compile_id, None)
        if row is not None:
            yield from self._miss(row)
            self._keep_key(row)

    def _miss(self, row: CacheLookup) -> Iterator[Event]:
        """At a first start every cache is empty: a miss says something once there were hits, or a graph has run. That a
        frame which is compiled again has another graph is told with the guard.
        """
        parts, why = self._nearest(row)
        is_told = row.graph in self._again and not OF_GRAPH.isdisjoint(parts)
        if (self._is_ready or self._has_hit) and not is_told:
            name, place = self._names.get(row.graph, ("", ""))
            yield Event(event="cache miss", compile_id=row.graph, name=name or row.cache, place=place, why=why)

    def _built_kernel(self, row: KernelLookup) -> Iterator[Event]:
        if row.cache != _KERNELS or row.graph:
            return
        is_again = row.kernel in self._built
        if row.outcome == "miss" and (self._is_ready or is_again):
            yield Event(event="kernel build", name=row.kernel, why=self._nearest(row)[1])
        if is_again or len(self._built) < _MOST_KEPT:
            self._built.add(row.kernel)
        self._keep_key(row)

    def _captures(self, row: CudaGraph) -> Iterator[Event]:
        before = self._captured.get(row.number, 0)
        if row.recorded <= before:
            return
        _bound(self._captured)[row.number] = row.recorded
        last = row.recordings[-1] if len(row.recordings) == row.recorded else None
        if before and (last is None or last.why != "another path"):
            why = () if last is None else (last.why, *last.inputs[:_MOST_NAMED])
            yield Event(
                event="cuda graph",
                compile_id=row.compile_id or "",
                name=row.graph,
                seconds=None if last is None else last.seconds,
                why=why,
                where=(last.where or "") if last is not None else "",
            )

    def _keep_key(self, row: CacheLookup | KernelLookup) -> None:
        if row.components:
            known = self._keys.get(_named(row)) or _keep(self._keys, _named(row), {})
            known[row.key] = row.components
            while len(known) > _MOST_KEPT:
                del known[next(iter(known))]

    def _keep_part(self, row: KeyPart) -> None:
        if row.name not in _AS_A_WHOLE:
            members = {name: (one.checksum, one.value[:_LONGEST]) for name, one in row.members.items()}
            _keep(self._members, (row.name, row.checksum), members)

    def _nearest(self, row: CacheLookup | KernelLookup) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts in which its key differs from the one that it differs least from, and how; empty where that is not
        known.
        """
        now, known = row.components, self._keys.get(_named(row), {})
        if not now or not known:
            return (), ()
        nearest = min(reversed(known.values()), key=lambda one: len(_differing(one, now)))
        parts = _differing(nearest, now)
        return parts, tuple(self._difference(name, nearest.get(name), now.get(name)) for name in parts)

    def _difference(self, part: str, before: str | None, after: str | None) -> str:
        said = PARTS.get(part, CONFIG.get(part, part))
        old, new = (self._members.get((part, one or ""), {}) for one in (before, after))
        name = next((name for name in new if name in old and old[name][0] != new[name][0]), None)
        if name is None:
            return said
        at = f".{name}" if part in CONFIG else f" {name}" if name else ""
        return f"{said}{at}: {old[name][1]} → {new[name][1]}"


def _add(stages: dict[str, float], stage: str, seconds: float) -> None:
    stages[stage] = stages.get(stage, 0.0) + seconds


def _named(row: CacheLookup | KernelLookup) -> tuple[str, str]:
    return row.cache, row.kernel if isinstance(row, KernelLookup) else ""


def _differing(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name in {**after, **before} if before.get(name) != after.get(name))


def _change(failed: FailedGuard) -> str:
    """`size of x in dimension 0: 8 → 9`, or torch's condition."""
    if not failed.what or not (failed.before or failed.after):
        return failed.condition
    return f"{failed.what}: {failed.before or '?'} → {failed.after or '?'}"


def _line(where: Location) -> str:
    return f"{os.path.basename(where.file)}:{where.line}"


def _bound(known: dict[_Key, _Value]) -> dict[_Key, _Value]:
    """Without its oldest entry, where it is full."""
    if len(known) >= _MOST_KEPT:
        del known[next(iter(known))]
    return known


def _keep(known: dict[_Key, _Value], key: _Key, value: _Value) -> _Value:
    """Remember it, and forget what is oldest."""
    _bound(known)[key] = value
    return value
