"""Gives the lines that a dump has been read of their callers: each is recorded once, and facts name it by a number."""

import functools
import typing
from collections.abc import Callable, Iterable
from operator import attrgetter
from types import UnionType
from typing import Any, Final

import msgspec

from inspect_compile.facts import CallSite, Location

DEEPEST: Final = 256
"""Maximum number of calls on the way to a line; what called the outermost of them is left out."""


class Callers:
    """The lines of one dump's `call_sites.jsonl`, each linked to the one that called it."""

    def __init__(self, rows: Callable[[], list[CallSite]]) -> None:
        """`rows` returns all rows that there are now."""
        self._rows = rows
        self._linked: dict[int, Location] = {}
        self._above: dict[int, int] = {}
        """Site → the one that called it."""
        self._depth: dict[int, int] = {0: 0}
        self._read = 0

    def fill_in(self, where: Location) -> None:
        """Set the caller of a line that was read just now, and that nothing else has seen."""
        site = where.site
        if site not in self._linked:
            self._link()
        while (found := self._linked.get(site)) is not None:
            if found.line == where.line and found.file == where.file:
                msgspec.structs.force_setattr(where, "caller", found.caller)
                return
            site = self._above[site]

    def chain(self, site: int) -> tuple[Location, ...]:
        """The line of a site, what called it and so on; empty for a site that the dump does not have."""
        if site not in self._linked:
            self._link()
        found, one = [], self._linked.get(site)
        while one is not None:
            found.append(one)
            one = one.caller
        return tuple(found)

    def _link(self) -> None:
        rows = self._rows()
        for row in rows[self._read :]:
            if row.site < 1:
                continue
            above = row.caller if row.caller in self._linked and self._depth[row.caller] < DEEPEST else 0
            caller = self._linked.get(above)
            self._linked.setdefault(row.site, Location(row.file, row.line, row.function, row.code, row.site, caller))
            self._above.setdefault(row.site, above)
            self._depth.setdefault(row.site, self._depth[above] + 1)
        self._read = len(rows)


@functools.cache
def locations_in(kind: type[msgspec.Struct]) -> tuple[Callable[[Any], Iterable[Location]], ...]:
    """Functions that return the lines in a row of this kind, one for each field that has any."""
    found = []
    for field in msgspec.structs.fields(kind):
        inner = _inner(field.type)
        if inner is Location:
            found.append(functools.partial(_lines_of, attrgetter(field.encode_name)))
        elif isinstance(inner, type) and issubclass(inner, msgspec.Struct) and (more := locations_in(inner)):
            found.append(functools.partial(_lines_below, attrgetter(field.encode_name), more))
    return tuple(found)


def _inner(annotation: Any) -> Any:
    """`Location` of `Location | None` and of `tuple[Location, ...]`; any other annotation itself."""
    if isinstance(annotation, UnionType) or typing.get_origin(annotation) is tuple:
        return typing.get_args(annotation)[0]
    return annotation


def _lines_of(field: Callable[[Any], Any], row: Any) -> Iterable[Location]:
    value = field(row)
    return value if type(value) is tuple else () if value is None else (value,)


def _lines_below(
    field: Callable[[Any], Any], more: tuple[Callable[[Any], Iterable[Location]], ...], row: Any
) -> Iterable[Location]:
    value = field(row)
    for part in value if type(value) is tuple else () if value is None else (value,):
        for lines in more:
            yield from lines(part)
