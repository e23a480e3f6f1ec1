"""Why a dump has no graph."""

from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import CacheLookup, Frame, Remark, Timed
from inspect_compile.graph import short
from inspect_compile.knowledge.frontend.compile_stages import LOADS
from inspect_compile.knowledge.overview.nothing import (
    COMPILED_NOTHING,
    NOT_COMPILED,
    Seen,
    Why,
    in_one_line,
    why_nothing,
)


def nothing(dump: Dump) -> Why | None:
    """The reason; None where there is a graph, in a part for a target, too."""
    of_targets = [Dump(path) for path in dump.other_processes if path.name.startswith(paths.TARGET)]
    everywhere = (dump, *of_targets)
    if any(where.graphs() for where in everywhere):
        return None
    if dump.run.origin and not dump.other_processes and not dump.rows(Frame):
        return Why(f"the {dump.run.origin} holds none that Inductor compiled", table="origin", head="no graph")
    frames, remarks = dump.rows(Frame), [row for where in everywhere for row in where.rows(Remark)]
    failed = [row for row in frames if row.status == "failed"]
    return why_nothing(
        Seen(
            failure=(failed[-1].reason or "") if failed else None,
            refused=tuple(row.message for row in remarks if row.code in NOT_COMPILED),
            is_cached=any(row.outcome == "hit" for row in dump.rows(CacheLookup)),
            is_elsewhere=bool(dump.other_processes) and not of_targets,
            keeps_caches=dump.run.cache == "keep",
            frames=len({row.graph for row in frames}),
            compiled=len({row.graph for row in frames if row.status == "compiled"}),
            loaded=tuple(
                (row.name, "" if row.where is None else short(row.where))
                for row in dump.rows(Timed)
                if row.name in LOADS
            ),
            skipped=_skipped(frames),
            is_recorded=dump.run.tables is not None,
            is_growing=run_state(dump).is_growing,
            lacking=dump.lacking,
        )
    )


def _skipped(frames: list[Frame]) -> tuple[tuple[str, str], ...]:
    if any(row.status == "compiled" for row in frames):
        return ()
    return tuple((row.function, row.reason) for row in frames if row.status == "skipped" and row.reason)


def text_or_nothing(dump: Dump, text: str) -> str:
    """`text`, which says what of a compile is not there; where there is no graph at all, why."""
    return text if nothing(dump) is None else nothing_text(dump)


def nothing_text(dump: Dump) -> str:
    """The same in one line, with what to do."""
    why = nothing(dump)
    return COMPILED_NOTHING if why is None else f"{why.head}: {in_one_line(why)}"


def incomplete_text(dump: Dump) -> str:
    """The same of a dump that lacks tables which its run left, with their names."""
    why = why_nothing(Seen(lacking=dump.lacking))
    return f"{why.head}: {in_one_line(why)}"
