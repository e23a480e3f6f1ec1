"""Facts as tables for people (`TABLES`) and for programs (`ROWS`). Imports neither torch nor textual."""

import importlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import msgspec
    from rich.console import RenderableType

    from inspect_compile.dump import Dump

TABLES: Final[dict[str, str]] = {
    "summary": "inspect_compile.tables.summary:summary",
    "graphs": "inspect_compile.tables.graphs:graphs",
    "dynamo": "inspect_compile.tables.dynamo:dynamo",
    "guards": "inspect_compile.tables.guards:guards",
    "calls": "inspect_compile.tables.calls:calls",
    "passes": "inspect_compile.tables.passes:passes",
    "nodes": "inspect_compile.tables.nodes:nodes",
    "symbols": "inspect_compile.tables.symbols:symbols",
    "lowering": "inspect_compile.tables.lowering:lowering",
    "realize": "inspect_compile.tables.realize:realize",
    "schedule": "inspect_compile.tables.schedule:schedule",
    "fusion": "inspect_compile.tables.fusion:fusion",
    "kernels": "inspect_compile.tables.kernels:kernels",
    "binaries": "inspect_compile.tables.binaries:binaries",
    "autotune": "inspect_compile.tables.autotune:autotune",
    "wrapper": "inspect_compile.tables.wrapper:wrapper",
    "flops": "inspect_compile.tables.flops:flops",
    "traffic": "inspect_compile.tables.traffic:traffic",
    "roofline": "inspect_compile.tables.roofline:roofline_table",
    "memory": "inspect_compile.tables.memory:memory",
    "time": "inspect_compile.tables.time:time",
    "measured": "inspect_compile.tables.measured:measured_table",
    "cudagraphs": "inspect_compile.tables.cudagraphs:cudagraphs_table",
    "remarks": "inspect_compile.tables.remarks:remarks",
    "ranks": "inspect_compile.tables.ranks:ranks",
    "replays": "inspect_compile.tables.replays:replays",
    "overhead": "inspect_compile.tables.overhead:overhead",
}
"""Name → `module:function`; the function takes the arguments of `table` after the name, and returns a renderable."""

BY: Final[dict[str, str]] = {
    "flops": "inspect_compile.tables.costs:cost_rows",
    "traffic": "inspect_compile.tables.traffic:traffic_rows",
    "measured": "inspect_compile.analysis.measured:measured_rows",
}
"""Tables with `--by`: a function of dump, graph and `by` that returns the rows for programs."""

PAGES: Final[dict[str, str]] = {
    "node": "inspect_compile.tables.node_page:node",
    "kernel": "inspect_compile.tables.kernel_page:kernel",
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
    **more: Any,
) -> "RenderableType":
    """The table `name` of one graph, or of all graphs if `graph` is None.

    Shows only rows that involve all of `names`, at most `limit` per graph. `said` is the dump as the user typed it, for
    commands in the table; `more` are options of that table.
    """
    found: RenderableType = _load(TABLES[name])(dump, graph, names=names, limit=limit, said=said, **more)
    if not dump.run.omitted or name == "summary":
        return found
    from inspect_compile.tables.parts import omitted
    from inspect_compile.tables.sheet import Stack

    return Stack([found, Stack(omitted(dump), gap=False)])


def rows(
    name: str, dump: "Dump", graph: str | None = None, by: str | None = None, **more: Any
) -> "Iterable[msgspec.Struct]":
    """The same for programs: the facts, or the rows of the analysis if the table is derived."""
    if by is not None:
        found: Iterable[msgspec.Struct] = _load(BY[name])(dump, graph, by)
        return found
    from inspect_compile.tables.row_sources import ROWS

    return ROWS[name](dump, graph, **more)


def page(name: str, dump: "Dump", graph: str | None, names: tuple[str, ...], said: str = "") -> "RenderableType":
    """Everything about the things with these names; `graph` and `said` as in `table`."""
    found: RenderableType = _load(f"{PAGES[name]}_page")(dump, graph, names, said)
    return found


def page_rows(name: str, dump: "Dump", graph: str | None, names: tuple[str, ...]) -> "Iterable[msgspec.Struct]":
    """The same for programs."""
    found: Iterable[msgspec.Struct] = _load(f"{PAGES[name]}_rows")(dump, graph, names)
    return found


def _load(where: str) -> Callable[..., Any]:
    module, _, name = where.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
