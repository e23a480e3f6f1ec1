"""One more forced call, which keeps what certain launches are given right before they run, and judges nothing."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

import msgspec
import torch

from inspect_compile.dump import paths
from inspect_compile.facts import Checked, KeptInputs
from inspect_compile.lowering.intervention.numerics.buffers import Launch
from inspect_compile.lowering.intervention.numerics.elements import is_equal
from inspect_compile.lowering.intervention.numerics.forced import Forced, Given, value_in
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.kept.drawn import NotDrawnError, drawn
from inspect_compile.lowering.intervention.numerics.kept.room import Room, bare, memories, tensors_of
from inspect_compile.lowering.intervention.numerics.kept.source import NotPlainError, functions
from inspect_compile.lowering.intervention.numerics.values import Plan

_NUMBERS: Final = (int, float, bool)
_STREAM: Final = "stream"
"""What the names of streams begin with, whose values are addresses."""


class KeepingLaunches(Forced):
    """The state of that call."""

    def __init__(
        self,
        plan: Plan,
        aliases: dict[str, str],
        plain: Reference,
        number: int,
        wanted: Iterable[Checked],
        room: Room,
        constant: Callable[[str], Any],
    ) -> None:
        """`wanted` are wrong results, of another launch each; `constant` gives the value of a global variable of the
        generated module.
        """
        super().__init__(plan, aliases, plain, number, _NoJudge(), lambda row: None)
        self._wanted = {row.line: row for row in wanted}
        self._room = room
        self._constant = constant
        self._seen: dict[str, Any] = {}
        """Buffer → its value after the launch."""
        self.kept: list[KeptInputs] = []

    def before(self, launch: Launch, local: dict[str, Any]) -> Given | None:
        """See `Forced`."""
        state = super().before(launch, local)
        row = self._row_of(launch)
        if state is not None and row is not None:
            with self._guarded(launch):
                self.kept.append(self._stored(row, launch, local, state))
        return state

    def after(self, launch: Launch, state: Given | None, local: dict[str, Any]) -> None:
        """See `Forced`."""
        self._seen.clear()
        super().after(launch, state, local)
        row = self._row_of(launch)
        if row is not None:
            del self._wanted[launch.line]
        if row is None or not self.kept or self.kept[-1].line != launch.line or not self.kept[-1].file:
            return
        with self._guarded(launch):
            result = _expression(
                self._seen.get(row.buffer), {row.buffer: local.get(row.buffer), **_named(launch, local)}
            )
            self.kept[-1] = msgspec.structs.replace(self.kept[-1], result=result)

    def _row_of(self, launch: Launch) -> Checked | None:
        """The wrong result of this launch, if it is wanted."""
        row = self._wanted.get(launch.line)
        return row if row is not None and row.turn == self.turn.number else None

    def _judge_result(self, row: Checked, tensor: Any, node: str, sources: Collection[str]) -> None:
        self._seen[row.buffer] = tensor

    def _stored(self, row: Checked, launch: Launch, local: dict[str, Any], state: Given) -> KeptInputs:
        """Keep what the launch is given, and what its reference is computed from."""
        values = _named(launch, local)
        values |= {name: found for name in launch.names if torch.is_tensor(found := self._constant(name))}
        variables = {name: bare(value) for name, value in values.items() if _can_keep(name, value)}
        new = {name for name in state.written if not self.buffers.works_in_place(name)}
        empty = {name: _layout(variables[name]) for name in _alone(variables, new)}
        content: dict[str, Any] = {
            "variables": {name: value for name, value in variables.items() if name not in empty},
            "empty": empty,
        }
        kept = KeptInputs(
            graph=row.graph,
            call=row.call,
            index=row.index,
            kernel=row.kernel,
            line=row.line,
            buffer=row.buffer,
            node=row.node,
            variables=tuple(variables),
        )
        plan, plain = self.turn.plan, self.turn.plain
        node = plan.nodes.get(row.buffer, row.node) if row.is_step else row.node
        try:
            _, is_whole = value_in(plan, plain, row.buffer, node)
            if not is_whole:
                raise NotPlainError(f"it is not just the value of {row.node}")
            if row.is_step:
                raise NotPlainError(f"it is a step of the lowering of {row.node}")
            given = self._given(launch, local, state.sources - {node})
            made = functions(plan.module, plain, given, node)
            content["arguments"] = [bare(one) for one in made.arguments.values()]
            kept = msgspec.structs.replace(kept, reference=made.reference, exact=made.exact)
        except NotPlainError as error:
            content["eager"] = bare(value_in(plan, plain, row.buffer, node)[0])
            kept = msgspec.structs.replace(kept, no_reference=str(error))
        file, size, reason = self._room.store(paths.inputs_file(row.graph, row.call, row.line), content)
        try:
            kept = msgspec.structs.replace(kept, drawn=drawn(content))
        except NotDrawnError as error:
            kept = msgspec.structs.replace(kept, not_drawn=str(error))
        return msgspec.structs.replace(kept, file=file, bytes=size, reason=reason)

    def _is_input(self, name: str, tensor: Any) -> bool:
        """True if the variable has the graph's input of its name."""
        value = self.turn.plain.values.get(name)
        if not isinstance(tensor, torch.Tensor) or not isinstance(value, torch.Tensor):
            return False
        return tensor.shape == value.shape and tensor.dtype == value.dtype and is_equal(tensor, value)

    def _given(self, launch: Launch, local: dict[str, Any], sources: Collection[str]) -> dict[str, Any]:
        """FX nodes whose values are in the memory that the launch reads → that memory; those that steps in there are
        computed from → their values.
        """
        found: dict[str, Any] = {
            name: value for name in sources if torch.is_tensor(value := self.turn.plain.values.get(name))
        }
        for name in launch.names:
            source = self.buffers.source(name)
            node = self.buffers.nodes[source] if source is not None else name
            if source is not None and node in sources:
                found[node] = self.buffers.memory(source, local[name])
            elif source is None and self._is_input(name, local.get(name)):
                found[name] = local[name]
        return {node: value for node, value in found.items() if value is not None}


