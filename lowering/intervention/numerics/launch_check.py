"""A call of a graph made a second time on copies, launch by launch, beside the graph run node by node."""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import msgspec
import torch

from inspect_compile.facts import Checked, Fact, NumericsCall, NumericsRequest, StatementsOf
from inspect_compile.knowledge.numerics.levels import BEFORE_PASSES, FUNCTION, LOWERED_GRAPH
from inspect_compile.knowledge.numerics.verdicts import WRONG, verdict
from inspect_compile.lowering.intervention.numerics.buffers import Buffers, Launch, written_inputs
from inspect_compile.lowering.intervention.numerics.continued import Continued, continued
from inspect_compile.lowering.intervention.numerics.elements import differing_bits
from inspect_compile.lowering.intervention.numerics.forced import Forced, with_fields
from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.offload import Offload, give_back
from inspect_compile.lowering.intervention.numerics.graphs.on_demand import OnDemand, Whole
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference, reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared, draws_numbers
from inspect_compile.lowering.intervention.numerics.inputs import (
    OwnRandomNumbers,
    RandomState,
    copies,
    given,
    not_checked,
    unseen,
)
from inspect_compile.lowering.intervention.numerics.judges import ByEarlier, ByReference, ResultKeeper
from inspect_compile.lowering.intervention.numerics.kept.keeper import Keeper
from inspect_compile.lowering.intervention.numerics.last_uses import last_uses
from inspect_compile.lowering.intervention.numerics.left_behind.left import OwnResults
from inspect_compile.lowering.intervention.numerics.left_behind.level_check import LevelCheck
from inspect_compile.lowering.intervention.numerics.left_behind.whole_check import whole_rows
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.nonfinite import of_eager_alone
from inspect_compile.lowering.intervention.numerics.one_thread import OneThread
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.statements.one_launch import EndedError, OneLaunch
from inspect_compile.lowering.intervention.numerics.statements.search import statements_of
from inspect_compile.lowering.intervention.numerics.upstream.upstream_check import UpstreamCheck, not_compared
from inspect_compile.lowering.intervention.numerics.values import Plan
from inspect_compile.probe import let_pass

_KERNELS: Final = 8
"""Maximum number of kernels of a call whose statements are looked at: each is compiled once more."""


_FEWEST_LEVELS: Final = 2
"""Without a pass between two levels no pass made the graph what it is."""
_RESULTS: Final = 4
"""Maximum number of wrong results of a kernel whose statements are looked at."""


