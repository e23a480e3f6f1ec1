"""The rows of the table of frames: what Dynamo recorded, with what the table says beside it."""

from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.caches.lookups import Lookups
from inspect_compile.analysis.frontend.frames import Cause, Compile, FrameRun, causes, frames
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Recompile, Skip
from inspect_compile.graph import Graphs, shared_fields


class FrameRow(Frame, frozen=True, kw_only=True, tag="frame_row"):
    """The last attempt of one compile of a frame, and its place in the tree of frames."""

    depth: int
    """Number of the frames that triggered it."""
    guards: int
    """Number of its guards."""
    skip: str
    """What torch says of the same function where it gave it up; empty if it says nothing."""


class SkipRow(Skip, frozen=True, kw_only=True, tag="skip_row"):
    """A frame that was not compiled, and its place in the tree of frames."""

    depth: int
    """Number of the frames that triggered it."""


class RecompileRow(Recompile, frozen=True, kw_only=True, tag="recompile_row"):
    """Why a frame was compiled again."""

    causes: tuple[Cause, ...]
    """What kept the earlier compiles from being used, each once, newest compile first."""


def dynamo_rows(graphs: Graphs) -> Iterator[msgspec.Struct]:
    """Each frame with its compiles: the compile, why it was needed, its graph breaks and lookups in caches.

    Frames that triggered others stand before them. With `graph` only the compile that made it.
    """
    wanted = graphs.compiles
    lookups = Lookups(graphs.dump)
    for run in frames(graphs.dump):
        for one in run.compiles:
            if wanted is None or one.compile_id in wanted:
                yield from _compile(graphs.dump, run, one, lookups)
        if not run.compiles and wanted is None:
            yield SkipRow(reason=run.skip, **shared_fields(run, SkipRow))


def _compile(dump: Dump, run: FrameRun, one: Compile, lookups: Lookups) -> Iterator[msgspec.Struct]:
    if one.frame is not None:
        yield FrameRow(depth=run.depth, guards=one.guards, skip=run.skip, **msgspec.structs.asdict(one.frame))
    if one.recompile is not None:
        found = tuple(causes(dump, one.recompile))
        yield RecompileRow(causes=found, **msgspec.structs.asdict(one.recompile))
    yield from one.breaks
    yield from one.effects
    yield from one.shapes
    for lookup in one.lookups:
        yield lookups.row(lookup)
