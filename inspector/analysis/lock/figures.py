"""What the rows of a contract have in common: labels, numbers and names of a metric. Knows no rule."""

from collections.abc import Mapping, Sequence

from inspect_compile.analysis.lock.metrics import METRICS, Metric
from inspect_compile.analysis.lock.records import FrameLock, GraphLock, Lock, MachineGraph

Row = FrameLock | GraphLock | MachineGraph


def labels_of(metric: str, of: object) -> Mapping[str, int]:
    """Label → number, of one metric in one row."""
    found: Mapping[str, int] = getattr(of, METRICS[metric].field or metric)
    return found


def more_of(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """The labels that are more now."""
    return [label for label in after if after[label] > before.get(label, 0)]


def number_in(metric: Metric, of: object) -> int | None:
    """The number of one metric in one row: a figure, or the sum of its labels; None if it is not known."""
    if metric.name in ("frames", "graphs"):
        return 1
    found = getattr(of, metric.field or metric.name)
    if isinstance(found, dict):
        return sum(found.values())
    return found if isinstance(found, int) else None


def frame_of(of: Row) -> str:
    """Name of the frame."""
    return of.name if isinstance(of, FrameLock) else of.frame


def kind_of(of: Row) -> str:
    """Kind of the graph; empty for a frame."""
    return "" if isinstance(of, FrameLock) else of.kind


def name_of(of: Row) -> str:
    """What messages call it."""
    return f"{of.frame} ({of.kind})" if isinstance(of, MachineGraph) else of.name


def function_of(frame: str) -> str:
    """The function that a frame is of, or the rest of."""
    return frame.partition(" after ")[0]


def plural(what: str, number: float) -> str:
    """`2 graph breaks`: the noun for a number."""
    return what if number == 1 or what == "peak memory" else {"status": what}.get(what, f"{what}s")


def listed(more: Sequence[str], fewer: Sequence[str], before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """`+1 a, −2 b`: the labels that are more, and fewer."""
    parts = [f"+{after[label] - before.get(label, 0)} {label}" for label in more[:3]]
    parts += [f"−{before[label] - after.get(label, 0)} {label}" for label in fewer[:3]]
    left = max(0, len(more) - 3) + max(0, len(fewer) - 3)
    return ", ".join(parts) + (f" and {left} more" if left else "")


def before(old: Lock, metric: Metric, kind: str) -> int:
    """The number that a contract has of one metric, over all graphs of a kind."""
    if metric.name in ("frames", "graphs"):
        return len(old.frames if metric.name == "frames" else old.graphs)
    if metric.of == "frame":
        rows: Sequence[Row] = old.frames
    else:
        rows = old.machine.graphs if metric.of == "machine" else old.graphs
    numbers = [number_in(metric, one) or 0 for one in rows if kind in ("", kind_of(one))]
    return max(numbers, default=0) if metric.is_largest else sum(numbers)
