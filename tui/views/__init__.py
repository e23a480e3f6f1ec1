"""What is shown on the right: a view for each level of the chain, and the program's terminal.

May not know torch.
"""

from typing import Final

from inspect_compile.tui.models.bars import Tab

VIEWS: Final = (
    Tab("1", "source", "Source", "inspect_compile.tui.views.source:SourceView", "Src"),
    Tab("2", "fx", "FX", "inspect_compile.tui.views.fx:FxView"),
    Tab("3", "passes", "Passes", "inspect_compile.tui.views.passes:PassesView", "Pass"),
    Tab("4", "ir", "Lowering", "inspect_compile.tui.views.lowering:IrView", "Lower"),
    Tab("5", "fusion", "Fusion", "inspect_compile.tui.views.fusion:FusionView", "Fuse"),
    Tab("6", "kernels", "Kernels", "inspect_compile.tui.views.kernels:KernelsView", "Kern"),
    Tab("7", "cost", "Cost", "inspect_compile.tui.views.cost:CostView"),
    Tab("8", "memory", "Memory", "inspect_compile.tui.views.memory:MemoryView", "Mem"),
    Tab("9", "output", "Output", "inspect_compile.tui.views.wrapper:OutputView", "Out"),
    Tab("0", "program", "Program", "inspect_compile.tui.views.program:ProgramView", "Prog"),
    Tab("e", "numerics", "Numerics", "inspect_compile.tui.views.numerics:NumericsView", "Num"),
)
"""In the order of their keys."""
