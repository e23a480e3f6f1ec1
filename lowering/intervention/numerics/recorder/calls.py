"""The calls of one graph: what each was given, the flag that it raised or not, and the memory that this takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch.fx import Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, results_of
from inspect_compile.lowering.intervention.numerics.recorder.flags import Flag, Flags, is_looked_at
from inspect_compile.lowering.intervention.numerics.recorder.memory import CallInputs, Keeping, LostError, Room, Slot
from inspect_compile.lowering.intervention.numerics.values import Plan
from inspect_compile.torch_compat.runtime import STORAGE_REFERENCE

_Form = tuple[torch.dtype, tuple[int, ...], tuple[int, ...]]
_SAVED: Final = "SavedForBackwardsAOTOutput"
_NO_ROOM: Final = "the inputs of earlier calls take all the memory that --keep allows"
_reference: Any = STORAGE_REFERENCE.load()


class GraphCalls:
    """The calls of one graph."""

    def __init__(self, plan: Plan, code: Any, kind: str, room: Room) -> None:
        """`code` is that of `codegen.runtime.checked`; `kind`: forward, backward or inference."""
        self.plan = plan
        self.code = code
        self.kind = kind
        results = results_of(plan.module)
        described = plan.module.graph.output_node().meta.get("desc") or [None] * len(results)
        self.saved = [at for at, one in enumerate(described) if type(one).__name__ == _SAVED]
        """Results that only the backward gets."""
        looked_at = [
            at
            for at, one in enumerate(results)
            if at not in self.saved and isinstance(one, Node) and is_looked_at(one.meta.get("val"))
        ]
        self.flags = Flags(looked_at)
        self.looked_at = len(looked_at)
        self.forms: dict[int, _Form] = {}
        """What the saved results are like: in each call the same, if sizes are."""
        self.made_at: int | None = None
        """The first of them that is no input; None if there is none, or before the first call."""
        inputs = [node.meta.get("val") for node in plan.module.graph.find_nodes(op="placeholder")]
        self.is_fixed = not any(_has_symbols(value) for value in inputs)
        self.on_gpu = any(isinstance(value, torch.Tensor) and value.is_cuda for value in inputs)
        self.unkept = ""
        """Why nothing is kept of any call; empty if it is, or before the first call."""
        self._room = room
        self._keeping = Keeping(trains=kind == "forward", draws=bool(depends_on_random(plan.module)))
        self._slots: list[Slot] = []
        self._free: list[Slot] = []
        self._most_waiting = 1
        self._most_slots: int | None = None
        """So many and no more, as there is no room."""
        self.number = 0
        """Calls so far, those that nobody looks at too."""
        self.pairs: dict[int, int] = {}
        """Of a backward graph: position of an input → the result of the forward graph that it is."""

    @property
    def is_watched(self) -> bool:
        """True if a flag could rise, or a backward need one of its calls."""
        return bool(self.looked_at or self.saved)

    @property
    def kept_calls(self) -> int:
        """Of how many calls there is memory for."""
        return len(self._slots)

    @property
    def kept_bytes(self) -> int:
        """How much memory that is."""
        return sum(slot.bytes for slot in self._slots)

    def has_memory(self, waiting: int) -> bool:
        """True if there is memory for one more call, or some may be taken, while `waiting` calls wait for their
        backward: there may be twice as many as at most wait, so that a step can begin while the flags of the one before
        are on their way.
        """
        self._most_waiting = max(self._most_waiting, waiting + 1)
        most = 2 * self._most_waiting if self._most_slots is None else self._most_slots
        return bool(self._free) or len(self._slots) < most

    def keep(self, args: Sequence[Any], elsewhere: Mapping[int, Any]) -> CallInputs:
        """Keep what a call is about to be given, but for what is `elsewhere`. Raises LostError if there is no room."""
        if self._free:
            slot = self._free.pop()
        elif len(self._slots) == self._most_slots:
            raise LostError(_NO_ROOM)
        else:
            slot = Slot(self._room, is_fixed=self.is_fixed)
            self._slots.append(slot)
        try:
            return self._keeping.keep(args, slot, elsewhere)
        except LostError as error:
            self._drop(slot)
            self._most_slots = len(self._slots)
            if not self._slots:
                self.unkept = str(error)
            raise
        except BaseException:
            self._drop(slot)
            raise

    def give_back(self, kept: CallInputs) -> None:
        """The call will not be made again."""
        self._free.append(kept.slot)

    def clear(self) -> None:
        """Give all memory back."""
        for slot in list(self._slots):
            self._drop(slot)
        self._free.clear()

    def _drop(self, slot: Slot) -> None:
        slot.clear()
        self._slots.remove(slot)


@dataclass(eq=False)
class Call:
    """One call of a graph, whose flag has not been read or whose inputs may be needed."""

    graph: GraphCalls
    number: int
    step: int
    kept: CallInputs | None = None
    reason: str = ""
    """Why nothing is kept."""
    flag: Flag | None = None
    forward: "Call | None" = None
    """Of the backward: the call that it belongs to."""
    saved: dict[int, list[int]] = field(default_factory=dict)
    """Of a forward call: address → which of the results that it saved for its backward is there."""
    made: Any = None
    """A reference to memory that it made for its backward: once that is gone, no backward can follow."""
    waits: bool = False
    """Its backward may follow."""
    is_claimed: bool = False
    """Its backward was called, and the flag of that has not been read."""

    @property
    def is_done(self) -> bool:
        """True if it will not have to be made again."""
        return self.flag is None and not self.waits and not self.is_claimed

    def returned(self, results: Sequence[Any], given: frozenset[int]) -> None:
        """The call has returned; `given` are the addresses of its inputs, before the first call has returned."""
        graph = self.graph
        self.flag = graph.flags.of(results)
        is_known = graph.is_fixed and bool(graph.forms)
        for at in graph.saved:
            value = results[at]
            if isinstance(value, torch.Tensor) and value.numel():
                address = value.data_ptr()
                self.saved.setdefault(address, []).append(at)
                if not is_known:
                    graph.forms[at] = _form(value)
                    if graph.made_at is None and address not in given:
                        graph.made_at = at
        self.waits = bool(self.saved)
        if graph.made_at is not None:
            self.made = _reference(results[graph.made_at].untyped_storage())

    def can_have_backward(self) -> bool:
        """False once what it saved is gone."""
        return self.made is None or not self.made.expired()

    def pairs(self, args: Sequence[Any]) -> dict[int, int]:
        """Which inputs of a backward graph are which results of this call."""
        found = {}
        for at, value in enumerate(args):
            if isinstance(value, torch.Tensor) and value.numel():
                form = _form(value)
                for place in self.saved.get(value.data_ptr(), ()):
                    if self.graph.forms[place] == form:
                        found[at] = place
                        break
        return found


def addresses(args: Sequence[Any]) -> frozenset[int]:
    """Where the tensors among these are."""
    return frozenset(one.data_ptr() for one in args if isinstance(one, torch.Tensor))


def _form(value: torch.Tensor) -> _Form:
    return value.dtype, tuple(value.shape), tuple(value.stride())


def _has_symbols(value: Any) -> bool:
    """True for an input whose size is not the same in each call."""
    sizes = [*value.shape, *value.stride()] if isinstance(value, torch.Tensor) else [value]
    return any(isinstance(one, torch.SymInt) for one in sizes)
