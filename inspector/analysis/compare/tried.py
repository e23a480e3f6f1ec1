"""What `tune` tried on the program of a dump."""

from inspect_compile.dump import Dump
from inspect_compile.facts import TrialRun, TriedChange, Tuned
from inspect_compile.graph import Graphs


def tuned_of(dump: Dump) -> Tuned | None:
    """What was measured of the program itself; None if nothing was tried."""
    return next(reversed(dump.rows(Tuned)), None)


def changes_tried(dump: Dump) -> list[TriedChange]:
    """The last trial of each change, in the order in which they were first tried."""
    return list({row.words: row for row in dump.rows(TriedChange)}.values())


def tried_rows(graphs: Graphs) -> list[Tuned | TriedChange]:
    """Both, as `show tried --json` prints them."""
    tuned = tuned_of(graphs.dump)
    return [*([] if tuned is None else [tuned]), *changes_tried(graphs.dump)]


def trial_rows(graphs: Graphs) -> list[TrialRun]:
    """The runs in which that was tried, in the order in which they began."""
    return list(graphs.dump.rows(TrialRun))
