"""The FX graphs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.fx import STAGES, fx
from inspect_compile.tui.models.sheet import Shown, Table
from inspect_compile.tui.views.view import View


class FxView(View):
    """The nodes of one stage."""

    MODES: ClassVar = tuple(STAGES)
    EMPTY: ClassVar = "The dump holds no graph of this stage."
    FOLLOW: ClassVar = "ir"

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The nodes."""
        return fx(dump, chain, mode)
