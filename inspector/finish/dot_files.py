"""The drawings of the scheduler's graph, as DOT text. `draw` makes SVG of them."""

from typing import Literal

from inspect_compile.dump import Dump


def pre_fusion_dot(dump: Dump, graph: str) -> str:
    """The scheduler's graph before fusion."""
    return _dot(dump, graph, "pre_fusion")


def post_fusion_dot(dump: Dump, graph: str) -> str:
    """The scheduler's graph after fusion."""
    return _dot(dump, graph, "post_fusion")


def _dot(dump: Dump, graph: str, phase: Literal["pre_fusion", "post_fusion"]) -> str:
    from inspect_compile.diagrams.schedule.schedule import schedule_dot

    return schedule_dot(dump, graph, phase)
