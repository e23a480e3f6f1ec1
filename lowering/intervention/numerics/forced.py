"""One forced call: each launch gets the reference's values as inputs, and what it writes is judged."""

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec
import torch

from inspect_compile.facts import Checked
from inspect_compile.lowering.intervention.numerics.buffers import Buffers, Launch
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.values import Plan, in_form_of_buffer
from inspect_compile.probe import let_pass


class Judge(Protocol):
    """Says of one result of a launch how good it is."""

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """`row` with what was found; `value` is that of `node`, computed from the values of the nodes `sources`."""

    def next_launch(self) -> None:
        """The results that follow are those of another launch."""


class Given(NamedTuple):
    """What one launch was prepared for."""

    written: list[str]
    """Variables of buffers that it writes first."""
    sources: set[str]
    """FX nodes whose values were put into its inputs."""
    unforced: tuple[str, ...]
    """Inputs that kept what the compiled code had written."""
    finished: list[str]
    """Variables of buffers whose last part it writes."""


class Forced:
    """The state of one forced call. Its methods never raise: what goes wrong is in `trouble`."""

    def __init__(
        self,
        plan: Plan,
        aliases: dict[str, str],
        plain: Reference,
        number: int,
        judge: Judge,
        tell: Callable[[Checked], None],
    ) -> None:
        """`plain` has the reference's values, `aliases` are those of the generated code."""
        self._plan = plan
        self._plain = plain
        self._number = number
        self._judge = judge
        self._tell = tell
        self.buffers = Buffers(plan, aliases)
        """Which buffer is in which variable."""
        self._last: dict[str, tuple[Launch, tuple[str, ...]]] = {}
        """Buffer that is written in parts → the launch that wrote the latest, with its unforced inputs."""
        self._sources: dict[str, set[str]] = {}
        """The same → the FX nodes whose values these launches read."""
        self.launches = 0
        self.trouble = ""

    def before(self, launch: Launch, local: dict[str, Any]) -> Given | None:
        """Put the reference's values into the launch's inputs, and NaN into what it has to write."""
        with self._guarded(launch):
            self.launches += 1
            if launch.graph != self._plan.graph:
                return None
            buffers = self.buffers
            buffers.begin(launch)
            written = [name for name in launch.names if buffers.is_written(name)]
            sources, unforced, finished = set[str](), list[str](), list[str]()
            for name in launch.names:
                tensor = local.get(name)
                if name in self._plan.assembled and name not in buffers.nodes and isinstance(tensor, torch.Tensor):
                    # What writes a part of it, and reads it, is the last that does.
                    if any(name in buffers.chain(one)[1:] for one in written):
                        finished.append(name)
                        buffers.put(name, buffers.seen(name, tensor), self._plan.nodes.get(name, ""))
                    else:
                        self._assembled(name, tensor)
                source = buffers.source(name)
                if source is None:
                    continue
                if self._force(tensor, source):
                    sources.add(buffers.nodes[source])
                else:
                    unforced.append(source)
            for name in written:
                tensor = local.get(name)
                if isinstance(tensor, torch.Tensor) and not buffers.works_in_place(name):
                    _spoil(tensor)
            return Given(written, sources, tuple(unforced), finished)
        return None

    def after(self, launch: Launch, state: Given | None, local: dict[str, Any]) -> None:
        """Judge what the launch wrote."""
        with self._guarded(launch):
            self._judge.next_launch()
            if state is None:
                row = self._row(launch, (), "")
                reason = "it belongs to a nested graph" if launch.graph != self._plan.graph else self.trouble
                self._tell(with_fields(row, reason=reason))
                return
            written, sources, unforced, finished = state
            for name, tensor, node in list(self.buffers.results(launch, written, local)):
                self.buffers.put(name, tensor, node)
                for whole in self.buffers.chain(name)[1:]:
                    if whole in self._plan.assembled:
                        self._last[whole] = launch, unforced
                        self._sources.setdefault(whole, set()).update(sources)
                self._judge_result(self._row(launch, unforced, name), tensor, node, sources)
            for name in finished:
                seen, node = self.buffers.seen(name, local.get(name)), self._plan.nodes.get(name, "")
                self._judge_result(self._row(launch, unforced, name), seen, node, sources)

    def _force(self, tensor: Any, source: str) -> bool:
        """Overwrite the value of the buffer `source`, which is in the memory of `tensor`, by the reference's."""
        node = self.buffers.nodes[source]
        value, _ = value_in(self._plan, self._plain, source, node)
        if not isinstance(tensor, torch.Tensor) or not isinstance(value, torch.Tensor) or node in self._plain.unknown:
            return False
        memory = self.buffers.memory(source, tensor)
        if memory is None:
            return False
        value = in_form_of_buffer(value, memory)
        if value.dtype != memory.dtype or value.shape != memory.shape:
            return False
        memory.copy_(value)
        return True

    def _assembled(self, name: str, tensor: torch.Tensor) -> None:
        """Judge a buffer whose parts were written one by one, before anything reads it."""
        node = self._plan.nodes.get(name, "")
        seen = self.buffers.seen(name, tensor)
        launch = self._last.get(name)
        if launch is not None:
            self._judge.next_launch()
            self._judge_result(self._row(*launch, name), seen, node, self._sources.get(name, set()))
        self.buffers.put(name, seen, node)

    def _judge_result(self, row: Checked, tensor: Any, node: str, sources: Collection[str]) -> None:
        self._tell(self._judge.judged(row, tensor, node, frozenset(sources) - {node}))

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


def value_in(plan: Plan, plain: Reference, buffer: str, node: str) -> tuple[Any, bool]:
    """What a buffer must hold if that is the value of `node`; and whether it is just that value. It is not if the node
    changed a part of the buffer through a view.
    """
    value = plain.values.get(node)
    whole = plain.after.get((node, plan.nodes.get(buffer, buffer)))
    if whole is None or not isinstance(value, torch.Tensor) or whole.shape == value.shape:
        return value, True
    return whole, False


def with_fields(row: Checked, **fields: Any) -> Checked:
    """`row` with other values in these fields."""
    return msgspec.structs.replace(row, **fields)


def _spoil(tensor: torch.Tensor) -> None:
    """Make it visible if an element is not written."""
    if tensor.is_floating_point() or tensor.is_complex():
        tensor.fill_(float("nan"))
    elif tensor.dtype is torch.bool:
        tensor.logical_not_()
    else:
        tensor.fill_(torch.iinfo(tensor.dtype).max)
