"""torch's timers and cache look-ups in a TORCH_TRACE log."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from inspect_compile.facts import CacheLookup, Fact, KeyPart, Timed
from inspect_compile.facts.compile_id import compile_name
from inspect_compile.knowledge.caches.key_lines import parts
from inspect_compile.origins.torch_trace.records import Record, Unread, decoded

_MILLION: Final = 1e6
_CACHES: Final = {"fx_graph_cache": "fx_graph", "aotautograd_cache": "aot_autograd"}
_OUTCOMES: Final = ("hit", "miss", "bypass")
_MOST_PARTS: Final = 5000


@dataclass
class Times:
    """Pairs the begin and end of each timer."""

    unread: Unread
    begun: dict[tuple[object, object], list[dict[str, Any]]] = field(default_factory=dict)
    """Process and thread → events that have begun, outermost first."""
    threads: dict[tuple[object, object], int] = field(default_factory=dict)

    def facts(self, record: Record, numbering: int) -> Iterator[Timed]:
        """The timer that an event ends, in torch's so many-th numbering of compiles."""
        event = decoded(record, self.unread)
        if not isinstance(event, dict):
            return
        where = event.get("pid"), event.get("tid")
        if not isinstance(where[0], (int, str, type(None))) or not isinstance(where[1], (int, str, type(None))):
            return
        match event:
            case {"ph": "B"}:
                self.begun.setdefault(where, []).append(event)
            case {"ph": "E", "name": str(name), "ts": int() | float() as end}:
                begun = self.begun.get(where, [])
                # Timers of several threads can have one number, so that they end in another order than they began.
                positions = (index for index in reversed(range(len(begun))) if begun[index].get("name") == name)
                position = next(positions, None)
                if position is None or not isinstance(at := (start := begun.pop(position)).get("ts"), (int, float)):
                    return
                thread = self.threads.setdefault(where, len(self.threads))
                torch_id = _compile(event) or _compile(start) or record.compile_id
                yield Timed(
                    graph=compile_name(torch_id, numbering) if torch_id else "", name=name, start=at / _MILLION,
                    seconds=round((end - at) / _MILLION, 6), thread=thread,
                )  # fmt: skip


def _compile(event: dict[str, Any]) -> str:
    arguments = event.get("args")
    found = arguments.get("compile_id") if isinstance(arguments, dict) else None
    return found if isinstance(found, str) and found != "None" else ""


@dataclass
class Lookups:
    """Makes facts of what torch writes of its caches; each part of a key is told once."""

    unread: Unread
    known: set[tuple[str, str]] = field(default_factory=set)
    """Name and checksum of the parts that were told."""

    def facts(self, record: Record, compile_id: str) -> Iterator[Fact]:
        """The look-up that an artifact such as `fx_graph_cache_miss` tells of, after the parts of its key."""
        cache, _, outcome = record.name.rpartition("_")
        if cache not in _CACHES or outcome not in _OUTCOMES:
            return
        found = decoded(record, self.unread)
        details = found if isinstance(found, dict) else {}
        key, reason, lines = (details.get(name) for name in ("key", "cache_bypass_reason", "components"))
        made_of = parts(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else {}
        checksums = {name: part.checksum for name, part in made_of.items()}
        for part in checksums.items():
            if part not in self.known and len(self.known) < _MOST_PARTS:
                self.known.add(part)
                yield KeyPart(name=part[0], checksum=part[1], members=made_of[part[0]].members())
        yield CacheLookup(
            graph=compile_id, cache=_CACHES[cache], outcome=outcome, key=key if isinstance(key, str) else "",
            reason=reason if isinstance(reason, str) else None, components=checksums,
        )  # fmt: skip
