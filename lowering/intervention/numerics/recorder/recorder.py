"""The recorder of a process: which calls are under way, and what is done once a flag is read."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import torch

from inspect_compile.facts import Fact, FlaggedCalls, NonFinite, NumericsCall, NumericsRequest
from inspect_compile.knowledge.numerics.formats import KINDS
from inspect_compile.lowering.intervention.numerics.graphs.nodes import inputs_of
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, not_checked, unseen
from inspect_compile.lowering.intervention.numerics.nonfinite import Explained, explained, kinds_of
from inspect_compile.lowering.intervention.numerics.recorder.calls import Call, GraphCalls, addresses
from inspect_compile.lowering.intervention.numerics.recorder.memory import LostError, Room
from inspect_compile.probe import let_pass

_EXPLAINED: Final = 3
"""How often NaN, and Inf, is explained that comes into the results of a graph, goes away and comes again."""
_PATIENCE: Final = 10.0
"""Seconds to wait at the end for flags that are on their way: a device may hang."""
_NO_FORWARD: Final = "its forward call is not known, or its inputs were not kept"
_UNSURE: Final = 4
"""Of so many forward calls that save nothing of their own what they were given is kept: torch says of no such call that
its backward cannot follow any more.
"""
_CAME_IN: Final = "it came in"
_NEVER: Final = "the program ended before its flag and those of later calls arrived"
_CAPTURED: Final = "it is recorded as a CUDA graph of the program's own, whose replays are not seen"


class _Seen:
    """What is known of the calls of one graph."""

    def __init__(self, graph: str, results: int) -> None:
        self.row = FlaggedCalls(graph=graph, results=results)
        self.had: set[str] = set()
        """Kinds in the results of the last call."""
        self.explained = dict.fromkeys(KINDS, 0)

    def add(self, **fields: Any) -> None:
        """Give the row other values in these fields."""
        self.row = msgspec.structs.replace(self.row, **fields)


class Recorder:
    """Gives each call a flag, and examines the calls that raise theirs.

    A call is made as always. Before it, what it is given is kept; after it, its device is asked whether its results
    have NaN or Inf. The answer is read when it is there, which is looked at in each call: the program waits for its
    device only if memory for inputs has to be used again that a call of an earlier step may still need.
    """

    def __init__(self, asked: NumericsRequest, tell: Callable[[Fact], None], lock: threading.Lock) -> None:
        """`lock` is held while a call is made again."""
        self.is_on = True
        self.asked = asked
        self._tell = tell
        self._lock = lock
        self._mutex = threading.RLock()
        self.room = Room(asked.keep)
        self._seen: dict[GraphCalls, _Seen] = {}
        self._pending: deque[Call] = deque()
        """Calls whose flags have not been read, in their order."""
        self._waiting: list[Call] = []
        """Forward calls that a backward may follow, in their order."""
        self._step = 0
        self._in_step: set[GraphCalls] = set()
        self._had_backward = False
        self._has_told = False

    def call(self, graph: GraphCalls, made: Callable[[list[Any]], Any], args: list[Any]) -> Any:
        """Make a call of a graph by `made`."""
        graph.number += 1
        self._count_step(graph)
        if not self.asked.has_call(graph.number) or self._is_captured(graph):
            return made(args)
        try:
            with self._mutex, unseen(), torch.no_grad():
                given = addresses(args) if graph.saved and not graph.forms else frozenset()
                call = self._begun(graph, args)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            return made(args)
        try:
            results = made(args)
        except BaseException:
            self._abandon(call)
            raise
        try:
            with self._mutex, unseen(), torch.no_grad():
                call.returned(results, given)
                self._pending.append(call)
                if call.waits:
                    self._waiting.append(call)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            self._abandon(call)
        return results

    def finish(self) -> None:
        """Read what is on its way, and look at no call any more."""
        with self._mutex:
            if not self.is_on:
                return
            self.is_on = False
            until = time.monotonic() + _PATIENCE
            while self._pending:
                flag = self._pending[0].flag
                assert flag is not None
                if not flag.arrives(until - time.monotonic()):
                    call = self._pending[0]
                    self._tell(NumericsCall(graph=call.graph.plan.graph, call=call.number, reason=_NEVER))
                    break
                self._read(self._pending.popleft())
            for graph, seen in self._seen.items():
                self._tell(seen.row)
                graph.clear()
            self._forget()

    def forget(self) -> None:
        """This process is a fork: the calls are those of its parent."""
        self._mutex = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._pending.clear()
        self._waiting.clear()

    def _begun(self, graph: GraphCalls, args: list[Any]) -> Call:
        while self._pending and self._is_there(self._pending[0]):
            self._read(self._pending.popleft())
        call = Call(graph, graph.number, self._step)
        seen = self._seen.get(graph)
        if seen is None:
            seen = self._seen[graph] = _Seen(graph.plan.graph, graph.looked_at)
            graph.unkept = not_checked(args)
        reason = graph.unkept
        elsewhere: Mapping[int, Any] = {}
        if not reason and graph.kind == "backward":
            call.forward = self._forward_of(args)
            if call.forward is None or call.forward.kept is None:
                reason = _NO_FORWARD
            else:
                graph.pairs = graph.pairs or call.forward.pairs(args)
                elsewhere = graph.pairs
        if not reason:
            try:
                self._make_room(graph, seen)
                before = graph.kept_bytes
                call.kept = graph.keep(args, elsewhere)
                if graph.kept_bytes != before:
                    device = next((str(one.device) for one in args if isinstance(one, torch.Tensor)), "")
                    seen.add(kept_bytes=graph.kept_bytes, kept_calls=graph.kept_calls, device=device)
                    self._tell(seen.row)
            except LostError as error:
                reason = str(error)
        call.reason = reason
        return call

    def _is_captured(self, graph: GraphCalls) -> bool:
        """True while the program records a CUDA graph of its own."""
        if not graph.on_gpu or not torch.cuda.is_current_stream_capturing():
            return False
        self._tell(NumericsCall(graph=graph.plan.graph, call=graph.number, reason=_CAPTURED))
        return True

    @staticmethod
    def _is_there(call: Call) -> bool:
        return call.flag is None or call.flag.is_there()

    def _count_step(self, graph: GraphCalls) -> None:
        """A step begins with the first forward after a backward; where there is none, with a graph called again."""
        is_backward = graph.kind == "backward"
        begins = not is_backward and (self._had_backward or (graph in self._in_step and graph.kind == "inference"))
        if begins or not self._step:
            self._step += 1
            self._in_step.clear()
            self._had_backward = False
        self._in_step.add(graph)
        self._had_backward |= is_backward

    def _forward_of(self, args: Sequence[Any]) -> Call | None:
        """The forward call that saved these inputs of a backward graph."""
        given = addresses(args)
        found = next((one for one in reversed(self._waiting) if one.saved.keys() <= given), None)
        if found is not None:
            self._waiting.remove(found)
            found.waits, found.is_claimed = False, True
        return found

    def _make_room(self, graph: GraphCalls, seen: _Seen) -> None:
        """See to it that there is memory for one more call, if that is possible."""
        waiting = [one for one in self._waiting if one.graph is graph]
        unsure = [one for one in waiting if one.made is None][:-_UNSURE]
        for call in [*unsure, *(one for one in waiting if not one.can_have_backward())]:
            self._waiting.remove(call)
            waiting.remove(call)
            call.waits = False
            self._release(call)
        if graph.has_memory(len(waiting)):
            return
        started, has_waited = time.perf_counter(), False
        while any(_frees(one, graph) for one in self._pending) and not graph.has_memory(len(waiting)):
            call = self._pending.popleft()
            if call.flag is not None and not call.flag.is_there():
                has_waited = True
                call.flag.wait()
            self._read(call)
        if has_waited:
            seconds = seen.row.waited_seconds + time.perf_counter() - started
            seen.add(waits=seen.row.waits + 1, waited_seconds=round(seconds, 6))

    def _read(self, call: Call) -> None:
        """The flag of a call is there."""
        assert call.flag is not None
        seen, row = self._seen[call.graph], self._seen[call.graph].row
        kinds = call.flag.kinds()
        call.flag = None
        examinable, reason = (row.examinable + 1, row.reason) if call.kept else (row.examinable, call.reason)
        seen.add(calls=row.calls + 1, examinable=examinable, reason=reason)
        if kinds:
            seen.add(flagged=row.flagged + 1, first=row.first or call.number, last=call.number)
            if not row.flagged:
                self._tell(seen.row)
        has = set(kinds.values())
        new = [kind for kind in KINDS if kind in has - seen.had and seen.explained[kind] < _EXPLAINED]
        seen.had = has
        if new:
            self._rose(call, seen, {kind: next(at for at, one in kinds.items() if one == kind) for kind in new})
        self._release(call)
        if call.forward is not None:
            call.forward.is_claimed = False
            self._release(call.forward)

    def _rose(self, call: Call, seen: _Seen, outputs: Mapping[str, int]) -> None:
        """NaN or Inf came into results: examine the call, and tell what was found."""
        found = self._examined(call, outputs)
        for kind in outputs:
            seen.explained[kind] += 1
        if found.reason == _CAME_IN:
            return
        kinds = {row.kind for row in found.rows if row.graph == call.graph.plan.graph}
        nothing = [
            NonFinite(graph=call.graph.plan.graph, call=call.number, kind=kind, output=output, reason=found.reason)
            for kind, output in outputs.items()
            if kind not in kinds
        ]
        for row in [*found.rows, *nothing]:
            is_own = row.graph == call.graph.plan.graph
            if row.came_in and self._has_told:
                continue  # another graph, or another step, has made it, and that was told
            again = is_own and seen.explained[row.kind] > 1
            self._tell(msgspec.structs.replace(row, step=call.step, again=again))
            self._has_told = True
        self._tell(
            NumericsCall(
                graph=call.graph.plan.graph,
                call=call.number,
                launches=found.launches,
                forced_seconds=found.seconds,
                reason=found.reason,
            )
        )

    def _examined(self, call: Call, outputs: Mapping[str, int]) -> Explained:
        if call.kept is None:
            return Explained([], 0, 0.0, call.reason)
        try:
            with self._lock:
                if call.forward is not None:
                    return _explained_backward(call, call.forward, outputs)
                inputs = call.kept.inputs()
                came_in = frozenset[str]().union(*map(kinds_of, inputs)) if self._has_told else frozenset()
                outputs = {kind: output for kind, output in outputs.items() if kind not in came_in}
                return _explained(call, inputs, outputs) if outputs else Explained([], 0, 0.0, _CAME_IN)
        except Exception as error:
            let_pass(error)
            error.__traceback__ = None
            said = str(error) if isinstance(error, LostError) else f"{type(error).__name__}: {error}"[:300]
            return Explained([], 0, 0.0, said)

    def _abandon(self, call: Call) -> None:
        """The call has raised an exception, or cannot be followed."""
        call.flag = None
        self._release(call)
        if call.forward is not None:
            call.forward.is_claimed = False
            self._release(call.forward)

    @staticmethod
    def _release(call: Call) -> None:
        """Give back what the call was given, if nothing can need it any more."""
        if call.kept is not None and call.is_done:
            call.graph.give_back(call.kept)
            call.kept = None


def _frees(call: Call, graph: GraphCalls) -> bool:
    """True if memory for calls of `graph` is free once the flag of `call` is down."""
    is_own = call.graph is graph and not call.waits and not call.is_claimed
    return is_own or (call.forward is not None and call.forward.graph is graph)


def _explained(call: Call, inputs: Sequence[Any], outputs: Mapping[str, int]) -> Explained:
    assert call.kept is not None
    return explained(call.graph.plan, call.graph.code, inputs, call.kept.state, outputs, call.number)


def _explained_backward(call: Call, forward: Call, outputs: Mapping[str, int]) -> Explained:
    """What is found of a backward call; what the forward call made is asked of that, on the way."""
    if forward.kept is None or call.kept is None:
        raise LostError(_NO_FORWARD)
    given = forward.kept.inputs()
    with RandomState(given) as now, unseen(), torch.no_grad(), forward.graph.code.as_generated() as run:
        (forward.kept.state or now).restore()
        saved = run(copies(given))
    inputs = call.kept.inputs({at: saved[place] for at, place in call.graph.pairs.items()})
    found = _explained(call, inputs, outputs)
    names = inputs_of(call.graph.plan.module)
    rows = list[NonFinite]()
    for row in found.rows:
        name = row.came_in or row.from_inf
        place = call.graph.pairs.get(names.index(name)) if name in names else None
        if place is not None:
            kinds = kinds_of(saved[place])
            upstream = _explained(forward, given, {kind: place for kind in KINDS if kind in kinds})
            rows += upstream.rows
        rows.append(row)
    return found._replace(rows=rows)
