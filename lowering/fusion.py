"""Each look of the scheduler at a pair of nodes.

Refused and why, legal, or fused. One row for each "cannot fuse" that torch would log.
"""

import weakref
from dataclasses import dataclass, field
from typing import Any

from inspect_compile.facts import Attempt
from inspect_compile.knowledge.fusion_reasons import code_of
from inspect_compile.lowering.scopes import SCOPES
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.fusion"
LONGEST_ARGUMENT = 400
"""Characters: index expressions can be long, and the whole of them is in the schedule."""


@dataclass
class _Refusal:
    a: str
    b: str
    template: str
    reason: str
    arguments: tuple[str, ...]


@dataclass
class _Rounds:
    """What one scheduler has said so far. Names only: nothing of the scheduler lives in it."""

    graph: str
    number: int = 0
    depth: int = 0
    """can_fuse calls itself for foreach nodes and templates; the outermost call is the attempt."""
    refusals: list[_Refusal] = field(default_factory=list)
    """Of the attempt that is open."""
    shared: dict[tuple[str, str], int] = field(default_factory=dict)
    scores: dict[tuple[str, str], str] = field(default_factory=dict)
    legal: dict[tuple[str, str], None] = field(default_factory=dict)
    """Of the open round, not fused yet."""


def install(probes: Probes) -> None:
    """Hook the scheduler's fusion."""
    sink = probes.sink
    schedulers: weakref.WeakKeyDictionary[Any, _Rounds] = weakref.WeakKeyDictionary()

    def rounds_of(scheduler: Any) -> _Rounds | None:
        found = schedulers.get(scheduler)
        if found is None and (scope := SCOPES.here()) is not None:
            found = schedulers[scheduler] = _Rounds(scope.graph)
        return found

    def attempt(rounds: _Rounds, a: str, b: str, verdict: str, **more: Any) -> None:
        sink.add(
            Attempt(
                graph=rounds.graph,
                round=rounds.number,
                a=a,
                b=b,
                verdict=verdict,
                score=rounds.scores.get((a, b)),
                shared_bytes=rounds.shared.get((a, b), rounds.shared.get((b, a))),
                **more,
            )
        )

    def refused(rounds: _Rounds, refusal: _Refusal, verdict: str) -> None:
        attempt(
            rounds,
            refusal.a,
            refusal.b,
            verdict,
            code=code_of(refusal.template),
            reason=refusal.reason,
            arguments=refusal.arguments,
            refusals=1,
        )

    def round_begins(scheduler: Any, args: Any, kwargs: Any) -> None:
        rounds = rounds_of(scheduler)
        if rounds is not None:
            rounds.number += 1
            rounds.legal.clear()

    def round_ends(state: Any, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        rounds = schedulers.get(scheduler)
        if rounds is None:
            return
        together = {member.get_name(): node.get_name() for node in result for member in node.get_nodes()}
        for a, b in rounds.legal:
            if together.get(_first(a), a) != together.get(_first(b), b):
                attempt(rounds, a, b, "legal")
        rounds.legal.clear()

    def look(scheduler: Any, args: Any, kwargs: Any) -> None:
        rounds = rounds_of(scheduler)
        if rounds is not None:
            rounds.depth += 1

    def looked(state: Any, scheduler: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        rounds = schedulers.get(scheduler)
        if rounds is None:
            return
        rounds.depth -= 1
        if rounds.depth:
            return
        a, b = args[0].get_name(), args[1].get_name()
        refusals, rounds.refusals = rounds.refusals, []
        for refusal in refusals:
            refused(rounds, refusal, "overruled" if result else "refused")
        if result:
            rounds.legal[a, b] = None
        elif not refusals:
            attempt(
                rounds,
                a,
                b,
                "refused",
                code="backend-refused",
                reason="the backend cannot hold both in one kernel (it gives no reason)",
            )
        if not result:
            rounds.legal.pop((a, b), None)

    def look_failed(state: Any, scheduler: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        rounds = schedulers.get(scheduler)
        if rounds is not None:
            rounds.depth -= 1

    def why(refusal: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        template, values = args[0], args[1:]
        texts = tuple(str(value)[:LONGEST_ARGUMENT] for value in values)
        try:
            reason = template % texts
        except (TypeError, ValueError):
            reason = " ".join((template, *texts))
        found = _Refusal(refusal.name1, refusal.name2, template, reason, texts)
        scope = SCOPES.here()
        rounds = next(
            (rounds for rounds in schedulers.values() if scope is not None and rounds.graph == scope.graph), None
        )
        if rounds is not None and rounds.depth:
            rounds.refusals.append(found)
        elif rounds is not None:
            refused(rounds, found, "refused")
        elif scope is not None:
            refused(_Rounds(scope.graph), found, "refused")

    def fused(state: Any, scheduler: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        rounds = schedulers.get(scheduler)
        if rounds is None:
            return
        a, b = args[0].get_name(), args[1].get_name()
        rounds.legal.pop((a, b), None)
        attempt(rounds, a, b, "fused", into=result.get_name())

    def shared(state: Any, scheduler: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        rounds = schedulers.get(scheduler)
        if rounds is not None and len(args) >= 2 and kwargs.get("count_bytes", True):
            first = result[0] if isinstance(result, tuple) else result
            if isinstance(first, int):
                rounds.shared[args[0].get_name(), args[1].get_name()] = first

    def scored(state: Any, scheduler: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        rounds = schedulers.get(scheduler)
        if rounds is not None:
            a, b = args[0]
            rounds.scores[a.get_name(), b.get_name()] = str(result)[:LONGEST_ARGUMENT]

    probes.wrap(PROBE, names.FUSE_ONCE, before=round_begins, after=round_ends)
    probes.wrap(PROBE, names.CAN_FUSE, before=look, after=looked, failed=look_failed)
    probes.wrap(PROBE, names.WHY_NO_FUSE, before=why)
    probes.wrap(PROBE, names.FUSE_TWO, after=fused)
    probes.wrap(PROBE, names.SCORE_MEMORY, after=shared)
    probes.wrap(PROBE, names.SCORE, after=scored)


def _first(group: str) -> str:
    """The first operation of a group's name, `op9_op10_op11`."""
    return group.split("_", 1)[0]
