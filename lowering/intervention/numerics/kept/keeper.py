"""Which inputs of a checked call are kept: those of the first wrong launch of each kernel, and those of the call."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from inspect_compile.dump import paths
from inspect_compile.facts import Checked, Fact, KeptInputs
from inspect_compile.knowledge.numerics.verdicts import WORSE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.lowering.intervention.numerics.kept.launches import KeepingLaunches
from inspect_compile.lowering.intervention.numerics.kept.room import Room, bare
from inspect_compile.lowering.intervention.numerics.one_thread import OneThread
from inspect_compile.lowering.intervention.numerics.values import Plan


class Keeper:
    """What is kept of the calls of one graph, once for each kernel."""

    def __init__(self, plan: Plan, code: Any, room: Room, tell: Callable[[Fact], None]) -> None:
        """`code` is that of `codegen.runtime.checked`."""
        self._plan = plan
        self._code = code
        self._room = room
        self._tell = tell
        self._kernels: set[str] = set()
        """Those of which a launch is kept."""
        self._kept = ""
        """The verdict for which a call is kept."""

    def keep(
        self,
        args: Sequence[Any],
        number: int,
        plain: Reference,
        rows: Sequence[Checked],
        state: RandomState,
        *,
        launches: bool,
    ) -> None:
        """Keep what the results `rows` of this call call for; `plain` has the reference's values. Without `launches`
        the call is not made again for what wrong ones are given.
        """
        if not self._room.is_wanted:
            return
        verdicts = [(verdict(row), row) for row in rows]
        wrong = {row.kernel: row for said, row in reversed(verdicts) if said == WRONG and row.kernel}
        wanted = [row for kernel, row in wrong.items() if kernel not in self._kernels]
        if wanted and launches:
            self._kernels.update(row.kernel for row in wanted)
            state.restore()
            call = KeepingLaunches(
                self._plan, self._code.aliases, plain, number, wanted, self._room, self._code.constant
            )
            with self._code.watched(OneThread(call)) as run, torch.no_grad():
                run(copies(args))
            for kept in call.kept:
                self._tell(kept)
        worst = next((one for one in (WRONG, WORSE) if any(said == one for said, _ in verdicts)), "")
        if worst and self._kept not in (WRONG, worst):
            self._kept = worst
            content = {"arguments": bare(list(args)), "random": state.plain}
            file, size, reason = self._room.store(paths.inputs_file(self._plan.graph, number), content)
            self._tell(KeptInputs(graph=self._plan.graph, call=number, file=file, bytes=size, reason=reason))
