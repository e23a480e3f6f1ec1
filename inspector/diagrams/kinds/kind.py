"""What a kind of picture is, what can be chosen of it, and what comes of drawing it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from inspect_compile.diagrams.schedule.units import Phase
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph
    from inspect_compile.graph import CompiledGraph, Graphs

HEATS: Final = ("bytes", "flops", "time", "registers", "error")
STAGES: Final = ("dynamo", "joint", "aot", "post_grad")
"""Stages at which FX graphs are recorded, in the order in which torch makes them."""

NARROWING: Final = ("around", "path", "findings")
"""Options that choose a part of a schedule; only one can be given."""


@dataclass(frozen=True)
class Wanted:
    """What a person chose of a picture; the defaults are what is drawn if nobody chose."""

    name: str = ""
    """The kernel or node that it is of."""
    phases: "tuple[Phase, ...]" = ("pre_fusion", "post_fusion")
    around: str | None = None
    depth: int = 2
    """How many arrows away from `around`."""
    path: tuple[str, str] | None = None
    findings: bool = False
    refused: bool = False
    heat: str | None = None
    fold: bool | None = None
    """None: as the size suggests."""
    stage: str = "post_grad"
    everything: bool = False
    """Constants, parameters and views, too."""


class Drawn(NamedTuple):
    """A picture."""

    graph: "Graph | None"
    """None: it is of the whole run."""
    name: str
    """What its file is called, without extension."""
    title: str
    text: str
    form: Literal["dot", "svg"] = "dot"
    """Whether `text` is for Graphviz, or a chart that is drawn already."""


class Missing(NamedTuple):
    """Why there is no picture of a graph."""

    graph: "Graph | None"
    why: str


Pictures: TypeAlias = Iterator[Drawn | Missing]


class Kind(NamedTuple):
    """One kind of picture."""

    name: str
    what: str
    """What it shows, in a few words."""
    draw: "Callable[[Dump, Sequence[CompiledGraph], Wanted], Pictures]"
    """Raises CommandError for a name that means nothing, and where two options contradict each other."""
    listed: "Callable[[Graphs], Iterator[tuple[str, str]]]"
    """What can be drawn of a graph, and its size or why there is nothing; of the run for a kind that is of the run."""
    options: frozenset[str] = frozenset()
    """Fields of `Wanted` that it takes."""
    named: str = ""
    """What it needs a name of, KERNEL or NODE."""
    is_of_run: bool = False
    """One picture of all that was compiled, and not one of each graph."""
    is_of_ranks: bool = False
    """Of a run with all of its ranks; the others are of one rank."""
    on_page: Wanted | None = None
    """What of it stands in the HTML page as well; the schedule and the timeline have places of their own there."""
