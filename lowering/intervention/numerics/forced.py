"""One forced call: each launch gets the reference's values as inputs, and what it writes is compared."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import msgspec
import torch

from inspect_compile.facts import Checked
from inspect_compile.lowering.intervention.numerics.errors import measured
from inspect_compile.lowering.intervention.numerics.reference import Exact, Reference
from inspect_compile.lowering.intervention.numerics.values import Plan
from inspect_compile.probe import let_pass

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


class Forced:
    """The state of one forced call. Its methods never raise: what goes wrong is in `trouble`."""

    def __init__(
        self,
        plan: Plan,
        aliases: dict[str, str],
        plain: Reference,
        number: int,
        tell: Callable[[Checked], None],
    ) -> None:
        """`plain` has the reference's values, `aliases` are those of the generated code."""
        self._plan = plan
        self._aliases = aliases
        self._plain = plain
        self._unknown = plain.unknown
        self._number = number
        self._tell = tell
        self._holds: dict[str, str] = {}
        """Buffers written so far, or changed inputs, and the FX node whose value each has; empty if none has."""
        self._layouts: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {}
        """Size, stride and offset of each of them."""
        self._last: dict[str, tuple[Launch, tuple[str, ...]]] = {}
        """Buffer that is written in parts → the launch that wrote the latest, with its unforced inputs."""
        self._leaves: dict[str, set[str]] = {}
        """The same → the FX nodes whose values these launches read."""
        self.launches = 0
        self.trouble = ""

    def before(self, launch: Launch, local: dict[str, Any]) -> Any:
        """Put the reference's values into the launch's inputs, and NaN into what it has to write."""
        with self._guarded(launch):
            self.launches += 1
            if launch.graph != self._plan.graph:
                return None
            written = [name for name in launch.names if self._is_written(name)]
            leaves, unforced = set[str](), list[str]()
            for name in launch.names:
                tensor = local.get(name)
                if name in self._plan.assembled and name not in self._holds and isinstance(tensor, torch.Tensor):
                    self._assembled(name, tensor)
                source = self._source(launch, name) if name in written else self._held(name)
                if source is None:
                    continue
                if self._force(tensor, source):
                    leaves.add(self._holds[source])
                else:
                    unforced.append(source)
            for name in written:
                tensor = local.get(name)
                if isinstance(tensor, torch.Tensor) and not self._reads_memory(launch, name):
                    _spoil(tensor)
            return written, leaves, tuple(unforced)
        return None

    def after(self, launch: Launch, state: Any, local: dict[str, Any]) -> None:
        """Compare what the launch wrote."""
        with self._guarded(launch):
            if state is None:
                row = self._row(launch, (), "")
                reason = "it belongs to a nested graph" if launch.graph != self._plan.graph else self.trouble
                self._tell(_with(row, reason=reason))
                return
            written, leaves, unforced = state
            changed = dict(self._changed(launch, local))
            results = [found for found in self._results(written, local) if found[0] not in changed]
            for name, tensor, node in [*results, *((name, *found) for name, found in changed.items())]:
                tensor = self._seen(name, tensor)
                self._written(name, tensor, node)
                row = self._row(launch, unforced, name)
                for whole in self._chain(name)[1:]:
                    if whole in self._plan.assembled:
                        self._last[whole] = launch, unforced
                        self._leaves.setdefault(whole, set()).update(leaves)
                self._tell(self._compared(row, tensor, node, leaves))

    def _results(self, written: list[str], local: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
        """The buffers that a launch wrote: name, tensor, FX node."""
        for name in written:
            value = local.get(name)
            if name not in self._plan.parts:
                yield name, value, self._plan.nodes.get(name, "")
                continue
            self._holds[name] = ""
            for part, path in self._plan.parts[name]:
                element: Any = value
                for index in path:
                    element = element[index]
                yield part, element, self._plan.nodes.get(part, "")

    def _changed(self, launch: Launch, local: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, str]]]:
        """What it changed in place: name; tensor, FX node. Of several changes of one buffer the last one comes last."""
        for operation in sorted(launch.operations, key=self._plan.order):
            for name, node in self._plan.mutates.get(operation, {}).items():
                here = next((one for one in launch.names if name in self._chain(one)), None)
                if here is not None:
                    yield name, (local.get(here), node)

    def _value(self, name: str, node: str) -> tuple[Any, bool]:
        """What the buffer `name` must hold if that is the value of `node`; and whether it is just that value. It is
        not if the node changed a part of the buffer through a view.
        """
        value = self._plain.values.get(node)
        whole = self._plain.after.get((node, self._plan.nodes.get(name, name)))
        if whole is None or not isinstance(value, torch.Tensor) or whole.shape == value.shape:
            return value, True
        return whole, False

    def _is_written(self, name: str) -> bool:
        """True if nothing has written this buffer yet: what names it first writes it."""
        plan = self._plan
        return name in plan.written_by and name not in {*self._holds, *plan.assembled, *plan.is_part}

    def _chain(self, name: str) -> list[str]:
        """The variable, and those whose memory it has, each of which had it from the next."""
        found = [name]
        while found[-1] in self._aliases and len(found) < _DEEPEST:
            found.append(self._aliases[found[-1]])
        return found

    def _held(self, name: str) -> str | None:
        """The buffer or changed input whose value the memory of `name` has; None if nothing known is in it."""
        return next((one for one in self._chain(name) if one in self._holds), None)

    def _inputs(self, launch: Launch, name: str) -> list[str]:
        """The earlier owners of the memory of `name` that the launch reads: it works in place."""
        own, plan = set(launch.operations), self._plan
        return [
            one
            for one in self._chain(name)[1:]
            if plan.written_by.get(one) not in own and any(one in plan.reads.get(each, ()) for each in own)
        ]

    def _source(self, launch: Launch, name: str) -> str | None:
        return next((one for one in self._inputs(launch, name) if one in self._holds), None)

    def _reads_memory(self, launch: Launch, name: str) -> bool:
        return bool(self._inputs(launch, name))

    def _force(self, tensor: Any, source: str) -> bool:
        """Overwrite the value of the buffer `source`, which is in the memory of `tensor`, by the reference's."""
        node = self._holds[source]
        layout = self._layouts.get(source)
        value, _ = self._value(source, node)
        if layout is None or not isinstance(tensor, torch.Tensor) or not isinstance(value, torch.Tensor):
            return False
        if node in self._unknown or value.dtype != tensor.dtype or tuple(value.shape) != layout[0]:
            return False
        torch.as_strided(tensor, *layout).copy_(value)
        return True

    def _assembled(self, name: str, tensor: torch.Tensor) -> None:
        """Compare a buffer whose parts were written one by one, before anything reads it."""
        node = self._plan.nodes.get(name, "")
        tensor = self._seen(name, tensor)
        launch = self._last.get(name)
        if launch is not None:
            self._tell(self._compared(self._row(*launch, name), tensor, node, self._leaves.get(name, set())))
        self._written(name, tensor, node)

    def _seen(self, name: str, tensor: Any) -> Any:
        """A buffer in the shape of its node's value."""
        view = self._plan.views.get(name)
        if view is None or not isinstance(tensor, torch.Tensor):
            return tensor
        return torch.as_strided(tensor, view.size, view.stride, int(tensor.storage_offset()) + view.offset)

    def _written(self, name: str, tensor: Any, node: str) -> None:
        self._holds[name] = node
        if isinstance(tensor, torch.Tensor):
            self._layouts[name] = tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset())

    def _compared(self, row: Checked, tensor: Any, node: str, leaves: set[str]) -> Checked:
        if not node:
            made = self._plan.makers.get(row.buffer, "")
            return _with(row, reason=f"a step of the lowering of {made}" if made else "no FX node has its value")
        row = _with(row, node=node)
        value, is_whole = self._value(row.buffer, node)
        if not isinstance(tensor, torch.Tensor) or not isinstance(value, torch.Tensor):
            return _with(row, reason="it is no tensor")
        row = _with(row, dtype=str(tensor.dtype).removeprefix("torch."), size=tuple(tensor.shape))
        if node in self._unknown:
            return _with(row, reason=self._unknown[node])
        if tensor.shape != value.shape or tensor.dtype != value.dtype:
            kind = f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
            return _with(row, reason=f"{node} is {kind}, which is not what the buffer is")
        sources = leaves - {node}
        if not is_whole:
            row = _with(row, no_exact=f"{node} changes a part of it")
            return _with(row, **measured(tensor, value, _wide(value), lambda seed: _wide(value)))
        exact = Exact(self._plan.module, self._plain)
        (ideal,) = exact.compute([node], sources).values()
        if why := exact.taken.get(node):
            row = _with(row, no_exact=why)

        def noisy(seed: int) -> torch.Tensor:
            found: torch.Tensor = Exact(self._plan.module, self._plain, noise=seed).compute([node], sources)[node]
            return found

        return _with(row, **measured(tensor, value, ideal, noisy))

    def _row(self, launch: Launch, unforced: tuple[str, ...], buffer: str) -> Checked:
        return Checked(
            graph=launch.graph,
            call=self._number,
            index=self.launches - 1,
            kernel=launch.kernel,
            line=launch.line,
            buffer=buffer,
            unforced=unforced,
        )

    @contextlib.contextmanager
    def _guarded(self, launch: Launch) -> Iterator[None]:
        try:
            with torch.no_grad():
                yield
        except Exception as error:
            let_pass(error)
            self.trouble = f"{launch.kernel}: {type(error).__name__}: {error}"[:300]


def _with(row: Checked, **fields: Any) -> Checked:
    return msgspec.structs.replace(row, **fields)


def _wide(value: torch.Tensor) -> torch.Tensor:
    return value.double() if value.is_floating_point() else value


def _spoil(tensor: torch.Tensor) -> None:
    """Make it visible if an element is not written."""
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.fill_(float("nan"))
    elif tensor.dtype is torch.bool:
        tensor.logical_not_()
    else:
        tensor.fill_(torch.iinfo(tensor.dtype).max)