class _NoJudge:
    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        return row

    def next_launch(self, nodes: Collection[str]) -> None:
        return


def _named(launch: Launch, local: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the names in the launching statement, as far as they are local variables."""
    return {name: local[name] for name in launch.names if name in local}


def _can_keep(name: str, value: Any) -> bool:
    if name.startswith(_STREAM):
        return False
    return torch.is_tensor(value) or type(value) in _NUMBERS or (type(value) in (list, tuple) and bool(value))


def _alone(variables: Mapping[str, Any], new: Collection[str]) -> list[str]:
    """Variables of the names `new` that share no memory with another one: they are only written."""
    found = []
    for name in new:
        value = variables.get(name)
        others = tensors_of({other: one for other, one in variables.items() if other != name})
        if torch.is_tensor(value) and not value.storage_offset() and not memories([value]) & memories(others):
            found.append(name)
    return found


def _layout(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.device


def _expression(wanted: Any, variables: Mapping[str, Any]) -> str:
    """What gives the tensor `wanted`; empty if none of the variables has its memory."""
    if not isinstance(wanted, torch.Tensor):
        return ""
    waiting = list(variables.items())
    while waiting:
        name, value = waiting.pop(0)
        if isinstance(value, (list, tuple)):
            waiting += [(f"{name}[{at}]", one) for at, one in enumerate(value)]
        elif (
            isinstance(value, torch.Tensor) and memories([value]) == memories([wanted]) and value.dtype == wanted.dtype
        ):
            own, other = ((tuple(one.shape), one.stride(), one.storage_offset()) for one in (value, wanted))
            return name if own == other else f"torch.as_strided({name}, {other[0]}, {other[1]}, {other[2]})"
    return ""
