"""The view of costs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.cost import PARTS
from inspect_compile.tui.models.sheet import Shown, Table
from inspect_compile.tui.views.view import View


class CostView(View):
    """FLOPs by module with operators, or by operator, kernel or line; bytes; the roofline."""

    MODES: ClassVar = tuple(PARTS)
    FOLLOW: ClassVar = "fx"

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The table of the mode."""
        return Shown(PARTS[mode](dump, chain))
