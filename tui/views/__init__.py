"""What is shown on the right: a view for each level of the chain, the run at a glance, and the program's terminal.

May not know torch.
"""

from typing import Final

from inspect_compile.tui.models.bars import Tab

VIEWS: Final = (
    Tab("v", "overview", "Overview", "inspect_compile.tui.views.overview:OverviewView", "Run",
        "the run at a glance, where the app opens"),
    Tab("1", "source", "Source", "inspect_compile.tui.models.source:PANEL", "Src", "lines of the program"),
    Tab("2", "fx", "FX", "inspect_compile.tui.models.fx:PANEL", what="nodes of the FX graph, at each stage"),
    Tab("3", "passes", "Passes", "inspect_compile.tui.models.passes:PANEL", "Pass", "what each pass changed"),
    Tab("4", "ir", "Lowering", "inspect_compile.tui.views.lowering:IrView", "Lower", "how each node was lowered"),
    Tab("5", "fusion", "Fusion", "inspect_compile.tui.views.fusion:FusionView", "Fuse", "what was fused, what was not"),
    Tab("6", "kernels", "Kernels", "inspect_compile.tui.views.kernels:KernelsView", "Kern", "kernels and their code"),
    Tab("7", "cost", "Cost", "inspect_compile.tui.models.cost:PANEL", what="FLOPs, bytes, the roofline"),
    Tab("8", "memory", "Memory", "inspect_compile.tui.models.memory:PANEL", "Mem", "buffers, line by line"),
    Tab("9", "output", "Output", "inspect_compile.tui.models.wrapper:PANEL", "Out", "the generated code"),
    Tab("0", "program", "Program", "inspect_compile.tui.views.program:ProgramView", "Prog", "what the program prints"),
    Tab("x", "numerics", "Numerics", "inspect_compile.tui.models.numerics:PANEL", "Num",
        "errors that a check of numerics found"),
)  # fmt: skip
"""In the order of the tabs."""
