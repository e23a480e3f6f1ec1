"""What is shown on the right: a view for each level of the chain, and the program's terminal.

May not know torch.
"""

from typing import Final

from inspect_compile.tui.views.part import Listed

VIEWS: Final = (
    Listed("1", "source", "Source", "inspect_compile.tui.views.source:SourceView"),
    Listed("2", "fx", "FX", "inspect_compile.tui.views.fx:FxView"),
    Listed("3", "passes", "Passes", "inspect_compile.tui.views.passes:PassesView", "Pass"),
    Listed("4", "ir", "Lowering", "inspect_compile.tui.views.lowering:IrView", "Lower"),
    Listed("5", "fusion", "Fusion", "inspect_compile.tui.views.fusion:FusionView", "Fuse"),
    Listed("6", "kernels", "Kernels", "inspect_compile.tui.views.kernels:KernelsView", "Kernel"),
    Listed("7", "cost", "Cost", "inspect_compile.tui.views.cost:CostView"),
    Listed("8", "memory", "Memory", "inspect_compile.tui.views.memory:MemoryView", "Mem"),
    Listed("9", "output", "Output", "inspect_compile.tui.views.wrapper:OutputView", "Out"),
    Listed("0", "program", "Program", "inspect_compile.tui.views.program:ProgramView", "Prog"),
)
"""In the order of their digits."""
