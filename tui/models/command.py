"""The shell command that shows what the screen shows."""

import shlex
from typing import Final

from inspect_compile.graph.provenance.chain import Level
from inspect_compile.knowledge.cost.units import OF
from inspect_compile.tables import PAGES
from inspect_compile.tables.text import unbroken
from inspect_compile.tui.models.chain import Choice
from inspect_compile.tui.models.outline import Place

WHY: Final = "why"
"""Not a table: the command about one or two named scheduler nodes."""
_MOST_NAMED: Final = 2
KERNEL: Final = "kernel"
"""The page of a named kernel, or of the stage that is shown."""

TABLES: Final[dict[str, tuple[str, frozenset[Level]]]] = {
    "source": ("kernels", frozenset({"line", "node", "operation", "kernel"})),
    "fx": ("nodes", frozenset({"line", "node"})),
    "passes": ("passes", frozenset({"node"})),
    "ir": ("lowering", frozenset({"node", "operation"})),
    "ir everything": ("node", frozenset({"node"})),
    "fusion": ("fusion", frozenset({"operation"})),
    "fusion groups": (WHY, frozenset({"operation"})),
    "fusion findings": ("findings", frozenset()),
    "fusion missed": (WHY, frozenset({"operation"})),
    "fusion rounds": (WHY, frozenset({"operation"})),
    "fusion partners": (WHY, frozenset({"operation"})),
    "kernels": ("kernels", frozenset({"line", "node", "operation", "kernel"})),
    "kernels source": ("kernels", frozenset({"line", "node", "operation", "kernel"})),
    "kernels autotune": ("autotune", frozenset({"node", "operation", "kernel"})),
    "kernels stage": (KERNEL, frozenset({"kernel"})),
    "cost": ("flops", frozenset()),
    "cost bytes": ("traffic", frozenset()),
    "cost roofline": ("roofline", frozenset()),
    "cost measured": ("measured", frozenset()),
    **{f"cost flame {of}": ("flame", frozenset()) for of in OF},
    "memory": ("memory", frozenset({"buffer", "node"})),
    "numerics": ("numerics", frozenset({"node", "kernel"})),
    "output": ("wrapper", frozenset({"kernel"})),
}
"""View, or view and mode → the table of `show` with the same facts, and the levels whose names its rows contain."""

OPTIONS: Final = {
    "cost operators": ("--by", "op"),
    "cost kernels": ("--by", "kernel"),
    "cost lines": ("--by", "line"),
    **{f"cost flame {of}": ("--of", of) for of in OF},
}
"""View and mode → options that select the same rows of the table."""


def command(dump: str, place: Place, view: str, mode: str, choice: Choice | None) -> str:
    """A command line; `dump` is its path as the user would type it."""
    words = ["inspect-compile", "show", dump]
    if place.kind == "part":
        return shlex.join(["inspect-compile", "show", place.name])
    if place.kind == "run":
        return _line(words)
    if place.kind == "frame":
        return _line([*words, "dynamo", *([place.name] if place.name else [])])
    is_stage = view == "kernels" and mode and f"kernels {mode}" not in TABLES
    known = TABLES.get("kernels stage" if is_stage else f"{view} {mode}")
    table, levels = known or TABLES.get(view, ("summary", frozenset()))
    named = choice.subject.words if choice is not None and choice.subject.level in levels else ()
    if table == WHY and 0 < len(named) <= _MOST_NAMED:
        return _line(["inspect-compile", WHY, dump, *named, *place.options])
    if table == WHY:
        table, named = TABLES[view][0], ()
    if table == KERNEL and named:
        return _line([*words, KERNEL, *named, "--stage", mode, *place.options])
    words += [table if table not in PAGES or named else TABLES[view][0], *named, *OPTIONS.get(f"{view} {mode}", ())]
    return _line([*words, *place.options])


def _line(words: list[str]) -> str:
    return shlex.join(map(unbroken, words))
