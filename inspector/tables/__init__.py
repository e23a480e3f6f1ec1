"""Facts as tables for people (`TABLES`) and for programs (`ROWS`). Imports neither torch nor textual.

May not know torch or textual.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from inspect_compile.tables.options import (
    AT,
    BY,
    COMPILE,
    CONFIGURATION,
    EARLIER,
    FOLDED,
    KINDS,
    OF,
    OUTPUT,
    PAIRS_OF_LINE,
    REASON,
    ROUND,
    STAGE,
    STAGES_OF_LINE,
    TRACE,
    Option,
)

if TYPE_CHECKING:
    import msgspec

    from inspect_compile.graph import Graphs
    from inspect_compile.tables.styled_text import Block


class Entry(NamedTuple):
    """One table or page: where its functions are, and what it takes beside the names."""

    where: str
    """`module:function`; imported when it is asked for."""
    options: tuple[Option, ...] = ()
    of_all_ranks: bool = False
    """It also tells of a run whose ranks compiled, and whose first process did not."""


TABLES: Final[dict[str, Entry]] = {
    "overview": Entry("inspect_compile.tables.overview.overview:overview", of_all_ranks=True),
    "summary": Entry("inspect_compile.tables.overview.summary:summary", of_all_ranks=True),
    "findings": Entry("inspect_compile.tables.overview.findings:findings", (KINDS,)),
    "graphs": Entry("inspect_compile.tables.overview.graphs:graphs"),
    "dynamo": Entry("inspect_compile.tables.frontend.dynamo:dynamo"),
    "guards": Entry("inspect_compile.tables.frontend.guards:guards"),
    "caches": Entry("inspect_compile.tables.caches.caches:caches", (EARLIER,)),
    "aot": Entry("inspect_compile.tables.frontend.aot:aot"),
    "artifacts": Entry("inspect_compile.tables.frontend.traced:artifacts"),
    "metrics": Entry("inspect_compile.tables.frontend.traced:metrics"),
    "settings": Entry("inspect_compile.tables.frontend.traced:settings"),
    "calls": Entry("inspect_compile.tables.frontend.calls:calls"),
    "passes": Entry("inspect_compile.tables.passes:passes"),
    "nodes": Entry("inspect_compile.tables.lowering.nodes:nodes"),
    "symbols": Entry("inspect_compile.tables.lowering.symbols:symbols"),
    "lowering": Entry("inspect_compile.tables.lowering.lowering:lowering"),
    "realize": Entry("inspect_compile.tables.lowering.realize:realize"),
    "schedule": Entry("inspect_compile.tables.schedule:schedule"),
    "fusion": Entry("inspect_compile.tables.fusion.fusion:fusion", (REASON, PAIRS_OF_LINE, ROUND)),
    "kernels": Entry("inspect_compile.tables.kernels.kernels:kernels"),
    "binaries": Entry("inspect_compile.tables.kernels.binaries:binaries"),
    "autotune": Entry("inspect_compile.tables.kernels.autotune:autotune"),
    "wrapper": Entry("inspect_compile.tables.wrapper:wrapper"),
    "flops": Entry("inspect_compile.tables.cost.flops:flops", (BY,)),
    "traffic": Entry("inspect_compile.tables.cost.traffic:traffic", (BY,)),
    "flame": Entry("inspect_compile.tables.cost.flame:flame_table", (OF, FOLDED)),
    "roofline": Entry("inspect_compile.tables.cost.roofline:roofline_table", (TRACE,)),
    "memory": Entry("inspect_compile.tables.memory.memory:memory", (AT,)),
    "time": Entry("inspect_compile.tables.frontend.time:time", (OUTPUT,)),
    "measured": Entry("inspect_compile.tables.runtime.measured:measured_table", (BY,)),
    "steps": Entry("inspect_compile.tables.runtime.steps:steps_table"),
    "numerics": Entry("inspect_compile.tables.numerics.numerics:numerics"),
    "nonfinite": Entry("inspect_compile.tables.numerics.nonfinite:nonfinite"),
    "cudagraphs": Entry("inspect_compile.tables.runtime.cudagraphs:cudagraphs_table"),
    "remarks": Entry("inspect_compile.tables.overview.remarks:remarks", of_all_ranks=True),
    "ranks": Entry("inspect_compile.tables.compare.ranks:ranks", of_all_ranks=True),
    "replays": Entry("inspect_compile.tables.compare.replays:replays"),
    "tried": Entry("inspect_compile.tables.compare.tried:tried"),
    "trials": Entry("inspect_compile.tables.compare.trials:trials"),
    "overhead": Entry("inspect_compile.tables.overview.overhead:overhead", of_all_ranks=True),
}
"""A function takes a `Request`, and its options as keywords, and returns a renderable."""

PAGES: Final[dict[str, Entry]] = {
    "node": Entry("inspect_compile.tables.overview.node_page:node"),
    "kernel": Entry(
        "inspect_compile.tables.kernels.kernel_page:kernel", (STAGE, STAGES_OF_LINE, CONFIGURATION, COMPILE)
    ),
}
"""Pages of `show` about one named thing, without rows of their own: module with the functions `_page` and `_rows`."""


def table(
    name: str,
    graphs: "Graphs",
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    **options: Any,
) -> "Block":
    """The table `name` of one graph, or of all graphs if `graph` is None.

    Only rows that concern all of `names`; of each graph at most `limit`. `dump_argument` is how the person named the
    dump, for the commands that the table names; `options` are the table's own.
    """
    from inspect_compile.tables.parts import Request, omitted
    from inspect_compile.tables.styled_text import Stack

    found: Block = loaded(TABLES[name].where)(Request(graphs, names, limit, dump_argument), **options)
    return (
        found
        if not graphs.dump.run.omitted or name in ("overview", "summary")
        else Stack([found, Stack(omitted(graphs.dump), gap=False)])
    )


def rows(name: str, graphs: "Graphs", names: tuple[str, ...] = (), **options: Any) -> "Iterable[msgspec.Struct]":
    """The same for programs: the records that the table shows, those that concern all of `names`."""
    from inspect_compile.tables.row_sources import ROWS

    every = ROWS[name](graphs, **options)
    if not names:
        return every
    from inspect_compile.analysis.lookup.attempts import concerning

    return filter(concerning(graphs, names), every)


def facts(name: str, graphs: "Graphs", **options: Any) -> "Iterable[msgspec.Struct]":
    """The facts that the rows of a table are made of; the rows themselves where they are facts, or of many kinds."""
    from inspect_compile.tables.row_sources import FACTS, ROWS

    return FACTS[name](graphs) if name in FACTS else ROWS[name](graphs, **options)


def page(name: str, graphs: "Graphs", names: tuple[str, ...], dump_argument: str = "") -> "Block":
    """Everything about the things with these names; `graph` and `dump_argument` as in `table`."""
    found: Block = loaded(f"{PAGES[name].where}_page")(graphs, names, dump_argument)
    return found


def page_rows(name: str, graphs: "Graphs", names: tuple[str, ...]) -> "Iterable[msgspec.Struct]":
    """The same for programs."""
    found: Iterable[msgspec.Struct] = loaded(f"{PAGES[name].where}_rows")(graphs, names)
    return found


def loaded(where: str) -> Callable[..., Any]:
    """What `module:name` means."""
    module, _, name = where.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
