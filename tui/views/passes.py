"""The passes over the FX graphs."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.passes import FORMS, passes
from inspect_compile.tui.models.sheet import Shown, Table
from inspect_compile.tui.views.view import View


class PassesView(View):
    """A row for each pass, under its stage; below, what the one under the cursor changed."""

    MODES: ClassVar = FORMS
    EMPTY: ClassVar = "No pass was seen (yet)."
    FOLLOW: ClassVar = "fx"
    DETAIL: ClassVar = ("rows", "long")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The passes."""
        return passes(dump, chain, mode)
