"""The view of a check of numerics."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.numerics import numerics
from inspect_compile.tui.models.sheet import Shown, Table
from inspect_compile.tui.views.view import View


class NumericsView(View):
    """The checked launches with their errors and verdicts; below, everything about one result."""

    DETAIL: ClassVar = ("rows", "long")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The launches in order."""
        return numerics(dump, chain)
