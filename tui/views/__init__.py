"""What is shown on the right: a view for each level of the chain, the run at a glance, and the program's terminal.

May not know torch.
"""

from typing import TYPE_CHECKING, Final

from inspect_compile.tui.models.bars import Tab

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspect_compile.tui.models.sheet import Panel
    from inspect_compile.tui.views.view import TabView

VIEWS: Final = (
    Tab("v", "overview", "Overview", "Run", "the run at a glance, where the app opens"),
    Tab("1", "source", "Source", "Src", "lines of the program"),
    Tab("2", "fx", "FX", what="nodes of the FX graph, at each stage"),
    Tab("3", "passes", "Passes", "Pass", "what each pass changed"),
    Tab("4", "ir", "Lowering", "Lower", "how each node was lowered"),
    Tab("5", "fusion", "Fusion", "Fuse", "what was fused, what was not"),
    Tab("6", "kernels", "Kernels", "Kern", "kernels and their code"),
    Tab("7", "cost", "Cost", what="FLOPs, bytes, the roofline"),
    Tab("8", "memory", "Memory", "Mem", "buffers, line by line"),
    Tab("9", "output", "Output", "Out", "the generated code"),
    Tab("0", "program", "Program", "Prog", "the program's output"),
    Tab("x", "numerics", "Numerics", "Num", "errors that a check of numerics found"),
)
"""In the order of the tabs."""


def load(name: str) -> "Panel | Callable[..., TabView]":
    """What a view shows, or the class of one that draws more; its module is imported when it is first shown."""
    view: Panel | Callable[..., TabView]
    match name:
        case "overview":
            from inspect_compile.tui.views.overview import OverviewView as view
        case "source":
            from inspect_compile.tui.models.source import PANEL as view
        case "fx":
            from inspect_compile.tui.models.fx import PANEL as view
        case "passes":
            from inspect_compile.tui.models.passes import PANEL as view
        case "ir":
            from inspect_compile.tui.views.lowering import IrView as view
        case "fusion":
            from inspect_compile.tui.views.fusion import FusionView as view
        case "kernels":
            from inspect_compile.tui.views.kernels import KernelsView as view
        case "cost":
            from inspect_compile.tui.models.cost import PANEL as view
        case "memory":
            from inspect_compile.tui.models.memory import PANEL as view
        case "output":
            from inspect_compile.tui.models.wrapper import PANEL as view
        case "program":
            from inspect_compile.tui.views.program import ProgramView as view
        case "numerics":
            from inspect_compile.tui.models.numerics import PANEL as view
        case _:
            raise KeyError(name)
    return view
