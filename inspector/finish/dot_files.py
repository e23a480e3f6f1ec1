"""The drawings of the scheduler's graph, as DOT text. `draw` makes SVG of them."""

from inspect_compile.dump import Dump


def pre_fusion_dot(dump: Dump, graph: str) -> str:
    """The scheduler's graph before fusion."""
    return _dot(dump, graph, "pre_fusion")


def post_fusion_dot(dump: Dump, graph: str) -> str:
    """The scheduler's graph after fusion."""
    return _dot(dump, graph, "post_fusion")


def _dot(dump: Dump, graph: str, phase: str) -> str:
    from inspect_compile.diagrams.schedule import schedule_dot

    text: str = schedule_dot(dump, graph, phase)
    return text
