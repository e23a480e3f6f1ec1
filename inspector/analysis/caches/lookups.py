"""Each lookup in the caches of compiled graphs and kernels, and how its key differs from the nearest earlier one."""

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.caches.keys import GRAPH, KeyDifference, Lookup, Parts, differences, differing
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import CacheLookup, Frame, KernelLookup
from inspect_compile.graph import Graphs

_MOST_KEYS: Final = 200
"""Maximum number of keys of a run that one is compared with: a sweep has thousands of lookups."""
_MOST_ALIKE: Final = 16
"""Of these, maximum number that are compared member by member."""


FORCED_MISS: Final = "forced miss"
"""The word of a row for a lookup that was made to miss, so that there is a lowering to watch."""
_OUTCOMES: Final = {"passed over": FORCED_MISS}


class LookupRow(CacheLookup, frozen=True, kw_only=True, tag="cache_row"):
    """One lookup in a cache, and how its key differs from earlier ones; `outcome` can be `FORCED_MISS`."""

    kernel: str = ""
    """Of a cache of kernels: the kernel."""
    function: str
    """The function that was compiled."""
    file: str
    line: int
    nearest: str | None
    """The earlier compile with the most similar key; None if there is none to compare with."""
    nearest_run: str
    """The dump that this compile is in; empty for the same one."""
    differing: tuple[KeyDifference, ...]
    """What is not as in that key; empty if the keys are the same."""


class _Known(NamedTuple):
    lookup: Lookup
    frame: tuple[str, str]
    """Its function and the name of its file."""
    parts: Parts
    run: str

    def is_for(self, other: "_Known") -> bool:
        """Whether both are of the forward, or both of the backward, of one function; of one kernel of it."""
        return (
            self.frame == other.frame
            and self.kernel == other.kernel
            and (bool(self.kernel) or self._is_backward() == other._is_backward())
        )

    @property
    def kernel(self) -> str:
        return self.lookup.kernel if isinstance(self.lookup, KernelLookup) else ""

    def _is_backward(self) -> str:
        members = self.parts.members("fx_kwargs", self.lookup.components.get("fx_kwargs")) or {}
        return members["is_backward"].value if "is_backward" in members else ""


class Lookups:
    """The lookups of a dump and of an earlier one, for comparing their keys."""

    def __init__(self, dump: Dump, earlier: Dump | None = None) -> None:
        self._frames = {row.graph: row for row in dump.rows(Frame)}
        self._known: dict[str, list[_Known]] = {}
        """Cache → the keys of each lookup that has parts, oldest first."""
        self._position: dict[int, int] = {}
        """Lookup → the number of keys before its own."""
        if earlier is not None:
            self._add(_all(earlier), {row.graph: row for row in earlier.rows(Frame)}, earlier)
        self.found = _all(dump)
        """The lookups of the dump: of graphs in order, then those of kernels."""
        self._add(self.found, self._frames, dump, is_earlier=False)

    def _add(self, rows: Iterable[Lookup], frames: dict[str, Frame], dump: Dump, *, is_earlier: bool = True) -> None:
        parts = Parts(dump)
        for row in rows:
            same = self._known.setdefault(row.cache, [])
            if not is_earlier:
                self._position[id(row)] = len(same)
            if row.components:
                same.append(_Known(row, _frame(frames.get(row.graph)), parts, dump.root.name if is_earlier else ""))

    def row(self, lookup: Lookup) -> LookupRow:
        """The lookup with what it is compared with; it has to be of the dump."""
        frame = self._frames.get(lookup.graph)
        found = self.nearest(lookup)
        compile_id, run, unlike = found if found is not None else (None, "", ())
        return LookupRow(
            function=frame.function if frame is not None else "",
            file=frame.file if frame is not None else "",
            line=frame.line if frame is not None else 0,
            nearest=compile_id,
            nearest_run=run,
            differing=unlike,
            **{**msgspec.structs.asdict(lookup), "outcome": outcome_of(lookup)},
        )

    def nearest(self, lookup: Lookup) -> tuple[str, str, tuple[KeyDifference, ...]] | None:
        """The compile with the most similar earlier key, the dump that it is in, and what differs; None if neither this
        graph nor another one of the same function was looked up before.

        Most similar is the key of the same graph, then the one of which the fewest parts differ, and the fewest members
        of these; then the newest. Only the last `_MOST_KEYS` are compared.
        """
        if not lookup.components:
            return None
        known, position = self._known[lookup.cache], self._position[id(lookup)]
        own = known[position]
        compared = [
            (differing(one.lookup, lookup), one) for one in reversed(known[max(0, position - _MOST_KEYS) : position])
        ]
        alike = [(parts, one) for parts, one in compared if one.is_for(own) or not (own.kernel or GRAPH in parts)]
        if not alike:
            return None
        alike.sort(key=lambda one: (GRAPH in one[0], len(one[0])))
        nearest = [one for parts, one in alike[:_MOST_ALIKE] if len(parts) == len(alike[0][0])]
        unlike = [differences(one.lookup, one.parts, lookup, own.parts) for one in nearest]
        index = min(range(len(nearest)), key=lambda index: len(unlike[index]))
        return nearest[index].lookup.graph, nearest[index].run, unlike[index]


def outcome_of(lookup: Lookup) -> str:
    """What came of a lookup, in the word of a row."""
    return _OUTCOMES.get(lookup.outcome, lookup.outcome)


def cache_rows(graphs: Graphs, earlier: str | None = None) -> list[LookupRow]:
    """The lookups compared with each other, and with those of the dump at the path `earlier`. Raises DumpError."""
    return lookup_rows(graphs, None if earlier is None else open_dump(Path(earlier)))


def lookup_rows(graphs: Graphs, earlier: Dump | None = None) -> list[LookupRow]:
    """All lookups in their order; with `graph` only those of the compile that made it."""
    wanted = graphs.compiles
    lookups = Lookups(graphs.dump, earlier)
    return [lookups.row(row) for row in lookups.found if wanted is None or row.graph in wanted]


def _all(dump: Dump) -> list[Lookup]:
    return [*dump.rows(CacheLookup), *dump.rows(KernelLookup)]


def _frame(frame: Frame | None) -> tuple[str, str]:
    return ("", "") if frame is None else (frame.function, PurePath(frame.file).name)
