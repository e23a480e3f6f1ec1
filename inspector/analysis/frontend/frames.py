"""The program's frames as Dynamo saw them: what triggered each, what came of it, why it was compiled again."""

import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import (
    CacheLookup,
    Fact,
    FailedGuard,
    Frame,
    GraphBreak,
    Guard,
    Location,
    Recompile,
    ShapeGuard,
    SideEffect,
    Skip,
)
from inspect_compile.facts.compile_id import compile_order, frame_id
from inspect_compile.graph import any_number, grouped
from inspect_compile.knowledge.frontend.own_code import own_line

_RESUMED = re.compile(r"(?:^|.*\.)torch_dynamo_resume_in_(?P<function>\w+)_at_(?P<line>\d{1,9})$")
_AGAIN = re.compile(r"_\d+$")
F = TypeVar("F", bound=Fact)


class Compile(msgspec.Struct, frozen=True):
    """One compile of a frame."""

    compile_id: str
    frame: Frame | None
    """None while it is running, and if the process was killed."""
    recompile: Recompile | None
    """Why the earlier compiles could not be used."""
    breaks: tuple[GraphBreak, ...] = ()
    lookups: tuple[CacheLookup, ...] = ()
    guards: int = 0
    effects: tuple[SideEffect, ...] = ()
    shapes: tuple[ShapeGuard, ...] = ()


class FrameRun(msgspec.Struct, frozen=True):
    """A Python function as Dynamo saw it, with all of its compiles."""

    function: str
    file: str
    line: int
    depth: int
    """Nesting depth among the frames that triggered it."""
    modules: tuple[str, ...]
    """The modules of its compiles, as of a frame, each once; of those in several layers `layers.*.mlp`."""
    caller: Location | None
    """The line of the first call; for the rest of a function after a graph break, the line of the break."""
    compiles: tuple[Compile, ...] = ()
    skip: str = ""
    """Why Dynamo did not compile it; empty if it did, or torch does not say."""
    is_outside: bool = False
    """No frame of Dynamo's: torch.export, AOTInductor or standalone_compile looked into a cache."""


class Cause(msgspec.Struct, frozen=True):
    """One value that an earlier compile had relied on."""

    failed: FailedGuard
    compile_ids: tuple[str, ...]
    """The earlier compiles that it prevented from being used."""
    where: Location | None
    """The source line that made the guard."""


def resumed(function: str) -> tuple[str, int] | None:
    """Function and line of the graph break, from the name that Dynamo gives to the rest of a function."""
    match = _RESUMED.match(function)
    return None if match is None else (match["function"], int(match["line"]))


def frames(dump: Dump) -> list[FrameRun]:
    """All frames, each followed by those that it triggered."""
    skips = dump.rows(Skip)
    compiles = _compiles(dump)
    reasons = {(skip.function, skip.file, skip.line): skip.reason for skip in skips}
    runs: list[FrameRun] = []
    for made in compiles.values():
        code = next((one.frame or one.recompile for one in made if one.frame or one.recompile), None)
        function, file, line = (code.function, code.file, code.line) if code is not None else ("", "", 0)
        caller = next((one.frame.caller for one in made if one.frame is not None), None)
        skip = reasons.pop((function, file, line), "")
        is_outside = code is None and not any(one.breaks for one in made) and dump.run.status == "finished"
        runs.append(FrameRun(function, file, line, 0, _modules(made), caller, tuple(made), skip, is_outside))
    runs += [
        FrameRun(skip.function, skip.file, skip.line, 0, (), skip.caller, (), skip.reason)
        for skip in skips
        if (skip.function, skip.file, skip.line) in reasons
    ]
    return _nested(runs)


def _modules(made: Iterable[Compile]) -> tuple[str, ...]:
    found = dict.fromkeys(one.frame.module for one in made if one.frame is not None and one.frame.module)
    return tuple(found) if len(found) < 2 else tuple(dict.fromkeys(map(any_number, found)))


