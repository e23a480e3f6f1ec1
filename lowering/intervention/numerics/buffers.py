"""Which buffer is in the memory of which variable of the generated code, while a call of it runs launch by launch."""

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import torch

from inspect_compile.lowering.intervention.numerics.graphs.shared import changed_inputs
from inspect_compile.lowering.intervention.numerics.values import Plan

_DEEPEST: Final = 100
"""Maximum number of variables that had one memory after each other."""


class Launch(Protocol):
    """A launching statement, as `codegen.runtime.checked` finds it."""

    @property
    def graph(self) -> str:
        """The graph, which may be nested."""

    @property
    def kernel(self) -> str:
        """The kernel's name."""

    @property
    def line(self) -> int:
        """Line number in output_code.py."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the statement."""

    @property
    def operations(self) -> tuple[str, ...]:
        """All operations of the kernel."""


class Buffers:
    """The buffers of one call of a graph, as far as launches have written them."""

    def __init__(self, plan: Plan, aliases: dict[str, str]) -> None:
        """`aliases`: variable → the variable whose memory it has."""
        self._plan = plan
        self._aliases = aliases
        self.nodes: dict[str, str] = {}
        """Buffers written so far, or changed inputs, and the FX node whose value each has; empty if none has."""
        self._layouts: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {}
        """Size, stride and offset of each of them."""
        self._own: set[str] = set()
        """The operations that the launch runs which was begun last."""
        self._ran: set[str] = set()
        """Those of earlier launches."""
        self._open: set[str] = set()
        """Buffers that are written in parts, of which no launch has read the whole yet."""

    def begin(self, launch: Launch) -> None:
        """This launch is next. Of the operations of its kernel, which may have other launches, it runs those that write
        a buffer which it names, and those within the kernel that these need.
        """
        plan = self._plan
        self._ran |= self._own
        self._open = {name for name in plan.assembled if name not in self.nodes}
        open_ = set(launch.operations) - self._ran
        named = {one for name in launch.names for one in self.chain(name)}
        written = {operation for name in launch.names if (operation := plan.written_by.get(name)) in open_}
        changing = {operation for operation in open_ if named.intersection(plan.mutates.get(operation, ()))}
        self._own, waiting = set[str](), [*written, *changing]
        while waiting:
            operation = waiting.pop()
            if operation not in self._own:
                self._own.add(operation)
                makers = (plan.written_by.get(name) for name in plan.reads.get(operation, ()))
                waiting += [maker for maker in makers if maker in open_]

    def is_written(self, name: str) -> bool:
        """True if nothing has written this buffer yet: what names it first writes it. Memory that is given as it is may
        have been filled by a nested graph.
        """
        plan = self._plan
        if plan.nodes.get(name) in plan.uninitialized:
            return False
        return name in plan.written_by and name not in {*self.nodes, *plan.assembled, *plan.is_part}

    def chain(self, name: str) -> list[str]:
        """The variable, and those whose memory it has, each of which had it from the next."""
        found = [name]
        while found[-1] in self._aliases and len(found) < _DEEPEST:
            found.append(self._aliases[found[-1]])
        return found

    def parts(self, name: str) -> set[str]:
        """The buffers that are parts of this one's memory."""
        return {one for one in self._plan.is_part if name in self.chain(one)[1:]}

    def source(self, name: str) -> str | None:
        """The buffer, or changed input, whose value the launch reads from `name`; None if it reads nothing known."""
        if not self.is_written(name):
            return next((one for one in self.chain(name) if one in self.nodes), None)
        return next((one for one in self._earlier(name) if one in self.nodes), None)

    def works_in_place(self, name: str) -> bool:
        """True if the launch writes `name` where it reads another buffer."""
        return bool(self._earlier(name))

    def is_changed(self, name: str) -> bool:
        """True if the launch changes this buffer in place, and does not write it before."""
        plan = self._plan
        maker = plan.written_by.get(name)
        if maker in self._own and name not in plan.mutates.get(maker, ()):
            return False
        return any(name in plan.mutates.get(operation, ()) for operation in self._own)

    def _earlier(self, name: str) -> list[str]:
        """The earlier owners of the memory of `name` that the launch reads. What it is a part of is none of them."""
        own, plan = self._own, self._plan
        return [
            one
            for one in self.chain(name)[1:]
            if one not in self._open
            and plan.written_by.get(one) not in own
            and any(one in plan.reads.get(each, ()) for each in own)
        ]

    def put(self, name: str, tensor: Any, node: str) -> None:
        """The buffer has been written, with the value of `node`."""
        self.nodes[name] = node
        if isinstance(tensor, torch.Tensor):
            self._layouts[name] = tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset())

    def memory(self, name: str, tensor: torch.Tensor) -> torch.Tensor | None:
        """A buffer that was written before, in the memory of `tensor`; None if it was no tensor."""
        layout = self._layouts.get(name)
        return None if layout is None else torch.as_strided(tensor, *layout)

    def seen(self, name: str, tensor: Any) -> Any:
        """A buffer in the shape of its node's value."""
        view = self._plan.views.get(name)
        if view is None or not isinstance(tensor, torch.Tensor):
            return tensor
        return torch.as_strided(tensor, view.size, view.stride, int(tensor.storage_offset()) + view.offset)

    def results(self, launch: Launch, written: list[str], local: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
        """What a launch wrote, `written` being new: buffer, its value, FX node. Of several changes of one buffer the
        last one comes last.
        """
        changed = dict(self._changed(launch, local))
        for name, value, node in self._new(written, local):
            if name not in changed:
                yield name, self.seen(name, value), node
        for name, (value, node) in changed.items():
            yield name, self.seen(name, value), node

    def _new(self, written: list[str], local: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
        for name in written:
            value = local.get(name)
            if name not in self._plan.parts:
                yield (name, *self._held(name, value))
                continue
            self.nodes[name] = ""
            for part, path in self._plan.parts[name]:
                if part not in self._plan.nodes:  # no node reads it
                    continue
                element: Any = value
                for index in path:
                    element = element[index]
                yield part, element, self._plan.nodes.get(part, "")

    def _held(self, name: str, value: Any) -> tuple[Any, str]:
        """What is in the memory of a buffer after the launch that writes it, and the FX node whose value that is."""
        plan = self._plan
        held = next((one for one in self.chain(name) if one not in plan.dropped), name)
        if held != name and isinstance(value, torch.Tensor):
            seen = self.memory(held, value)
            value = value if seen is None else seen
        return value, plan.nodes.get(held, "")

    def _changed(self, launch: Launch, local: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, str]]]:
        """What it changed in place."""
        for operation in sorted(self._own, key=self._plan.order):
            for name, node in self._plan.mutates.get(operation, {}).items():
                here = next((one for one in launch.names if name in self.chain(one)), None)
                if here is not None:
                    yield name, (local.get(here), node)


def written_inputs(plan: Plan, chain: Callable[[str], list[str]]) -> set[int] | None:
    """Positions of the inputs whose memory launches write, because the graph changes them, or to have it for a buffer;
    None if it is not known which. `chain`: see `Buffers`.
    """
    changed = changed_inputs(plan.module)
    if changed is None or plan.nested:
        return None
    written = {one for changes in plan.mutates.values() for one in changes}
    written |= {one for buffer in plan.written_by for one in chain(buffer)}
    return changed | {at for at, name in enumerate(plan.inputs) if name in written}
