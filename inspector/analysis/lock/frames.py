"""The part of a contract that is about Dynamo: frames, graph breaks, recompiles, guards."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.content import own as without_ids
from inspect_compile.analysis.frontend.frames import Cause, FrameRun, causes, frames, resumed
from inspect_compile.analysis.lock.evidence import Evidence, Key, digests, own
from inspect_compile.analysis.lock.records import FrameLock
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, GraphBreak, Guard, Location, Recompile
from inspect_compile.graph import grouped, short
from inspect_compile.knowledge.frontend.guard_text import no_longer_text

_AGAIN: Final = re.compile(r"_\d+$")
_LONGEST: Final = 80
_REST: Final = re.compile(r"(?:^|(?P<around>.*\.))torch_dynamo_resume_in_\w+$")


class FrameNames(NamedTuple):
    """The frames of a dump under the names that a contract has for them."""

    locks: tuple[FrameLock, ...]
    evidence: dict[Key, Evidence]
    lines: dict[str, dict[str, Location]]
    """Name of a frame → the lines in its graphs by their digest."""
    places: dict[str, Location]
    """Name of a frame → where it is defined."""
    of_compile: dict[str, str]
    """Compile id → name of the frame."""

    def of(self, compile_id: str | None) -> str:
        """The name of the frame that this compile is of; empty if there is none."""
        return self.of_compile.get(_AGAIN.sub("", compile_id or ""), "")


def code_of(where: Location | None) -> str:
    """What is written on a line, without its comment, in a length that can be read."""
    text = "" if where is None else " ".join(re.sub(r"\s#.*$", "", where.code).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def frame_locks(dump: Dump, relative: Callable[[str], str]) -> FrameNames:
    """All frames; `relative` makes a file's path one that is the same elsewhere."""
    evidence: dict[Key, Evidence] = {}
    lines: dict[str, dict[str, Location]] = {}
    places: dict[str, Location] = {}
    of_compile: dict[str, str] = {}
    nodes = grouped(dump.rows(DynamoNode), lambda row: compile_of(row.graph))
    guards = grouped(dump.rows(Guard), lambda row: _AGAIN.sub("", row.graph))
    locks: dict[tuple[str, str], list[FrameLock]] = {}
    for run in frames(dump):
        if not run.compiles:
            continue
        name, ids = _name(run), [one.compile_id for one in run.compiles]
        of_compile |= dict.fromkeys(ids, name)
        places.setdefault(name, Location(run.file, run.line, run.function))
        breaks = [row for one in run.compiles for row in one.breaks]
        again = [one.recompile for one in run.compiles if one.recompile is not None]
        seen = [node.where for one in ids for node in nodes.get(one, ()) if node.where is not None]
        seen += [own_one for where in seen if (own_one := own(where)) is not None]
        lines.setdefault(name, {}).update(digests([*seen, *(row.where for row in breaks if row.where is not None)]))
        broken = _breaks(breaks, name, evidence)
        calls = {one.compile_id: one.frame.caller for one in run.compiles if one.frame is not None}
        recompiled = _recompiles(dump, again, name, calls, evidence)
        locks.setdefault((run.file, name), []).append(
            FrameLock(
                name=name,
                file=relative(run.file),
                status=next((one.frame.status for one in reversed(run.compiles) if one.frame is not None), "unknown"),
                compiles=len(ids),
                graph_breaks=dict(sorted(broken.items())),
                recompiles=dict(sorted(recompiled.items())),
                guards=dict(sorted(Counter(row.kind for one in ids for row in guards.get(one, ())).items())),
                lines=" ".join(sorted(lines[name])),
            )
        )
    ordered = sorted((one for same in locks.values() for one in same), key=lambda one: (one.file, one.name, str(one)))
    return FrameNames(tuple(ordered), evidence, lines, places, of_compile)


def compile_of(graph: str) -> str:
    """`0/0` for `0/0`, `0/0_1` and the graphs nested in it."""
    return _AGAIN.sub("", "/".join(graph.split("/", 2)[:2]))


def _name(run: FrameRun) -> str:
    rest = resumed(run.function)
    if rest is None:
        return run.function or "?"
    found = _REST.match(run.function.rpartition("_at_")[0])
    around = (found["around"] or "") if found is not None else ""
    return f"{around}{rest[0]} after {code_of(run.caller) or 'a graph break'}"


def _breaks(rows: Iterable[GraphBreak], name: str, evidence: dict[Key, Evidence]) -> "Counter[str]":
    found: Counter[str] = Counter()
    for row in rows:
        reason = without_ids((row.reason.strip().splitlines() or [""])[-1])
        label = f"{code_of(own(row.where)) or 'unknown line'}: {reason}"
        found[label] += 1
        why = row.explanation or reason
        hint = next((hint for hint in row.hints if not hint.startswith("This graph break is fundamental")), "")
        evidence.setdefault((name, "graph_breaks", label), Evidence(own(row.where), " ".join(f"{why} {hint}".split())))
    return found


def _recompiles(
    dump: Dump,
    rows: Iterable[Recompile],
    name: str,
    calls: Mapping[str, Location | None],
    evidence: dict[Key, Evidence],
) -> "Counter[str]":
    found: Counter[str] = Counter()
    for row in rows:
        cause = next(iter(causes(dump, row)), None)
        if cause is None:
            label = without_ids("; ".join(row.failed_guards)) or "unknown"
        elif cause.failed.what:
            label = f"{cause.failed.what}: {cause.failed.before or '?'} → {cause.failed.after or '?'}"
        else:
            label = without_ids(cause.failed.condition)
        found[label] += 1
        why = "" if cause is None else _why_again(cause)
        # The call is what has changed; the line that relied on the value was there before.
        where = own(calls.get(_AGAIN.sub("", row.graph))) or (own(cause.where) if cause is not None else None)
        evidence.setdefault((name, "recompiles", label), Evidence(where, why))
    return found


def _why_again(cause: Cause) -> str:
    relied = "" if cause.where is None else f", relied on at {short(cause.where)}"
    return f"{no_longer_text(without_ids(cause.failed.condition))}{relied}. {cause.failed.hint}".strip()
