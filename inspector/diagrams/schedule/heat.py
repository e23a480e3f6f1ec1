"""Colours of a schedule by what was measured of it: what each kind of heat says of operations and launches."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.analysis.kernels.launches import Launch
from inspect_compile.analysis.numerics.verdicts import Judged
from inspect_compile.analysis.numerics.worst import worst, worst_of
from inspect_compile.diagrams.look import SHADES
from inspect_compile.diagrams.picture import Shade
from inspect_compile.facts import Operation
from inspect_compile.knowledge.numerics.verdicts import VERDICTS, WORSE, WRONG
from inspect_compile.tables.text import number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


class Heated(NamedTuple):
    """The colour of one thing, and the same in words."""

    shade: Shade
    words: str


class Heat(NamedTuple):
    """One kind of heat of one graph. Both functions return None for what was not measured."""

    operation: Callable[[Operation], Heated | None]
    launch: Callable[[Launch], Heated | None]
    unknown: Shade
    """The colour of what was not measured."""
    subtitles: tuple[str, ...]


def error(dump: "Dump", graph: str) -> Heat | None:
    """The worst verdict of a check of numerics; None if no launch of the graph was checked."""
    found = worst(dump, graph)
    if not found.of_launch:
        return None

    def operation(row: Operation) -> Heated | None:
        rows = [found.of_buffer.get((row.graph, name)) for name in row.buffers]
        changed = [(access.into, node) for access in row.writes if access.into for node in row.nodes]
        rows += [found.of_value.get((row.graph, name, node)) for name, node in changed]
        known = [one for one in rows if one is not None]
        return _heated(worst_of(known)) if known else None

    def launch(row: Launch) -> Heated | None:
        judged = found.of_launch.get((row.graph, row.kernel.name, row.line))
        return None if judged is None else _heated(judged)

    passes = dict.fromkeys(row.level for row in found.of_pass if row.verdict == WRONG)
    return Heat(
        operation,
        launch,
        Shade("not checked", *SHADES["unknown"], "no value of it was compared"),
        (
            f"colour: the worst verdict of `inspect-compile numerics`, in {number_of(found.calls, 'checked call')}",
            *(f"pass {name} makes a result of the graph wrong" for name in passes),
        ),
    )


def _heated(row: Judged) -> Heated:
    shade = Shade(row.verdict, *SHADES[_SHADE_OF.get(row.verdict, "unknown")], VERDICTS[row.verdict])
    is_far = row.verdict in (WRONG, WORSE) and row.times_rounding
    return Heated(shade, f"{row.verdict}, {row.times_rounding:.2g} × rounding" if is_far else row.verdict)


_SHADE_OF: Final = {
    "wrong": "hottest",
    "worse than eager": "hot",
    "rounding": "mild",
    "nearer than eager": "cool",
    "exact": "coldest",
}

HEATS: Final[dict[str, Callable[["Dump", str], Heat | None]]] = {"error": error}
"""Name in the command → heat of a graph, None if nothing was measured of it."""
