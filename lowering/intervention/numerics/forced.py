"""One forced call: each launch gets the reference's values as inputs, and what it writes is judged."""

import contextlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import torch

from inspect_compile.facts import Checked
from inspect_compile.lowering.intervention.numerics.buffers import Buffers, Launch
from inspect_compile.lowering.intervention.numerics.graphs.offload import Returned, Values
from inspect_compile.lowering.intervention.numerics.graphs.reference import TURNS, Reference, arrived
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.values import Plan, in_form_of_buffer
from inspect_compile.probe import let_pass

_NOT_KNOWN: Final = "it belongs to a nested graph that is not known"
_NOT_REACHED: Final = "it belongs to a nested graph that the reference does not reach, because it takes another branch"
_LATER: Final = f"it belongs to a nested graph that ran {TURNS} times before in the call"


class Judge(Protocol):
    """Says of one result of a launch how good it is."""

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """`row` with what was found; `value` is that of `node`, computed from the values of the nodes `sources`."""

    def next_launch(self, nodes: Collection[str]) -> None:
        """The results that follow are those of another launch, with the values of these nodes."""


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


@dataclass
class _Turn:
    """One time that a graph runs: the graph of the call, or one that is nested in it."""

    plan: Plan
    plain: Reference
    buffers: Buffers
    number: int
    """Which time, from 1; 0 for the graph of the call."""
    line: int = 0
    """Line number of the latest launch. A nested graph has no loop of its own: an earlier line is another turn."""
    writers: dict[str, str] = field(default_factory=dict)
    """Buffer → the kernel that wrote it last."""
    last: dict[str, tuple[Launch, tuple[str, ...]]] = field(default_factory=dict)
    """Buffer that is written in parts → the launch that wrote the latest, with its unforced inputs."""
    sources: dict[str, set[str]] = field(default_factory=dict)
    """The same → the FX nodes whose values these launches read."""


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
        passed: Callable[[Launch], None] | None = None,
    ) -> None:
        """`plain` has the reference's values, `aliases` are those of the generated code. `passed` is told of each
        launch once what it wrote has been judged.
        """
        self._aliases = aliases
        self._number = number
        self._judge = judge
        self._tell = tell
        self._passed = passed
        self._plans = {each.graph: each for each in plan.all_graphs()}
        self._nested = plain.nested
        self._is_collective = plan.has_collectives
        self.turn = _Turn(plan, plain, Buffers(plan, aliases), 0)
        """That of the launch which was begun last."""
        self._turns = {plan.graph: self.turn}
        """Graph → the latest time that it ran."""
        self.launches = 0
        self.left = Left((), ())
        """What the call left behind."""
        self.trouble = ""
        self._unknown = ""
        """Why the results of the launch that was begun last are not compared; empty if they are."""

    @property
    def buffers(self) -> Buffers:
        """Which buffer is in which variable."""
        return self.turn.buffers

    def before(self, launch: Launch, local: dict[str, Any]) -> Given | None:
        """Put the reference's values into the launch's inputs, and NaN into what it has to write."""
        with self._guarded(launch):
            self.launches += 1
            self._unknown = ""
            self._unknown = self._enter(launch, local)
            if self._unknown:
                return None
            buffers, plan = self.buffers, self.turn.plan
            buffers.begin(launch)
            self._results_of_nested(launch, local)
            written = [name for name in launch.names if buffers.is_written(name)]
            sources, unforced, finished = set[str](), list[str](), list[str]()
            for name in launch.names:
                tensor = local.get(name)
                if name in plan.assembled and name not in buffers.nodes and isinstance(tensor, torch.Tensor):
                    # What writes a part of it, and reads it, is the last that does.
                    if any(name in buffers.chain(one)[1:] for one in written):
                        finished.append(name)
                        buffers.put(name, buffers.seen(name, tensor), plan.nodes.get(name, ""))
                    else:
                        self._assembled(name, tensor)
                source = buffers.source(name)
                if source is None:
                    continue
                if not self._force(tensor, source):
                    unforced.append(source)
                elif source not in finished or not buffers.parts(source) <= set(written):
                    node = buffers.nodes[source]
                    sources |= {node, *plan.steps.get(node, ())}
                # else it writes all that it reads there
            for name in written:
                tensor = local.get(name)
                if not isinstance(tensor, torch.Tensor) or buffers.works_in_place(name):
                    continue
                if buffers.is_changed(name):  # by a Triton kernel of the program, which may leave elements as they are
                    buffers.put(name, tensor, plan.nodes.get(name, ""))
                    self._force(tensor, name)
                else:
                    _spoil(tensor)
            return Given(written, sources, tuple(unforced), finished)
        return None

    def after(self, launch: Launch, state: Given | None, local: dict[str, Any]) -> None:
        """Judge what the launch wrote."""
        if self._is_collective:  # one that is under way would write over what the next launch is given
            with self._guarded(launch):
                for name in launch.names:
                    arrived(local.get(name))
        self._judge_all(launch, state, local)
        if self._passed is not None:
            with self._guarded(launch):
                self._passed(launch)

    def _judge_all(self, launch: Launch, state: Given | None, local: dict[str, Any]) -> None:
        with self._guarded(launch):
            if state is None:
                row = self._row(launch, (), "")
                self._tell(with_fields(row, reason=self._unknown or self.trouble))
                return
            written, sources, unforced, finished = state
            plan, turn = self.turn.plan, self.turn
            results = list(self.buffers.results(launch, written, local))
            wholes = [plan.nodes.get(name, "") for name in finished]
            self._judge.next_launch({*(node for _, _, node in results), *wholes})
            for name, tensor, node in results:
                self.buffers.put(name, tensor, node)
                turn.writers[name] = launch.kernel
                for whole in self.buffers.chain(name)[1:]:
                    if whole in plan.assembled:
                        turn.last[whole] = launch, unforced
                        turn.sources.setdefault(whole, set()).update(sources)
                self._judge_result(self._row(launch, unforced, name), tensor, node, sources)
            for name, node in zip(finished, wholes, strict=True):
                seen = self.buffers.seen(name, local.get(name))
                self._judge_result(self._row(launch, unforced, name), seen, node, sources)

    def _enter(self, launch: Launch, local: dict[str, Any]) -> str:
        """Go on with the graph that the launch belongs to. Returns why it is not compared; empty if it is."""
        known = self._turns.get(launch.graph)
        if known is not None and (not known.number or launch.line > known.line):
            self.turn = known
            known.line = launch.line
            return "" if known.plain is not _NOTHING else _reason(known.number)
        plan = self._plans.get(launch.graph)
        if plan is None:
            return _NOT_KNOWN
        number = 1 if known is None else known.number + 1
        plain = self._nested.get((launch.graph, number), _NOTHING)
        self.turn = self._turns[launch.graph] = _Turn(plan, plain, Buffers(plan, self._aliases), number, launch.line)
        if plain is _NOTHING:
            return _reason(number)
        for name, node in plan.inputs.items():
            if isinstance(local.get(name), torch.Tensor):
                self.buffers.put(name, local[name], node)
        return ""

    def _results_of_nested(self, launch: Launch, local: dict[str, Any]) -> None:
        """What nested graphs have returned, and the launch reads: no launch of this graph has written it."""
        plan, buffers = self.turn.plan, self.buffers
        for variable in launch.names:
            for name in buffers.chain(variable):
                if name not in plan.is_part or name in buffers.nodes:
                    continue
                node = plan.nodes.get(name, "")
                tensor, value = local.get(name, local.get(variable)), self.turn.plain.values.get(node)
                # A variable that has the memory by another name may see it in another form.
                if isinstance(tensor, torch.Tensor) and (name in local or tensor.shape == getattr(value, "shape", ())):
                    buffers.put(name, tensor, node)

    def _force(self, tensor: Any, source: str) -> bool:
        """Overwrite the value of the buffer `source`, which is in the memory of `tensor`, by the reference's."""
        node = self.buffers.nodes[source]
        plan, plain = self.turn.plan, self.turn.plain
        value, _ = value_in(plan, plain, source, node)
        if not isinstance(tensor, torch.Tensor) or not isinstance(value, torch.Tensor):
            return False
        if node in plain.unknown or node in plan.uninitialized:
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
        node = self.turn.plan.nodes.get(name, "")
        seen = self.buffers.seen(name, tensor)
        launch = self.turn.last.get(name)
        if launch is not None and node not in self.turn.plan.uninitialized:
            self._judge.next_launch({node})
            self._judge_result(self._row(*launch, name), seen, node, self.turn.sources.get(name, set()))
        self.buffers.put(name, seen, node)

    def _judge_result(self, row: Checked, tensor: Any, node: str, sources: Collection[str]) -> None:
        self._tell(self._judge.judged(row, tensor, node, frozenset(sources) - {node}))

    def _row(self, launch: Launch, unforced: tuple[str, ...], buffer: str) -> Checked:
        return Checked(
            graph=launch.graph,
            call=self._number,
            index=self.launches - 1,
            turn=self.turn.number,
            kernel=launch.kernel,
            line=launch.line,
            buffer=buffer,
            unforced=unforced,
            unforced_of=tuple(dict.fromkeys(filter(None, map(self.turn.writers.get, unforced)))),
        )

    @contextlib.contextmanager
    def _guarded(self, launch: Launch) -> Iterator[None]:
        try:
            with torch.no_grad():
                yield
        except Exception as error:
            let_pass(error)
            self.trouble = f"{launch.kernel}: {type(error).__name__}: {error}"[:300]


_NOTHING: Final = Reference(Values(), {}, Values(), Values(), {}, Returned(tuple, Values()), None, {}, {})
"""That of a turn of which nothing is kept."""


def _reason(turn: int) -> str:
    return _LATER if turn > TURNS else _NOT_REACHED


def value_in(plan: Plan, plain: Reference, buffer: str, node: str) -> tuple[Any, bool]:
    """What a buffer must hold if that is the value of `node`; and whether it is just that value. It is not if the node
    changed a part of the buffer through a view, returns something else than what it changes, or launches a Triton
    kernel of the program: such a node has no value.
    """
    value = plain.values.get(node)
    whole = plain.after.get((node, plan.nodes.get(buffer, buffer)))
    if whole is not None and node in plan.returns_others and isinstance(value, torch.Tensor):
        return whole, False
    if whole is None or (value is not None and (not isinstance(value, torch.Tensor) or whole.shape == value.shape)):
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
