"""Colours of a schedule by what was measured of it: what each kind of heat says of operations and launches."""

from collections.abc import Callable
from typing import Final, NamedTuple

from inspect_compile.analysis.cost import launch_figures
from inspect_compile.analysis.numerics.verdicts import Judged
from inspect_compile.analysis.numerics.worst import worst, worst_of
from inspect_compile.diagrams.look import SHADES
from inspect_compile.diagrams.picture import Shade
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.numerics.verdicts import VERDICTS, WORSE, WRONG
from inspect_compile.tables.text import byte_text, multiple_text, number_of, time_text


class Heated(NamedTuple):
    """The colour of one thing, and the same in words."""

    shade: Shade
    words: str
    degree: float = 0.0
    """Of several things in one box the one with the highest degree colours it."""


class Heat(NamedTuple):
    """One kind of heat of one graph. Both functions return None for what was not measured."""

    operation: Callable[[Operation], Heated | None]
    launch: Callable[[Launch], Heated | None]
    unknown: Shade
    """The colour of what was not measured."""
    subtitles: tuple[str, ...]
    is_of_launches: bool = False
    """An operation has the colour of the launch that runs it."""


def error(graph: "CompiledGraph") -> Heat | None:
    """The worst verdict of a check of numerics; None if no launch of the graph was checked."""
    found = worst(graph)
    if not found.of_launch:
        return None

    def operation(row: Operation) -> Heated | None:
        rows = [found.of_buffer.get(Id(row.graph, name)) for name in row.buffers]
        changed = [(access.into, node) for access in row.writes if access.into for node in row.nodes]
        rows += [found.of_value.get((row.graph, name, node)) for name, node in changed]
        known = [one for one in rows if one is not None]
        return _heated(worst_of(known)) if known else None

    def launch(row: Launch) -> Heated | None:
        judged = found.of_launch.get(row.key)
        return None if judged is None else _heated(judged)

    passes = dict.fromkeys(row.level for row in found.of_pass if row.verdict == WRONG)
    return Heat(
        operation,
        launch,
        Shade("not checked", *SHADES["unknown"], "none of its values were compared"),
        (
            f"colour: the worst verdict of `inspect-compile numerics`, in {number_of(found.calls, 'checked call')}",
            *(f"pass {name} makes a result of the graph wrong" for name in passes),
        ),
    )


def moved(graph: "CompiledGraph") -> Heat | None:
    """Bytes that each launch reads and writes, each element once."""
    return _scale(launch_figures.moved(graph), lambda value: byte_text(round(value)))


def computed(graph: "CompiledGraph") -> Heat | None:
    """FLOPs of each launch: of matmuls, convolutions and attention, and other scalar operations."""
    return _scale(launch_figures.computed(graph), lambda value: multiple_text(value, "FLOP"))


def took(graph: "CompiledGraph") -> Heat | None:
    """The measured time of each launch; without any, what the roofline says that it takes at least."""
    return _scale(launch_figures.took(graph), time_text)


def registers(graph: "CompiledGraph") -> Heat | None:
    """Registers of the configuration of each Triton kernel that runs."""
    return _scale(launch_figures.registers(graph), lambda value: f"{value:.0f}")


def _scale(figures: launch_figures.Figures, text_of: Callable[[float], str]) -> Heat | None:
    """Five colours by the share of the largest value; each says which values it stands for."""
    top = max(figures.of.values(), default=0.0)
    if not top:
        return None
    steps = []
    upper = top
    for number, (name, least) in enumerate(_STEPS):
        words = (
            f"{text_of(least * top)} to {text_of(upper)}" if number < len(_STEPS) - 1 else f"less than {text_of(upper)}"
        )
        steps.append((least * top, Shade(words, *SHADES[name], "the most" if not number else "")))
        upper = least * top

    def launch(row: Launch) -> Heated | None:
        value = figures.of.get(row.key)
        if value is None:
            return None
        shade = next(shade for least, shade in steps if value >= least)
        return Heated(shade, text_of(value), value)

    unknown = Shade("not known", *SHADES["unknown"], "not known, or not a launch")
    return Heat(lambda row: None, launch, unknown, (f"colour: {figures.what}, of each launch",), is_of_launches=True)


def _heated(row: Judged) -> Heated:
    shade = Shade(row.verdict, *SHADES[_SHADE_OF.get(row.verdict, "unknown")], VERDICTS[row.verdict])
    is_far = row.verdict in (WRONG, WORSE) and row.times_rounding
    label = f"{row.verdict}, {row.times_rounding:.2g} × rounding" if is_far else row.verdict
    return Heated(shade, label, -list(SHADES.values()).index((shade.fill, shade.line)))


_STEPS: Final = (("hottest", 0.5), ("hot", 0.2), ("mild", 0.05), ("cool", 0.01), ("coldest", 0.0))
"""Colour → the least share of the largest value that it stands for."""

_SHADE_OF: Final = {
    "wrong": "hottest",
    "worse than eager": "hot",
    "rounding": "mild",
    "nearer than eager": "cool",
    "exact": "coldest",
}

HEATS: "Final[dict[str, Callable[[CompiledGraph], Heat | None]]]" = {
    "bytes": moved,
    "flops": computed,
    "time": took,
    "registers": registers,
    "error": error,
}
"""Name in the command → heat of a graph, None if nothing was measured of it."""
