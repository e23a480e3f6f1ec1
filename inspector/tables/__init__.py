"""Facts as tables for people and for programs: which there are, and where each is declared.

A table is declared once, as `TABLE` in the module of its columns: what people see, its rows for `--json`, and the facts
these are made of. Here stands what must be known before: its name and section, and where it is. `load` imports one
table alone, by a line for each, which an editor and mypy follow. May not know torch or textual.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    import msgspec

    from inspect_compile.graph import Graphs
from inspect_compile.tables.parts import DeclaredTable
from inspect_compile.tables.styled_text import Block

SECTIONS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("overview", "Overview", ("overview", "findings", "remarks", "summary", "origin")),
    (
        "frontend",
        "Program",
        ("compiles", "dynamo", "caches", "guards", "aot", "calls", "graphs", "symbols", "artifacts", "settings"),
    ),
    ("graph", "Graph", ("passes", "nodes", "lowering", "realize")),
    ("fusion", "Fusion", ("schedule", "fusion")),
    ("kernels", "Kernels", ("kernels", "binaries", "autotune", "wrapper")),
    ("cost", "Cost", ("flops", "traffic", "flame", "roofline", "memory", "measured", "steps")),
    ("checks", "Checks", ("numerics", "nonfinite", "cudagraphs", "ranks", "replays", "tried", "trials")),
    ("time", "Time", ("time", "metrics", "overhead")),
)
"""The sections of the report: name, title, and the tables in it."""

TABLES: Final = tuple(name for _, _, names in SECTIONS for name in names)
PAGES: Final = ("node", "kernel")
"""Pages of `show` about one named thing, without rows of their own."""

OF_ALL_RANKS: Final = frozenset({"overview", "summary", "remarks", "ranks", "overhead"})
"""Those that also tell of a run whose ranks compiled, and whose first process did not."""

OF_ALL_PROCESSES: Final = OF_ALL_RANKS | {"time"}
"""Those that tell something of such a run where no graph is named."""


def load(name: str) -> "DeclaredTable":
    """What the table or page `name` is made of."""
    match name:
        case "overview":
            from inspect_compile.tables.overview.overview import TABLE
        case "findings":
            from inspect_compile.tables.overview.findings import TABLE
        case "remarks":
            from inspect_compile.tables.overview.remarks import TABLE
        case "summary":
            from inspect_compile.tables.overview.summary import TABLE
        case "origin":
            from inspect_compile.tables.overview.origin import TABLE
        case "compiles":
            from inspect_compile.tables.frontend.compiles import TABLE
        case "dynamo":
            from inspect_compile.tables.frontend.dynamo import TABLE
        case "caches":
            from inspect_compile.tables.caches.caches import TABLE
        case "guards":
            from inspect_compile.tables.frontend.guards import TABLE
        case "aot":
            from inspect_compile.tables.frontend.aot import TABLE
        case "calls":
            from inspect_compile.tables.frontend.calls import TABLE
        case "graphs":
            from inspect_compile.tables.overview.graphs import TABLE
        case "symbols":
            from inspect_compile.tables.lowering.symbols import TABLE
        case "artifacts":
            from inspect_compile.tables.frontend.traced import ARTIFACTS_TABLE as TABLE
        case "settings":
            from inspect_compile.tables.frontend.traced import SETTINGS_TABLE as TABLE
        case "passes":
            from inspect_compile.tables.passes import TABLE
        case "nodes":
            from inspect_compile.tables.lowering.nodes import TABLE
        case "lowering":
            from inspect_compile.tables.lowering.lowering import TABLE
        case "realize":
            from inspect_compile.tables.lowering.realize import TABLE
        case "schedule":
            from inspect_compile.tables.schedule import TABLE
        case "fusion":
            from inspect_compile.tables.fusion.fusion import TABLE
        case "kernels":
            from inspect_compile.tables.kernels.kernels import TABLE
        case "binaries":
            from inspect_compile.tables.kernels.binaries import TABLE
        case "autotune":
            from inspect_compile.tables.kernels.autotune import TABLE
        case "wrapper":
            from inspect_compile.tables.wrapper import TABLE
        case "flops":
            from inspect_compile.tables.cost.flops import TABLE
        case "traffic":
            from inspect_compile.tables.cost.traffic import TABLE
        case "flame":
            from inspect_compile.tables.cost.flame import TABLE
        case "roofline":
            from inspect_compile.tables.cost.roofline import TABLE
        case "memory":
            from inspect_compile.tables.memory.memory import TABLE
        case "measured":
            from inspect_compile.tables.runtime.measured import TABLE
        case "steps":
            from inspect_compile.tables.runtime.steps import TABLE
        case "numerics":
            from inspect_compile.tables.numerics.numerics import TABLE
        case "nonfinite":
            from inspect_compile.tables.numerics.nonfinite import TABLE
        case "cudagraphs":
            from inspect_compile.tables.runtime.cudagraphs import TABLE
        case "ranks":
            from inspect_compile.tables.compare.ranks import TABLE
        case "replays":
            from inspect_compile.tables.compare.replays import TABLE
        case "tried":
            from inspect_compile.tables.compare.tried import TABLE
        case "trials":
            from inspect_compile.tables.compare.trials import TABLE
        case "time":
            from inspect_compile.tables.frontend.time import TABLE
        case "metrics":
            from inspect_compile.tables.frontend.traced import METRICS_TABLE as TABLE
        case "overhead":
            from inspect_compile.tables.overview.overhead import TABLE
        case "node":
            from inspect_compile.tables.overview.node_page import TABLE
        case "kernel":
            from inspect_compile.tables.kernels.kernel_page import TABLE
        case _:
            raise KeyError(name)
    return TABLE


def table(
    name: str,
    graphs: "Graphs",
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    **options: Any,
) -> "Block":
    """The table `name` of one graph, or of all graphs if `graph` is None; a page of everything about `names`.

    Only rows that concern all of `names`; of each graph at most `limit`. `dump_argument` is how the person named the
    dump, for the commands that the table names; `options` are the table's own.
    """
    from inspect_compile.knowledge.origins import unknown_text
    from inspect_compile.tables.parts import Request, omitted
    from inspect_compile.tables.styled_text import Stack, styled

    if why := unknown_text(graphs.dump.run.origin, name):
        return styled(why, "warn")
    found = load(name).show(Request(graphs, names, limit, dump_argument), **options)
    if not graphs.dump.run.omitted or name in ("overview", "summary", *PAGES):
        return found
    return Stack([found, Stack(omitted(graphs.dump), gap=False)])


def rows(name: str, graphs: "Graphs", names: tuple[str, ...] = (), **options: Any) -> "Iterable[msgspec.Struct]":
    """The same for programs: the records that the table shows, those that concern all of `names`."""
    if name in PAGES:
        return load(name).rows(graphs, names)
    every = load(name).rows(graphs, **options)
    if not names:
        return every
    from inspect_compile.analysis.lookup.attempts import concerning

    return filter(concerning(graphs, names), every)


def facts(name: str, graphs: "Graphs", names: tuple[str, ...] = (), **options: Any) -> "Iterable[msgspec.Struct]":
    """The facts that the rows of a table are made of; the rows themselves where they are facts, or of many kinds.

    `names` are those of a page; whoever asks chooses among the facts of a table.
    """
    found = load(name).facts
    return rows(name, graphs, names if name in PAGES else (), **options) if found is None else found(graphs)
