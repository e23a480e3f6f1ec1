"""What a person named, as what the views select."""

from typing import Final

from inspect_compile.analysis.lookup.anything import Kind, Thing
from inspect_compile.graph import Id, outermost
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.fx import STAGES
from inspect_compile.tui.models.sheet import Jump, Subject

_VIEWS: Final[dict[Kind, str]] = {
    "graph": "",
    "line": "source",
    "kernel": "kernels",
    "node": "fx",
    "operation": "fusion",
    "buffer": "memory",
}


def view_of(thing: Thing) -> str:
    """The view that shows it; empty for a graph, which all views show."""
    return _VIEWS[thing.kind]


def jump_to(thing: Thing) -> Jump | None:
    """The row of a node of an earlier stage; None for everything that is selected instead."""
    if thing.kind != "node" or thing.stage == "post_grad":
        return None
    mode = next(mode for mode, stage in STAGES.items() if stage == thing.stage)
    is_of_compile = thing.stage in ("dynamo", "joint")
    return Jump("" if is_of_compile else outermost(thing.graph), mode, thing.name)


def subject_of(thing: Thing, chain: Chain) -> Subject | None:
    """What it stands for in its graph; None for a graph, and for what the graph does not have."""
    key = chain.key(thing.graph, thing.name)
    match thing.kind:
        case "graph":
            return None
        case "line":
            return chain.of_line(Line(thing.file, int(thing.name.rpartition(":")[2])))
        case "kernel":
            places = [place for place, one in enumerate(chain.kernels) if Id.of(one) == Id.of(thing)]
            return Subject("kernel", tuple(places), thing.name, (thing.name,)) if places else None
        case "node":
            return Subject("node", (key,), thing.name, (thing.name,))
        case "operation":
            names = tuple(chain.key(thing.graph, name) for name in thing.operations)
            return Subject("operation", names, thing.name, (thing.name,))
        case "buffer":
            return Subject("buffer", (key,), thing.name, (thing.name,))