def _compiles(dump: Dump) -> dict[str, list[Compile]]:
    """Frame id → its compiles, in order."""
    breaks, lookups = _by_compile(dump.rows(GraphBreak)), _by_compile(dump.rows(CacheLookup))
    frames_of, recompiles = _by_compile(dump.rows(Frame)), _by_compile(dump.rows(Recompile))
    guards = _by_compile(dump.rows(Guard))
    effects, shapes = _by_compile(dump.rows(SideEffect)), _by_compile(dump.rows(ShapeGuard))
    found: dict[str, list[Compile]] = {}
    for compile_id in sorted({*frames_of, *recompiles, *breaks, *lookups}, key=compile_order):
        ended, again = frames_of.get(compile_id), recompiles.get(compile_id)
        one = Compile(
            compile_id,
            ended[-1] if ended else None,
            again[-1] if again else None,
            tuple(breaks.get(compile_id, ())),
            tuple(lookups.get(compile_id, ())),
            len(guards.get(compile_id, ())),
            tuple(effects.get(compile_id, ())),
            tuple(shapes.get(compile_id, ())),
        )
        found.setdefault(frame_id(compile_id), []).append(one)
    return found


def _by_compile(rows: Iterable[F]) -> dict[str, list[F]]:
    """Rows by compile id."""
    return grouped(rows, lambda row: _AGAIN.sub("", row.graph))


def _nested(runs: list[FrameRun]) -> list[FrameRun]:
    """Each frame after the one that first called it."""
    met: dict[tuple[str, str], int] = {}
    children: dict[int | None, list[int]] = {}
    for index, run in enumerate(runs):
        caller = run.caller
        parent = None if caller is None else met.get((caller.file, caller.function))
        children.setdefault(parent, []).append(index)
        met[run.file, run.function.rpartition(".")[2]] = index
    found: list[FrameRun] = []
    waiting = [(index, 0) for index in reversed(children.get(None, []))]
    while waiting:
        index, depth = waiting.pop()
        found.append(msgspec.structs.replace(runs[index], depth=depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(index, []))]
    return found


def causes(dump: Dump, recompile: Recompile) -> list[Cause]:
    """What prevented the earlier compiles from being used, each once, newest compile first. A line of a library is led
    to by the call that made this compile.
    """
    called = next((one.caller for one in dump.rows_of_compile(Frame, recompile.graph)), None)
    found = grouped(recompile.failed, lambda failed: (failed.condition, failed.before, failed.after))
    return [
        Cause(
            same[0],
            tuple(one.compile_id for one in same),
            _led_to(same[0].where or _made(dump, same[0].compile_id, same[0].source), called),
        )
        for same in found.values()
    ]


def _led_to(where: Location | None, called: Location | None) -> Location | None:
    """`where` with `called` as what led to it, if none of the user's own lines is known to."""
    if where is None or called is None or own_line(where) is not None:
        return where
    led = called
    for one in reversed(tuple(where.calls())):
        led = msgspec.structs.replace(one, caller=led)
    return led


def _made(dump: Dump, compile_id: str, source: str) -> Location | None:
    """The line that made the guard on `source`, which torch names without `L['…']` around it."""
    if not source:
        return None
    rows, source = dump.rows_of_compile(Guard, compile_id), plain_source(source)
    return next((row.where for row in rows if row.where is not None and plain_source(row.source) == source), None)


def plain_source(source: str) -> str:
    """`source` as the program would write it: `x.shape` for `L['x'].shape`, `n` for `G['n']`, `torch.nn`."""
    found = re.sub(r"\b[LG]\['(\w+)'\]", r"\1", source)
    found = re.sub(r"\b__import_(\w+)", lambda match: match[1].replace("_dot_", "."), found)
    found = re.sub(r"\._(?:modules|parameters|buffers)\['(\w+)'\]", r".\1", found)
    return re.sub(r"\b__builtins_dict__\w*\['(\w+)'\]", r"\1", found)
