"""The checked launches of a dump, each result with its verdict, and how much of the code they cover."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from inspect_compile.facts import Checked, Location, Node, NumericsCall
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, rounding_error, verdict

_NO_NUMBER: Final = "no element is a finite number in the compiled, eager's and the exact value"


class Judged(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="judged"):
    """One result of one launch. `show numerics --json` prints these."""

    graph: str
    call: int
    index: int
    """Position of the launch in the call."""
    kernel: str
    line: int | None
    """Line number of the launch in output_code.py."""
    level: str
    """The level, such as a pass, that made a result of the graph wrong, or all in between; empty for a launch."""
    buffer: str
    node: str
    verdict: str
    reason: str = ""
    """Why it is not comparable."""
    times_rounding: float | None = None
    """Its root mean square error, as a multiple of what rounding makes; of elements that are wrong the largest error,
    if that is the larger multiple.
    """
    where: Location | None = None
    """The source line of the node, or of the value that it takes."""
    measured: Checked
    """The numbers."""


class Summary(msgspec.Struct, frozen=True):
    """What was checked in one process."""

    calls: int
    launches: int
    checked_launches: int
    """Those of which at least one result was compared."""
    results: int
    """Of launches."""
    compared: int
    graph_results: dict[str, tuple[int, int]]
    """What results of graphs were compared with → how many were, and of how many."""
    verdicts: dict[str, int]
    reasons: dict[str, int]
    """Why results were not compared → how many."""
    trouble: tuple[NumericsCall, ...]
    """Graphs or calls that were not checked, or not to their end."""
    continued: int
    """Number of calls from which the program got the reference's results."""
    not_continued: dict[str, int]
    """Why it got those of the compiled code, if the reference's were asked for → in how many calls."""
    first: Judged | None
    """The first wrong result."""
    repeated: bool
    """Calls were made again on the same inputs, to compare the results to the bit."""
    unstable: int
    """Number of launches' results that were not the same then."""
    unstable_results: int
    """Number of whole calls' results that were not the same."""
    first_unstable: Judged | None
    seconds: float

    @property
    def wrong(self) -> int:
        """Number of wrong results."""
        return self.verdicts.get(WRONG, 0)

    @property
    def is_wrong(self) -> bool:
        """Something is wrong, or not the same each time."""
        return bool(self.wrong or self.unstable)


def judged(graphs: Graphs) -> Iterator[Judged]:
    """The results of all checked launches, in the order in which they ran."""
    places: dict[str, dict[str, Location | None]] = {}
    for row in graphs.alone(Checked):
        if row.graph not in places:
            places[row.graph] = _places(graphs.dump.rows(Node, row.graph))
        said = verdict(row)
        yield Judged(
            graph=row.graph,
            call=row.call,
            index=row.index,
            kernel=row.kernel,
            line=row.line,
            level=row.level,
            buffer=row.buffer,
            node=row.node,
            verdict=said,
            reason=(row.reason or row.no_exact or _NO_NUMBER) if said == NOT_COMPARABLE else "",
            times_rounding=_times(row),
            where=row.where if row.source else places[row.graph].get(row.node),
            measured=row,
        )


def summary(graphs: Graphs) -> Summary:
    """What was checked, in numbers."""
    rows = list(judged(graphs))
    calls = graphs.dump.rows(NumericsCall)
    ran = [call for call in calls if call.launches or call.results]
    of_graphs = [row for row in rows if row.level]
    of_launches = [row for row in rows if not row.level]
    compared = [row for row in of_launches if row.verdict != NOT_COMPARABLE]
    return Summary(
        calls=len(ran),
        launches=sum(call.launches for call in ran),
        checked_launches=len({(row.graph, row.call, row.index) for row in compared}),
        results=len(of_launches),
        compared=len(compared),
        graph_results=_by_level(of_graphs),
        verdicts=dict(Counter(row.verdict for row in rows)),
        reasons=dict(Counter(row.reason for row in rows if row.verdict == NOT_COMPARABLE).most_common()),
        trouble=tuple(call for call in calls if call.reason),
        continued=sum(1 for call in calls if call.continued),
        not_continued=dict(Counter(call.not_continued for call in calls if call.not_continued)),
        first=next((row for row in rows if row.verdict == WRONG), None),
        repeated=any(call.repeated for call in calls),
        unstable=sum(1 for row in rows if row.measured.unstable),
        unstable_results=sum(call.unstable_results for call in calls),
        first_unstable=next((row for row in rows if row.measured.unstable), None),
        seconds=sum(call.reference_seconds + call.forced_seconds for call in ran),
    )


def _by_level(rows: Iterable[Judged]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for row in rows:
        same, all_ = found.get(row.measured.against, (0, 0))
        found[row.measured.against] = same + (row.verdict != NOT_COMPARABLE), all_ + 1
    return found


def _places(nodes: Iterable[Node]) -> dict[str, Location | None]:
    """The line of each node; of one that no line of the program calls, such as a copy back to an input, that of the
    value which it takes last.
    """
    places: dict[str, Location | None] = {}
    for node in nodes:
        lines = filter(None, (places.get(name) for name in reversed(node.inputs)))
        places[node.name] = node.where or next(lines, None)
    return places


def _times(row: Checked) -> float | None:
    is_hidden = row.exact_apart is not None or row.not_once is not None
    if row.rmse is None or row.is_equal or is_hidden:
        return None
    explained = rounding_error(row)
    times = row.rmse / explained if explained else None
    # An element that is wrong may be one of many that are right.
    return max(times or 0.0, row.unexplained_times) if row.unexplained and row.unexplained_times else times
