"""The roofline as a plot: where the roofs are, and where each kernel is. Both axes are logarithmic."""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from inspect_compile.analysis.cost.roofline import Bounds
from inspect_compile.analysis.cost.roofs import Roof

_DECADES: Final = 1.0
"""Decades shown on either side of the ridge, at least."""
_MOST_DECADES: Final = 12


class Point(msgspec.Struct, frozen=True):
    """One launch."""

    row: Bounds
    x: float
    """Operations per byte."""
    y: float
    """Operations per second: measured, else the most that the roof allows."""


class Ceiling(msgspec.Struct, frozen=True):
    """One peak of the device."""

    name: str
    rate: float
    ridge: float
    """Operations per byte above which this peak is the bound."""


class Plot(msgspec.Struct, frozen=True):
    """The contents of the plot."""

    roof: Roof
    ceilings: tuple[Ceiling, ...]
    """The peaks that apply to some kernel, highest first."""
    points: tuple[Point, ...]
    """Largest share first."""
    left_out: int
    """Number of launches without a place on these axes: nothing is counted for them, or they move nothing."""
    x: tuple[float, float]
    """Lower and upper end, as powers of ten."""
    y: tuple[float, float]

    def across(self, intensity: float) -> float:
        """Horizontal position of an intensity, from 0 (left) to 1 (right)."""
        return (math.log10(intensity) - self.x[0]) / (self.x[1] - self.x[0])

    def up(self, rate: float) -> float:
        """Vertical position of a rate, from 0 (bottom) to 1 (top)."""
        return (math.log10(rate) - self.y[0]) / (self.y[1] - self.y[0])


def plot(rows: Sequence[Bounds], roof: Roof) -> Plot:
    """The plot of the launches of a graph."""
    points = []
    for row in rows:
        seconds = row.measured_seconds or row.least_seconds
        work = row.heavy + row.scalar
        if row.intensity and seconds and math.isfinite(work / seconds):
            points.append(Point(row, row.intensity, work / seconds))
    points.sort(key=lambda point: -point.row.share)
    rates = {name: roof.peak.get(name) or roof.vector[name] for name in {point.row.peak for point in points}}
    rates.setdefault("float32", roof.vector["float32"])
    ceilings = [
        Ceiling(name, rate, rate / roof.bandwidth) for name, rate in sorted(rates.items(), key=lambda one: -one[1])
    ]
    across = [math.log10(value) for value in (*(one.ridge for one in ceilings), *(point.x for point in points))]
    left, right = math.floor(min(across) - _DECADES / 2), math.ceil(max(across) + _DECADES / 2)
    left = max(left, right - _MOST_DECADES)
    rates_seen = [math.log10(point.y) for point in points]
    top = math.ceil(math.log10(ceilings[0].rate) + 0.1)
    bottom = math.floor(min([*rates_seen, math.log10(ceilings[-1].rate) - _DECADES]))
    bottom = max(bottom, top - _MOST_DECADES)
    return Plot(
        roof,
        tuple(ceilings),
        tuple(point for point in points if math.log10(point.x) >= left and math.log10(point.y) >= bottom),
        len(rows) - len(points),
        (left, right),
        (bottom, top),
    )