class LaunchCheck:
    """Compares what each launch writes with its FX node.

    The program's own call runs as torch generated it, on the program's own inputs, after the check: what the program
    gets is what it would get without, unless it is to continue with the reference's results. The check works on copies
    of the inputs that the graph's code writes, and puts the state of the random number generators back.
    """

    def __init__(
        self,
        plan: Plan,
        levels: Sequence[Level],
        upstream: UpstreamCheck | None,
        code: Any,
        asked: NumericsRequest,
        tell: Callable[[Fact], None],
        lock: threading.Lock,
        keeper: Keeper,
    ) -> None:
        """`levels`: the graph before and between its passes; `upstream`: the levels above, if they are known. `code` is
        that of `codegen.runtime.checked`; `lock` is held during a check.
        """
        self._plan = plan
        self._is_collective = plan.has_collectives
        """What this rank finds makes no further call of the graph: the others would not take part in it."""
        self._levels = levels[:1] if self._is_collective else levels
        self.upstream = upstream
        self._code = code
        self._repeats = asked.repeats
        self._always_exact = asked.exact
        self._offloads = asked.offload
        self._continues = asked.continue_with == "reference"
        self._tell = tell
        self._lock = lock
        self._keeper = keeper
        self._launches = [one for one in code.launches if one.graph == plan.graph]
        self._positions = {one.line: at for at, one in enumerate(self._launches)}
        self._last_uses: dict[str, int] | None = None
        self._chain = Buffers(plan, code.aliases).chain
        self._written_inputs = written_inputs(plan, self._chain)

    def call(self, args: list[Any], number: int) -> Any:
        """Check one call of the graph, and make it."""
        instead = self._check(args, number)
        found = self._code.call(args) if instead is None else instead.call(args)
        if self.upstream is not None:
            self.upstream.returned(found)
        return found

    def _check(self, args: Sequence[Any], number: int) -> Continued | None:
        """What makes the program's call, if it is not the compiled code. Never raises, unless the exception is the
        program's own.
        """
        reason = not_checked(args)
        if reason:
            why_not = reason if self._continues else ""
            self._tell(NumericsCall(graph=self._plan.graph, call=number, reason=reason, not_continued=why_not))
            return None
        rows: list[Checked] = []
        facts: list[Fact] = []
        instead: Continued | None = None
        launches, compared, unstable, seconds = 0, 0, 0, 0.0
        started = time.perf_counter()
        try:
            store = Offload() if self._offloads else None
            with (
                self._lock,
                RandomState(args) as state,
                unseen(),
                store or contextlib.nullcontext(),
                contextlib.ExitStack() as ending,
            ):
                draws = philox.form_of(self._code.source)
                shared = Shared(store)
                run = self._run(args, draws, shared, state)
                ending.callback(run.close)
                plain = run.reference
                judge = self._judge(plain)
                kept = ResultKeeper(judge)
                written: list[Checked] = []
                forced = self._forced(args, run, number, kept if self._repeats else judge, written, state)
                launches, reason = forced.launches, forced.trouble or self._code.reason
                plain.results.hold()  # what no launch has asked for runs, too
                seconds = run.seconds
                give_back()
                left = functools.cache(functools.partial(self._left, args, state))
                own = OwnResults(None if self._is_collective else left)
                if self._continues:
                    instead = continued(self._plan.module, self._code.call, args, plain, state)
                if self.upstream is None:
                    rows.append(not_compared(self._plan.graph, number, "its Dynamo graph is not known"))
                else:
                    rows += self.upstream.rows(args, number, state, shared, own, forced.left)
                give_back()
                levels = self._level_check(args, number, state, shared, own) if self._levels else None
                if levels is not None:
                    rows += levels.rows(plain, run.inputs)
                del shared
                rows += written
                if levels is not None and not reason:
                    rows += levels.launched(plain, run.inputs, forced.left, rows)
                del levels, own
                whole = whole_rows(self._plan, run, left(), args, number, always_exact=self._always_exact)
                compared = len(whole)
                taken_away = {row.node for row in rows if row.against == BEFORE_PASSES and row.is_mended}
                rows, whole = ([_with_mended(row, taken_away) for row in each] for each in (rows, whole))
                # What is wrong because something else is would be accused a second time.
                is_explained = any(verdict(row) == WRONG for row in rows)
                rows += [row for row in whole if not (is_explained and verdict(row) == WRONG)]
                left.cache_clear()
                give_back()
                if any(row.kernel and verdict(row) == WRONG for row in rows):
                    plain = run.whole()
                    judge = self._judge(plain)
                alone = next((row for row in rows if row.eager_alone and not row.turn and row.node), None)
                if alone is not None and not self._is_collective:
                    state.restore()
                    module = self._plan.module
                    facts += of_eager_alone(self._plan, reference(module, given(module, args), draws), alone)
                facts += self._statements(args, plain, judge, rows, state)
                self._keeper.keep(args, number, plain, rows, state, launches=not self._is_collective)
                if self._repeats:
                    again: list[Checked] = []
                    self._forced(args, run, number, ByEarlier(kept.values), again, state)
                    changed = {(row.index, row.buffer): row.unstable for row in again}
                    rows = [_with_unstable(row, changed) for row in rows]
                    unstable = self._differing(args, state)
        except Exception as error:
            let_pass(error)
            reason = f"{type(error).__name__}: {error}"[:300]
            error.__traceback__ = None
            rows = rows or self._without_reference(args, number)
        give_back()
        ended = time.perf_counter()
        why_not = "" if not self._continues else reason if instead is None else instead.obstacle
        for fact in (*rows, *facts):
            self._tell(fact)
        if self.upstream is not None and (left_out := self.upstream.left_out):
            self._tell(NumericsCall(graph=self._plan.graph, call=number, reason=left_out, against=FUNCTION))
        self._tell(
            NumericsCall(
                graph=self._plan.graph,
                call=number,
                launches=launches,
                results=compared,
                repeated=self._repeats,
                unstable_results=unstable,
                reference_seconds=round(seconds, 6),
                forced_seconds=round(max(0.0, ended - started - seconds), 6),
                continued="" if instead is None or instead.obstacle else "reference",
                not_continued=why_not,
                reason=reason,
            )
        )
        return None if instead is None or instead.obstacle else instead

    def _without_reference(self, args: Sequence[Any], number: int) -> list[Checked]:
        """Rows of a call of which ATen does not run the graph that is lowered, as a pass may have made it."""
        if self._is_collective or len(self._levels) < _FEWEST_LEVELS:
            return []
        try:
            with self._lock, RandomState(args) as state, unseen():
                left, shared = self._left(args, state), Shared(None)
                rows = []
                if self.upstream is not None:
                    rows += self.upstream.rows(args, number, state, shared, OwnResults(lambda: left), left)
                return rows + self._level_check(args, number, state, shared, OwnResults(lambda: left)).refused(left)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            return []

    def _left(self, args: Sequence[Any], state: RandomState) -> Left:
        """What a call leaves behind in which nothing is forced."""
        state.restore()
        inputs = copies(args, self._written_inputs)
        with torch.no_grad(), self._code.as_generated() as call:
            return Left(call([*inputs]), inputs)

    def _level_check(
        self, args: Sequence[Any], number: int, state: RandomState, shared: Shared, own: OwnResults
    ) -> LevelCheck:
        plan, levels, always_exact = self._plan, self._levels, self._always_exact
        return LevelCheck(
            plan,
            levels,
            args,
            number,
            state,
            always_exact=always_exact,
            shared=shared,
            own=own,
            visible=() if self.upstream is None or self._is_collective else self.upstream.visible,
            keeps_inputs=self.upstream is not None and not self.upstream.is_backward,
            is_generated=not self._code.changed,
        )

    def _run(
        self, args: Sequence[Any], draws: philox.Form | None, shared: Shared, state: RandomState
    ) -> "OnDemand | Whole":
        """The graph that is lowered, whose values a forced call asks for."""
        module, nodes = self._plan.module, self._plan.compared
        # Launches that are made twice get the same values: an operator of eager's need not be deterministic either. And
        # ranks take part in collectives equally often, in the same order: nothing is computed again on one of them.
        if nodes is None or self._repeats or self._is_collective:
            started = time.perf_counter()
            inputs = given(module, args)
            plain = reference(module, inputs, draws, self._plan.nested, shared, only=nodes)
            return Whole(plain, time.perf_counter() - started, inputs)
        if self._last_uses is None:
            self._last_uses = last_uses(self._plan, self._chain, self._launches)
        is_random = draws_numbers(module)

        def aside() -> contextlib.AbstractContextManager[None]:
            return OwnRandomNumbers(args, state) if is_random else contextlib.nullcontext()

        return OnDemand(module, lambda: given(module, args), draws, shared, nodes, self._last_uses, aside)

    def _forced(
        self,
        args: Sequence[Any],
        run: "OnDemand | Whole",
        number: int,
        judge: ByReference | ResultKeeper | ByEarlier,
        rows: list[Checked],
        state: RandomState,
    ) -> Forced:
        """Make one forced call, whose rows are added to `rows`."""
        state.restore()

        def passed(launch: Launch) -> None:
            if launch.graph == self._plan.graph:
                run.passed(self._positions.get(launch.line, -1))

        forced = Forced(self._plan, self._code.aliases, run.reference, number, judge, rows.append, passed)
        with self._code.watched(OneThread(forced)) as call, torch.no_grad():
            inputs = copies(args, self._written_inputs)
            forced.left = Left(call(list(inputs)), inputs)
        return forced

    def _judge(self, plain: Reference) -> ByReference:
        return ByReference(self._plan, plain, self._rounds_only_stored, gives_back=self._offloads)

    def _rounds_only_stored(self, row: Checked) -> bool:
        """True for a launch that is known to round to half types only what it stores, and to read none of that: not by
        another name either, such as that of a whole whose parts it stores.
        """
        at = self._positions.get(row.line) if row.graph == self._plan.graph else None
        if at is None:
            return False
        names = set(self._launches[at].names)
        memories = {self._chain(name)[-1] for name in names}
        return len(memories) == len(names) and self._code.rounds_only_stored(row.kernel)

    def _statements(
        self, args: Sequence[Any], plain: Reference, judge: ByReference, rows: Sequence[Checked], state: RandomState
    ) -> Iterator[StatementsOf]:
        """The statements of each kernel with wrong results: for the worst element of the first result that shows which
        statement is wrong, or of the first one. Not of launches whose line is not the generated one: that is wrong.
        """
        wrong: dict[str, list[Checked]] = {}
        if self._is_collective:
            return
        changed = {one.line for one in self._code.changed}
        for row in rows:
            if row.kernel and row.line not in changed and verdict(row) == WRONG:
                wrong.setdefault(row.kernel, []).append(row)
        for results in list(wrong.values())[:_KERNELS]:
            said: list[StatementsOf] = []
            for row in results[:_RESULTS]:
                said.append(self._statements_of(row, args, plain, judge, state))
                if said[-1].blamed is not None or said[-1].reason:
                    break
            yield said[-1] if said[-1].blamed is not None else said[0]

    def _statements_of(
        self, row: Checked, args: Sequence[Any], plain: Reference, judge: ByReference, state: RandomState
    ) -> StatementsOf:
        def follow(look: Callable[[OneLaunch], None]) -> None:
            state.restore()
            forced = Forced(self._plan, self._code.aliases, plain, row.call, judge, lambda row: None)
            launch = OneLaunch(forced, row, self._code, look)
            with self._code.watched(OneThread(launch)) as run, torch.no_grad(), contextlib.suppress(EndedError):
                run(copies(args))
            launch.close()

        return statements_of(row, self._code, follow, judge.module(row), functools.partial(judge.exact, row))

    def _differing(self, args: Sequence[Any], state: RandomState) -> int:
        """How many results of two whole calls on the same inputs are not the same to the bit."""
        pairs = zip(self._left(args, state).results, self._left(args, state).results, strict=True)
        return sum(1 for one, other in pairs if isinstance(one, torch.Tensor) and differing_bits(one, other))


def _with_unstable(row: Checked, changed: dict[tuple[int, str], int]) -> Checked:
    return msgspec.structs.replace(row, unstable=changed.get((row.index, row.buffer), 0))


def _with_mended(row: Checked, nodes: Collection[str]) -> Checked:
    """`row`, mended if it is beside the graph that is lowered and is of one of `nodes`: a pass made another value of
    them, and the compiled code gives what was there before.
    """
    is_below = bool(row.kernel) or row.against == LOWERED_GRAPH
    return with_fields(row, is_mended=True) if is_below and row.node in nodes else row
