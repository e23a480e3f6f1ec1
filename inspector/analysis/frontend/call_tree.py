"""Every compile below the lines of the program that led to it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from inspect_compile.analysis.caches.lookups import outcome_of
from inspect_compile.analysis.frontend.frames import Compile, FrameRun, frames
from inspect_compile.analysis.frontend.times import compile_seconds, parts
from inspect_compile.facts import Frame, Location
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.frontend.own_code import is_library


class CompileRow(msgspec.Struct, frozen=True, tag_field="fact", tag="compile_row"):
    """One compile of a frame: what became of it, and what led to it."""

    graph: str
    """The compile id; empty for what was compiled without a frame."""
    function: str
    file: str
    line: int
    module: str
    """As of a frame."""
    status: str
    """As of a frame; `no frame`, `not finished`."""
    reason: str
    """Why it was not compiled; empty if it was, or if torch does not say."""
    again: tuple[str, ...]
    """What of the earlier compiles did not hold; empty for a first compile."""
    restarts: tuple[str, ...]
    """Why Dynamo began it anew, each reason once."""
    graphs: int
    nodes: int
    breaks: int
    guards: int
    caches: tuple[str, ...]
    """What look-ups in torch's caches of graphs gave, each once: `hit`, `miss`, `bypass`, `forced miss`."""
    seconds: float | None
    """From its beginning to its end, with those of its backward; None where no timer ran."""
    calls: tuple[Location, ...]
    """The lines of the program on the way to it, outermost first; torch's own are left out."""


@dataclass(frozen=True)
class TreeLine:
    """A line of the tree: one of the program, or a compile below it."""

    depth: int
    where: tuple[Location, ...] = ()
    """Lines that call one another, outermost first; empty for a compile."""
    compile: CompileRow | None = None


@dataclass
class _Branch:
    """What a line of the program leads to."""

    below: dict[tuple[str, int], tuple[Location, "_Branch"]] = field(default_factory=dict)
    compiles: list[CompileRow] = field(default_factory=list)


def compile_rows(graphs: Graphs) -> Iterator[CompileRow]:
    """The compiles in the order in which their frames were met; with `graphs.name` those of its compile alone."""
    dump, wanted = graphs.dump, graphs.compiles
    seconds = compile_seconds(parts(dump))
    for run in frames(dump):
        for one in run.compiles:
            if wanted is None or one.compile_id in wanted:
                yield _row(run, one, seconds.get(one.compile_id))


def _row(run: FrameRun, one: Compile, seconds: float | None) -> CompileRow:
    frame = one.frame
    return CompileRow(
        graph=one.compile_id,
        function=run.function,
        file=run.file,
        line=run.line,
        module=frame.module if frame is not None else "",
        status=frame.status if frame is not None else "no frame" if run.is_outside else "not finished",
        reason=(frame.reason if frame is not None and frame.reason else "") or run.skip,
        again=one.recompile.failed_guards if one.recompile is not None else (),
        restarts=frame.restarts if frame is not None else (),
        graphs=frame.graphs if frame is not None else 0,
        nodes=frame.nodes if frame is not None else 0,
        breaks=len(one.breaks),
        guards=one.guards,
        caches=tuple(dict.fromkeys(map(outcome_of, one.lookups))),
        seconds=seconds,
        calls=_calls(run, frame),
    )


def _calls(run: FrameRun, frame: Frame | None) -> tuple[Location, ...]:
    """The lines that led to a frame, without those of libraries that stand between two of the program."""
    nearest = (frame.caller or frame.within) if frame is not None else run.caller
    chain = tuple(nearest.calls())[::-1] if nearest is not None else ()
    own = tuple(one for one in chain if not is_library(one.file))
    return own or chain


def call_tree(rows: list[CompileRow]) -> Iterator[TreeLine]:
    """The rows below the lines that led to them; lines of which each leads to the next alone stand together."""
    root = _Branch()
    for row in rows:
        branch = root
        for call in row.calls:
            _, branch = branch.below.setdefault((call.file, call.line), (call, _Branch()))
        branch.compiles.append(row)
    waiting: list[tuple[_Branch, tuple[Location, ...], int]] = [(root, (), 0)]
    while waiting:
        branch, where, depth = waiting.pop()
        while where and not branch.compiles and len(branch.below) == 1:
            ((line, branch),) = branch.below.values()
            where = (*where, line)
        if where:
            yield TreeLine(depth, where)
            depth += 1
        yield from (TreeLine(depth, compile=row) for row in branch.compiles)
        waiting += [(below, (line,), depth) for line, below in reversed(branch.below.values())]
