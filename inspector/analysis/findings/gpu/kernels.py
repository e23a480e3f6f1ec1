"""What holds kernels back on a GPU: values that spill out of registers, and launches without CUDA graphs."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding, parts_at
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import Remark
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.kernels.binaries import configurations, of_kernels
from inspect_compile.knowledge.cost.sure import NOT_KNOWN
from inspect_compile.knowledge.overview.findings import CUDAGRAPH_AGAIN, NO_CUDAGRAPH, SPILL, WORDS

_CODES: Final = ("no-cudagraphs", "cudagraph-again")


def spills(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Kernels whose running configuration spills. What that costs is not known: the kernel's time bounds it."""
    for graph in graphs:
        launches = graph.traffic.launches
        for (of, kernel), rows in of_kernels(configurations(graph)).items():
            if not rows[0].spills:
                continue
            calls = [one for one in launches if one.kernel.name == kernel]
            took = [costs.of_launch(one) for one in calls]
            known = [one.seconds for one in took if one.seconds is not None]
            lines = tuple(dict.fromkeys(line for one in calls for line in one.lines))
            yield Finding(
                kind=SPILL,
                graph=of,
                what=WORDS[SPILL].what,
                parts=tuple(FindingSite("", "", line) for line in lines[:2]),
                seconds=sum(known) if known and len(known) == len(took) else None,
                sure=took[0].sure if took else NOT_KNOWN,
                calls=min((one.timed for one in took if one.timed is not None), default=None),
                is_bound=True,
                why=f"{rows[0].spills:,} bytes of a thread, which has {rows[0].registers or 0:,} registers",
                to_do=WORDS[SPILL].to_do,
                names=(kernel,),
            )


def cudagraphs(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Graphs that do not run as a CUDA graph, and those that are recorded again and again."""
    names = {graph.name for graph in graphs}
    rows = dump.rows(Remark)
    places = {(row.graph, row.code): row.place for row in rows if row.code in _CODES}
    for row in cudagraph_rows(Graphs(dump)):
        if row.graph and row.graph not in names:
            continue
        launches = len(CompiledGraph(dump, row.graph).traffic.launches) if row.graph else 0
        if row.skipped and not row.is_on_cpu:
            cost = costs.of_launching(launches)
            yield Finding(
                kind=NO_CUDAGRAPH,
                graph=row.graph,
                what=WORDS[NO_CUDAGRAPH].what,
                parts=parts_at(places.get((row.graph, "no-cudagraphs"))),
                seconds=cost.seconds if launches else None,
                sure=cost.sure if launches else NOT_KNOWN,
                is_bound=True,
                why=row.skipped,
            )
        for again in row.again:
            yield Finding(
                kind=CUDAGRAPH_AGAIN,
                graph=row.graph,
                what=WORDS[CUDAGRAPH_AGAIN].what,
                parts=parts_at(places.get((row.graph, "cudagraph-again"))),
                count=again.count,
                why=again.why + (f": {', '.join(again.inputs[:3])}" if again.inputs else ""),
                to_do=WORDS[CUDAGRAPH_AGAIN].to_do,
            )
