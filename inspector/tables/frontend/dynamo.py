"""What Dynamo did with the program's frames: compiled, broke, compiled again or took from a cache; and why."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from inspect_compile.analysis.caches.lookups import Lookups
from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.dynamo_rows import dynamo_rows
from inspect_compile.analysis.frontend.frames import Compile, FrameRun, causes, frames, plain_source, resumed
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.facts import (
    CacheLookup,
    FailedGuard,
    Frame,
    GraphBreak,
    GuardedCalls,
    KernelLookup,
    Location,
    Recompile,
    ShapeGuard,
    SideEffect,
    Skip,
)
from inspect_compile.graph import gathered
from inspect_compile.knowledge.frontend.guard_text import is_condition
from inspect_compile.tables.caches.lookup_text import cache_name, outcome_text
from inspect_compile.tables.parts import DeclaredTable, Request, more, recorded_of_compiles
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import (
    code_text,
    exception_text,
    file_name,
    in_module,
    line_text,
    number_of,
    one_line,
    place_parts,
    place_text,
    seconds_text,
)

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_ROLES: Final = {"failed": "bad", "compiled": "good", "skipped": "warn"}
_NO_USE: Final = "Please report an issue to PyTorch."
_CLOSED = re.compile(r'guard on "(?P<name>\w+)"')
"""torch's name for a closure variable, whose cell is guarded."""
_STEP: Final = 2


def dynamo(request: Request) -> Block:
    """The frames as a tree with what triggered each; below each compile its graph breaks, causes and caches."""
    dump = request.dump
    wanted = None if request.graph is None else {found.fact.compile_id for found in request.graphs}
    found = [kept for run in frames(dump) if (kept := _kept(run, wanted, request.names)) is not None]
    shown = found[: request.limit]
    lookups = Lookups(dump)
    parts: list[Block] = [part for run in shown for part in _frame(dump, run, lookups)]
    if not found:
        parts.append(styled(text_or_nothing(dump, "Dynamo compiled no frame"), "dim"))
    if len(found) > len(shown):
        parts.append(more(len(found) - len(shown), request.every("dynamo")))
    return Stack(parts, gap=False)


def _kept(run: FrameRun, wanted: set[str | None] | None, names: tuple[str, ...]) -> FrameRun | None:
    """The frame with the selected compiles only; None if there are none."""
    compiles = tuple(
        one
        for one in run.compiles
        if (wanted is None or one.compile_id in wanted)
        and (not names or any(matches(row, names) for row in _rows(one)))
    )
    if compiles or (not run.compiles and wanted is None and matches(run, names)):
        return msgspec.structs.replace(run, compiles=compiles)
    return None


def _rows(one: Compile) -> Iterator[msgspec.Struct]:
    yield one
    yield from filter(None, (one.frame, one.recompile))
    yield from one.breaks
    yield from one.effects
    yield from one.shapes
    yield from one.lookups


def _line(depth: int, *parts: str | tuple[str, str] | StyledLine) -> StyledLine:
    """A line that wraps below itself if there is no room."""
    return replace(joined(*parts), indent=min(depth, 12) * _STEP)


def _frame(dump: "Dump", run: FrameRun, lookups: Lookups) -> Iterator[Block]:
    yield _line(run.depth, (_name(run), "strong"), (_called(run), "dim"))
    if not run.compiles:
        yield _line(run.depth + 1, ("not compiled", "warn"), f": {_reason(run.skip)}; it runs uncompiled")
    seen = _Seen(set(), {}, {})
    for one in run.compiles:
        yield from _compile(dump, run, one, lookups, seen)
    usable = [one for one in run.compiles if one.frame is not None and one.frame.status in ("compiled", "no graph")]
    if len(usable) > 1:
        guards = number_of(sum(one.guards for one in usable), "guard")
        yield _line(
            run.depth + 1, (f"a call that fits none of the {len(usable)} compiles checks up to {guards}", "dim")
        )


def _name(run: FrameRun) -> str:
    if run.is_outside:
        return "compiled without Dynamo, by torch.export, AOTInductor or standalone_compile"
    if not (run.function or run.file):  # torch says so at the end
        return "a frame whose compile did not end"
    place = f"{file_name(run.file)}:{run.line}"
    rest = resumed(run.function)
    module = in_module(*run.modules)
    if rest is not None:
        return f"{module}the rest of {one_line(rest[0])} from {file_name(run.file)}:{rest[1]} on"
    return f"{module}{one_line(run.function)}  {place}"


def _called(run: FrameRun) -> str:
    if run.caller is None:
        return ""
    began = "after the graph break at" if resumed(run.function) is not None else "called at"
    code = one_line(run.caller.code)
    return f"  {began} {place_text(run.caller)}{f'  {code}' if code else ''}"


class _Seen(NamedTuple):
    """What was already printed for the same frame."""

    hints: set[str]
    breaks: dict[tuple[Location | None, str], str]
    """Place and reason → the compile id under which it was printed."""
    effects: dict[tuple[SideEffect, ...], str]
    """Side effects → the compile id under which they were printed."""


