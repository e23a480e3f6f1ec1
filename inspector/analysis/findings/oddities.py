"""What makes a dump tell less than it should: graphs that are not complete, and this tool's own probes."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.dumps.hooks import disabled, hooks
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import ONCE, Finding
from inspect_compile.analysis.overview.summary import incomplete
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.cost.sure import MEASURED
from inspect_compile.knowledge.overview.findings import INCOMPLETE, PROBE, SLOW_PROBES, WORDS
from inspect_compile.knowledge.overview.nothing import Seen, advice_for, why_nothing

_NOTICEABLE: Final = 0.1
"""Share of the run's time that the probes may take."""
_STATUS: Final = {
    "failed": "its compile failed",
    "stopped": "the dump reached its size limit",
    "unfinished": "the program ended before its compile did",
    "compiled": "not all of its nodes are accounted for",
}


def lacking(dump: Dump) -> Iterator[Finding]:
    """Tables that the run left and that are missing or shorter in this dump."""
    why = why_nothing(Seen(lacking=dump.lacking))
    yield Finding(kind=INCOMPLETE, graph="", what=why.head, why=why.text, to_do=why.to_do, names=dump.lacking[:1])


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Incomplete graphs, probes that are off, and probes that took long."""
    for one in incomplete(dump, graphs):
        if one.status not in ("open", "failed"):  # a failed compile is a finding of its own
            end = dump.graph_end(one.graph.graph)
            exception = end.exception if end is not None else None
            yield Finding(
                kind=INCOMPLETE,
                graph=one.graph.graph,
                what=WORDS[INCOMPLETE].what,
                why=exception or _STATUS.get(one.status, one.status),
                to_do=advice_for(exception or "") or "",
                names=(one.graph.graph,),
            )
    for hook in disabled(dump):
        if hook.state != "failed":
            continue  # another torch has not what it watches: `show overhead` has it, and nobody can act on it
        yield Finding(
            kind=PROBE,
            graph="",
            what=WORDS[PROBE].what,
            why=f"{hook.target}: {hook.reason}",
            names=(hook.target.rpartition(".")[2],),
        )
    took = sum(hook.seconds for hook in hooks(dump))
    if dump.run.seconds and took > _NOTICEABLE * dump.run.seconds:
        yield Finding(
            kind=SLOW_PROBES,
            graph="",
            what=WORDS[SLOW_PROBES].what,
            seconds=took,
            when=ONCE,
            sure=MEASURED,
            why=f"{took:.1f} of {dump.run.seconds:.1f} seconds",
        )
