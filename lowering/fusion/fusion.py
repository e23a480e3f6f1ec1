"""The scheduler's fusion: each round, each look at a pair of nodes, each refusal and why, each fusion."""

import math
from typing import Any, Final

from inspect_compile.lowering.core.scopes import SCOPES, Scope, torch_object
from inspect_compile.lowering.core.values import enclosed, frames_of
from inspect_compile.lowering.fusion.fusion_rows import ASKED, LOOK, WHY, Rows
from inspect_compile.probe import Probes, ThreadCallBuffer, argument
from inspect_compile.torch_compat import frames
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.fusion"
_FRAMES: Final = 10
"""From a hook up to the function that called what it watches there are fewer."""


class _Open(ThreadCallBuffer):
    """What runs on this thread: graphs are compiled on several, and in each other. Notes are those of the round."""

    round: Rows | None = None


_OPEN = _Open()


def install(probes: Probes) -> None:
    """Hook the scheduler's fusion."""

    def rows_here() -> Rows | None:
        scope = SCOPES.here()
        return None if scope is None else _rows(probes, scope)

    def round_begins(scheduler: Any, args: Any, kwargs: Any) -> Rows | None:
        before, rows = _OPEN.round, rows_here()
        _OPEN.round, _OPEN.notes = rows, None if rows is None else rows.notes
        if rows is not None:
            rows.begin(scheduler)
        return before

    def round_ends(before: Rows | None, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        rows, _OPEN.round, _OPEN.notes = _OPEN.round, before, None if before is None else before.notes
        if rows is not None:
            rows.end()

    def candidates_wanted(scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        rows = _OPEN.round
        if rows is not None:
            nodes = argument(args, kwargs, 0, "nodes")
            reorder = argument(args, kwargs, 1, "is_reorder_round")
            rows.tell_round(scheduler, nodes, reorder, torch_object(names.CONFIG))

    def candidates_found(state: Any, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        if _OPEN.round is not None:
            _OPEN.round.tell_order(result)

    def put_off(state: Any, scheduler: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        rows = _OPEN.round
        if rows is not None and len(result) < len(args[0]):
            kept = {(id(one), id(other)) for one, other in result}
            left = [pair for pair in args[0] if (id(pair[0]), id(pair[1])) not in kept]
            rows.put_off = [(rows.node(one), rows.node(other)) for one, other in left]

    def scored(state: Any, scheduler: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        rows = _OPEN.round
        if rows is not None:
            one, other = args[0]
            parts = getattr(result, "__dict__", {})
            rows.score(one, other, {name: int(part) for name, part in parts.items() if isinstance(part, (int, float))})

    def fused(state: Any, scheduler: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        rows = _OPEN.round or rows_here()
        if rows is not None:
            rows.fuse(args[0], args[1], result)

    def benchmarked(state: Any, scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        rows = _OPEN.round or rows_here()
        found = _pair_of(next(frames_of(frames.BENCHMARKED, farthest=_FRAMES), {}))
        if rows is not None and found is not None and math.isfinite(result[0]):
            rows.benchmark(*found, float(result[0]))

    def before_combos(scheduler: Any, args: Any, kwargs: Any) -> set[str]:
        return {node.get_name() for node in scheduler.nodes}

    def combined(before: set[str], scheduler: Any, args: Any, kwargs: Any, result: Any) -> None:
        rows = rows_here()
        for node in scheduler.nodes if rows is not None else ():
            name = node.get_name()
            if rows is not None and name not in before:
                rows.combo(name, [part.get_name() for part in node.snodes])

    probes.wrap(PROBE, names.FUSE_ONCE, before=round_begins, after=round_ends, failed=round_ends)
    probes.wrap(PROBE, names.POSSIBLE_FUSIONS, before=candidates_wanted, after=candidates_found)
    probes.wrap(PROBE, names.HIGHEST_PRIORITY, after=put_off)
    probes.wrap(PROBE, names.SCORE, after=scored)
    probes.note(PROBE, names.CAN_FUSE, _OPEN, LOOK, has_inner=True)
    probes.note(PROBE, names.WHY_NO_FUSE, _OPEN, WHY)
    probes.wrap(PROBE, names.FUSE_TWO, after=fused)
    probes.wrap(PROBE, names.BENCHMARK, after=benchmarked)
    probes.wrap(PROBE, names.COMBO_KERNELS, before=before_combos, after=combined)


def install_choices(probes: Probes) -> None:
    """Hook what decides whether a pair is worth a fusion."""

    probes.note(PROBE, names.MAY_FUSE, _OPEN, ASKED)


def _rows(probes: Probes, scope: Scope) -> Rows:
    found: Rows | None = scope.stash.get(PROBE)
    if found is None:
        found = scope.stash[PROBE] = Rows(probes, scope.graph)
    return found


def _pair_of(found: dict[str, Any]) -> tuple[str, str, float, float] | None:
    """Names of the pair whose fusion is being timed, and the times of both; None while these are not known.

    `found` are variables of the function that times it; nothing of them is kept.
    """
    first, second, why, log = frames.BENCHMARKED.variables
    one, other = found.get(first), found.get(second)
    if not (isinstance(one, (int, float)) and isinstance(other, (int, float))):
        return None
    if why in found:
        a, b = found[why].name1, found[why].name2
    else:
        held = enclosed(found.get(log), frames.LOG_FUSION)
        if len(held) < len(frames.LOG_FUSION.variables):
            return None
        a, b = (held[name].get_name() for name in frames.LOG_FUSION.variables)
    return (a, b, float(one), float(other)) if math.isfinite(one) and math.isfinite(other) else None