def _compile(dump: "Dump", run: FrameRun, one: Compile, lookups: Lookups, seen: _Seen) -> Iterator[Block]:
    depth, frame = run.depth + 1, one.frame
    status = frame.status if frame is not None else "no frame" if run.is_outside else "not finished"
    words = [f" {number_of(frame.graphs, 'graph')}, {number_of(frame.nodes, 'node')}"] if frame and frame.graphs else []
    if frame is not None:
        words.append(f" {seconds_text(frame.seconds)}")
    if one.guards:
        words.append(f" {number_of(one.guards, 'guard')}")
    yield _line(
        depth, f"{one_line(one.compile_id) or 'without a frame'}  ", (status, _ROLES.get(status, "")), ",".join(words)
    )
    if one.recompile is not None:
        yield from _again(dump, depth + 1, one.recompile, seen.hints)
    if frame is not None and status not in ("compiled", "no graph"):
        why = frame.reason or run.skip
        yield _line(depth + 1, ("because " if why else "torch gives no reason", "dim"), _reason(why))
    for found in one.breaks:
        before = seen.breaks.setdefault((found.where, found.reason), one.compile_id)
        yield from _break(depth + 1, found, "" if before == one.compile_id else before)
    yield from _effects(depth + 1, one, seen)
    outcomes = gathered((outcome_text(lookups.row(lookup)), cache_name(lookup)) for lookup in one.lookups)
    for outcome, caches in outcomes.items():
        yield _line(depth + 1, (f"{' and '.join(dict.fromkeys(caches))} cache: ", "dim"), outcome)


def _reason(text: str) -> str:
    return (
        exception_text(text)
        .removeprefix("Dynamo decided to skip the frame while tracing: ")
        .partition(" Frame info:")[0]
    )


def _again(dump: "Dump", depth: int, recompile: Recompile, hinted: set[str]) -> Iterator[Block]:
    """Why the earlier compiles did not fit; a hint that was already printed is not repeated."""
    found = causes(dump, recompile)
    if not found:
        yield _line(depth, ("compiled again: ", "warn"), one_line("; ".join(recompile.failed_guards)))
    for cause in found:
        failed = cause.failed
        earlier = [one_line(compile_id) for compile_id in cause.compile_ids if compile_id]
        fits = (
            f"{', '.join(earlier)} {'does' if len(earlier) == 1 else 'do'} not fit: " if earlier else "compiled again: "
        )
        now = f"  now {one_line(failed.value)}" if failed.value and failed.value != failed.after else ""
        place = f"  {place_text(cause.where)}  {one_line(cause.where.code)}" if cause.where is not None else ""
        yield _line(depth, (fits, "warn"), _change(failed), now, (place, "dim"))
        if failed.hint and failed.hint not in hinted and not _CLOSED.match(failed.hint):
            hinted.add(failed.hint)
            yield _line(depth + 1, ("to do: ", "accent"), one_line(failed.hint))


def _change(failed: FailedGuard) -> str:
    """`n: 1 → 2`; torch's own words if the values are not known."""
    if not failed.what or not (failed.before or failed.after):
        fails = " does not hold" if is_condition(failed.condition) else ""
        return one_line(f"{failed.condition}{fails}" + (f": {failed.after}" if failed.after else ""))
    closed = _CLOSED.match(failed.hint)
    name = f"{failed.what}, which is {closed['name']}" if closed else failed.what
    return one_line(f"{name}: {failed.before or '?'} → {failed.after or '?'}")


def _break(depth: int, row: GraphBreak, before: str) -> Iterator[Block]:
    """A graph break; only a reference if it is that of an earlier compile."""
    code = code_text(row.where)
    same = f"  as in {one_line(before)}" if before else ""
    own, below = place_parts(row.where)
    yield _line(depth, ("graph break ", "bad"), own, (f"{below}  ", "dim"), (code, "dim"), same)
    if before:
        return
    yield _line(depth + 1, one_line(row.explanation or row.reason.rpartition("\n")[2]))
    chain = row.stack if row.where is None or row.where.caller is None else tuple(row.where.calls())[::-1]
    if len(chain) > 1:
        yield _line(depth + 1, ("reached by ", "dim"), " → ".join(line_text(where) for where in chain))
    for hint in row.hints:
        if hint != _NO_USE:
            yield _line(depth + 1, ("to do: ", "accent"), one_line(hint))


def _effects(depth: int, one: Compile, seen: _Seen) -> Iterator[Block]:
    """What is changed after the graph, and what holds of symbolic sizes."""
    same = tuple(msgspec.structs.replace(effect, graph="") for effect in one.effects)
    before = seen.effects.setdefault(same, one.compile_id)
    if same and before != one.compile_id:
        yield _line(depth, ("side effects after the graph, as in ", "dim"), one_line(before))
    for effect in one.effects if before == one.compile_id else ():
        named = one_line(plain_source(effect.source)) or f"an object of class {one_line(effect.type)}"
        places = "  ".join(f"{place_text(where)}  {code_text(where)}" for where in effect.lines)
        yield _line(depth, ("after the graph it changes ", "dim"), named, (f"  {places}" if places else "", "dim"))
    for shape in one.shapes:
        began = "holds only for " if shape.what == "guard" else "made a number: "
        sources = f"  {', '.join(map(one_line, shape.sources))}" if shape.sources else ""
        place = f"  {place_text(shape.where)}  {code_text(shape.where)}" if shape.where is not None else ""
        yield _line(depth, (began, "dim"), one_line(shape.expression), (f"{sources}{place}", "dim"))


TABLE: Final = DeclaredTable(
    dynamo,
    dynamo_rows,
    recorded_of_compiles(
        Frame, Skip, GuardedCalls, GraphBreak, Recompile, SideEffect, ShapeGuard, CacheLookup, KernelLookup
    ),
)
