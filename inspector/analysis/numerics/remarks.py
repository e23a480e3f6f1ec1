"""Remarks about what a check of numerics found: results that are wrong, or not the same each time, NaN and Inf."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.numerics.nonfinite import NonFiniteRow, nonfinite_rows
from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.facts import Location, Remark
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import made_wrong
from inspect_compile.knowledge.numerics.verdicts import WRONG

WRONG_RESULT: Final = "numerics-wrong"
UNSTABLE: Final = "numerics-not-deterministic"
NON_FINITE: Final = "numerics-not-finite"
_DETERMINISTIC: Final = "torch.use_deterministic_algorithms(True)"


def numerics_remarks(graphs: Graphs) -> Iterator[Remark]:
    """One for each kernel with a wrong result, for each that is not deterministic, and for each first NaN or Inf."""
    seen: set[tuple[str, str, str]] = set()
    for row in judged(graphs):
        for code, is_so in ((WRONG_RESULT, row.verdict == WRONG), (UNSTABLE, bool(row.measured.unstable))):
            if is_so and (code, row.graph, row.kernel or row.level) not in seen:
                seen.add((code, row.graph, row.kernel or row.level))
                yield _wrong(row) if code == WRONG_RESULT else _unstable(row)
    yield from (_not_finite(row) for row in nonfinite_rows(graphs) if not row.of_node)


def _wrong(row: Judged) -> Remark:
    found = row.measured
    at = f"[{', '.join(map(str, found.worst))}]" if found.worst else ""
    values = f": {row.node}{at} is {found.compiled:.6g}, exact {found.exact:.6g}" if _has_values(row) else ""
    if found.mismatch:
        values = f": it is {found.mismatch}"
    if row.level:
        source = f", from {found.source} ({found.operator}) on" if found.source else ""
        what = f"{made_wrong(row.level, row.buffer, 'the graph')}{source}"
    else:
        what = f"{row.kernel} computes something else than its FX node {row.node}"
    return Remark(
        graph=row.graph,
        kind="analysis",
        code=WRONG_RESULT,
        message=f"{what}{values}",
        where=_place(row.where),
        place=row.where,
        ids=tuple(name for name in (row.kernel, row.node) if name),
    )


def _has_values(row: Judged) -> bool:
    return row.measured.compiled is not None and row.measured.exact is not None


def _unstable(row: Judged) -> Remark:
    found = row.measured
    count = f"{found.unstable:,} of {found.elements:,} elements" if found.elements else f"{found.unstable:,} elements"
    return Remark(
        graph=row.graph,
        kind="analysis",
        code=UNSTABLE,
        message=f"{row.kernel} is not deterministic: {count} of {row.node or row.buffer} differ on the same inputs",
        knob=_DETERMINISTIC,
        where=_place(row.where),
        place=row.where,
        ids=(row.kernel, row.node),
    )


def _not_finite(row: NonFiniteRow) -> Remark:
    made = f"the input {row.came_in} has it" if row.came_in else f"{row.node or row.buffer} makes it"
    if row.kernel:
        made += f" in {row.kernel}"
    if row.reason:
        made = f"its cause is not known ({row.reason})"
    step = f" (step {row.step:,})" if row.step else ""
    return Remark(
        graph=row.graph,
        kind="analysis",
        code=NON_FINITE,
        message=f"a result has {row.kind} in call {row.call:,}{step}: {made}",
        where=_place(row.where),
        place=row.where,
        ids=tuple(name for name in (row.kernel, row.node) if name),
    )


def _place(where: Location | None) -> str | None:
    return None if where is None else f"{where.file}:{where.line}"
