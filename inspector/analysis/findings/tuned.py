"""Changes that `tune` tried on the program: those that make its steps faster, and settings that do not."""

from collections.abc import Callable, Iterator
from typing import Final

from inspect_compile.analysis.compare.tried import changes_tried, tuned_of
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import EACH_STEP, Finding
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import Location, TriedChange
from inspect_compile.facts.trials import KEPT, NO_GAIN, PRECISION
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.cost.sure import MEASURED
from inspect_compile.knowledge.overview.findings import TUNED, WORDS
from inspect_compile.knowledge.tuning import INDUCTOR

_HELPS: Final = (KEPT, PRECISION)


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each change that helps."""
    tuned = tuned_of(dump)
    for row in changes_tried(dump) if tuned is not None else ():
        if tuned is not None and row.outcome in _HELPS and row.gain is not None:
            yield Finding(
                kind=TUNED,
                graph="",
                what=WORDS[TUNED].what,
                parts=tuple(FindingSite("", "", Location(place.file, place.line)) for place in row.places),
                seconds=row.gain * tuned.seconds,
                when=EACH_STEP,
                share=row.gain,
                sure=MEASURED,
                calls=row.pairs,
                why=_why(row),
                to_do=row.words,
            )


def answered(dump: Dump) -> Callable[[Finding], bool]:
    """Whether what a finding promises was tried on this program: it brought nothing, or is a finding of its own."""
    rows = changes_tried(dump)
    kinds = {row.promised_by for row in rows if row.promised_by and row.outcome in (NO_GAIN, *_HELPS)}
    knobs = {
        change.of.removeprefix(INDUCTOR)
        for row in rows
        if row.outcome == NO_GAIN
        for change in row.changes
        if change.of.startswith(INDUCTOR)
    }
    return lambda finding: finding.kind in kinds or finding.knob in knobs


def _why(row: TriedChange) -> str:
    gain, width = 100 * (row.gain or 0.0), 100 * (row.plus_minus or 0.0)
    precision = "; it changes the precision" if row.outcome == PRECISION else ""
    return f"tried: −{gain:.1f} ± {width:.1f} % of a step; numbers: {row.numbers}{precision}"
