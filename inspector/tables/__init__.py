"""Facts as tables for people (`TABLES`) and for programs (`ROWS`). Imports neither torch nor textual."""

import importlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from inspect_compile.tables.options import (
    AT,
    BY,
    COMPILE,
    CONFIGURATION,
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
    from rich.console import RenderableType

    from inspect_compile.dump import Dump


class Entry(NamedTuple):
    """One table or page: where its functions are, and what it takes beside the names."""

    where: str
    """`module:function`; imported when it is asked for."""
    options: tuple[Option, ...] = ()
    of_all_ranks: bool = False
    """It also tells of a run whose ranks compiled, and whose first process did not."""


TABLES: Final[dict[str, Entry]] = {
    "summary": Entry("inspect_compile.tables.summary:summary", of_all_ranks=True),
    "graphs": Entry("inspect_compile.tables.graphs:graphs"),
    "dynamo": Entry("inspect_compile.tables.dynamo:dynamo"),
    "guards": Entry("inspect_compile.tables.guards:guards"),
    "calls": Entry("inspect_compile.tables.calls:calls"),
    "passes": Entry("inspect_compile.tables.passes:passes"),
    "nodes": Entry("inspect_compile.tables.nodes:nodes"),
    "symbols": Entry("inspect_compile.tables.symbols:symbols"),
    "lowering": Entry("inspect_compile.tables.lowering:lowering"),
    "realize": Entry("inspect_compile.tables.realize:realize"),
    "schedule": Entry("inspect_compile.tables.schedule:schedule"),
    "fusion": Entry("inspect_compile.tables.fusion:fusion", (REASON, PAIRS_OF_LINE, ROUND)),
    "kernels": Entry("inspect_compile.tables.kernels:kernels"),
    "binaries": Entry("inspect_compile.tables.binaries:binaries"),
    "autotune": Entry("inspect_compile.tables.autotune:autotune"),
    "wrapper": Entry("inspect_compile.tables.wrapper:wrapper"),
    "flops": Entry("inspect_compile.tables.flops:flops", (BY,)),
    "traffic": Entry("inspect_compile.tables.traffic:traffic", (BY,)),
    "roofline": Entry("inspect_compile.tables.roofline:roofline_table", (TRACE,)),
    "memory": Entry("inspect_compile.tables.memory:memory", (AT,)),
    "time": Entry("inspect_compile.tables.time:time", (OUTPUT,)),
    "measured": Entry("inspect_compile.tables.measured:measured_table", (BY,)),
    "cudagraphs": Entry("inspect_compile.tables.cudagraphs:cudagraphs_table"),
    "remarks": Entry("inspect_compile.tables.remarks:remarks", of_all_ranks=True),
    "ranks": Entry("inspect_compile.tables.ranks:ranks", of_all_ranks=True),
    "replays": Entry("inspect_compile.tables.replays:replays"),
    "overhead": Entry("inspect_compile.tables.overhead:overhead", of_all_ranks=True),
}
"""A function takes what `table` takes behind the name, with its options as keywords, and gives a renderable."""

PAGES: Final[dict[str, Entry]] = {
    "node": Entry("inspect_compile.tables.node_page:node"),
    "kernel": Entry("inspect_compile.tables.kernel_page:kernel", (STAGE, STAGES_OF_LINE, CONFIGURATION, COMPILE)),
}
"""Pages of `show` about one named thing, without rows of their own: module with the functions `_page` and `_rows`."""


def table(
    name: str,
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    said: str = "",
    **options: Any,
) -> "RenderableType":
    """The table `name` of one graph, or of all graphs if `graph` is None.

    Only rows that concern all of `names`; of each graph at most `limit`. `said` is how the person named the dump, for
    the commands that the table tells; `options` are the table's own.
    """
    found: RenderableType = _load(TABLES[name].where)(dump, graph, names=names, limit=limit, said=said, **options)
    if not dump.run.omitted or name == "summary":
        return found
    from inspect_compile.tables.parts import omitted
    from inspect_compile.tables.sheet import Stack

    return Stack([found, Stack(omitted(dump), gap=False)])


def rows(name: str, dump: "Dump", graph: str | None = None, **options: Any) -> "Iterable[msgspec.Struct]":
    """The same for programs: the facts, or the rows of the analysis if the table is derived."""
    from inspect_compile.tables.row_sources import ROWS

    return ROWS[name](dump, graph, **options)


def page(name: str, dump: "Dump", graph: str | None, names: tuple[str, ...], said: str = "") -> "RenderableType":
    """Everything about the things with these names; `graph` and `said` as in `table`."""
    found: RenderableType = _load(f"{PAGES[name].where}_page")(dump, graph, names, said)
    return found


def page_rows(name: str, dump: "Dump", graph: str | None, names: tuple[str, ...]) -> "Iterable[msgspec.Struct]":
    """The same for programs."""
    found: Iterable[msgspec.Struct] = _load(f"{PAGES[name].where}_rows")(dump, graph, names)
    return found


def _load(where: str) -> Callable[..., Any]:
    module, _, name = where.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
