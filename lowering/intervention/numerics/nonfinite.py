"""Where NaN and Inf are made: the launch of the compiled code, and the node of the FX graph."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.fx import Node

from inspect_compile.facts import Checked, NonFinite, Operand
from inspect_compile.knowledge.numerics.formats import HALF, INF, KINDS, NAN
from inspect_compile.lowering.intervention.numerics.buffers import Buffers, Launch
from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.nodes import inputs_of, results_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference, reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import index_at
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, unseen
from inspect_compile.lowering.intervention.numerics.one_thread import OneThread
from inspect_compile.lowering.intervention.numerics.values import Plan
from inspect_compile.probe import let_pass

_TOGETHER: Final = "it has collectives, which all ranks would have to repeat"
_NOT_AGAIN: Final = "repeated with the same inputs, it has none"


def kinds_of(value: Any) -> frozenset[str]:
    """Which of `KINDS` are in a value, or in the elements of a tuple."""
    if isinstance(value, (tuple, list)):
        return frozenset[str]().union(*map(kinds_of, value))
    if not isinstance(value, torch.Tensor) or not (value.is_floating_point() or value.is_complex()):
        return frozenset()
    if not value.numel() or bool(value.isfinite().all()):
        return frozenset()
    return frozenset(kind for kind, is_there in ((NAN, value.isnan()), (INF, value.isinf())) if bool(is_there.any()))


class _Launches:
    """Follows a call launch by launch. Its methods never raise: what goes wrong is in `trouble`."""

    def __init__(self, plan: Plan, aliases: dict[str, str], inputs: Sequence[Any]) -> None:
        """`inputs` are those of the call."""
        self._plan = plan
        self._buffers = Buffers(plan, aliases)
        named = zip(inputs_of(plan.module), inputs, strict=False)
        self._kinds = {name: kinds_of(value) for name, value in named}
        """Buffer or input → what it has."""
        self._made: dict[str, tuple[Launch, int, tuple[str, ...]]] = {}
        """Buffer → the launch that wrote it last, the launch's position, and the buffers that it read."""
        self._bad: dict[str, dict[str, dict[str, Any]]] = {}
        """Buffer with NaN or Inf → kind → the first element that has it."""
        self.launches = 0
        self.trouble = ""

    def before(self, launch: Launch, local: dict[str, Any]) -> Any:
        """Note what the launch reads, before it may overwrite it."""
        try:
            self.launches += 1
            if launch.graph != self._plan.graph:
                return None
            self._buffers.begin(launch)
            written = [name for name in launch.names if self._buffers.is_written(name)]
            read = [source for name in launch.names if (source := self._read(name))]
        except Exception as error:
            self._failed(launch, error)
            return None
        return written, tuple(read)

    def after(self, launch: Launch, state: Any, local: dict[str, Any]) -> None:
        """Look at what it wrote."""
        if state is None:
            return
        try:
            written, read = state
            for name, value, node in list(self._buffers.results(launch, written, local)):
                self._buffers.put(name, value, node)
                self._kinds[name] = kinds_of(value)
                self._made[name] = launch, self.launches - 1, read
                if self._kinds[name]:
                    self._bad[name] = {kind: _bad_element(value, kind) for kind in self._kinds[name]}
        except Exception as error:
            self._failed(launch, error)

    def _read(self, name: str) -> str | None:
        if name in self._kinds and name not in self._buffers.nodes:
            return name
        return self._buffers.source(name)

    def _failed(self, launch: Launch, error: Exception) -> None:
        let_pass(error)
        self.trouble = f"{launch.kernel}: {type(error).__name__}: {error}"[:300]

    def first_of_node(self, kind: str, node: str) -> dict[str, Any]:
        """The same for the value of a node; empty if no buffer has it."""
        buffers = [name for name in self._made if self._plan.nodes.get(name) == node and kind in self._kinds[name]]
        return self.first(kind, buffers[0]) if buffers else {}

    def first(self, kind: str, output: str) -> dict[str, Any]:
        """The fields of a `NonFinite` that name the launch which made what is in the buffer `output`."""
        name = output
        if name not in self._made:
            bad = [one for one in self._made if kind in self._kinds[one]]
            if not bad:
                return {}
            name = bad[-1]
        passed = set[str]()
        while True:
            passed.add(name)
            launch, index, read = self._made[name]
            earlier = next((one for one in read if kind in self._kinds.get(one, ()) and one not in passed), None)
            if earlier is None:
                break
            if earlier not in self._made:
                return {"came_in": earlier}
            name = earlier
        written = {"index": index, "kernel": launch.kernel, "line": launch.line, "buffer": name}
        return written | self._bad.get(name, {}).get(kind, {})


def _first_in_graph(plan: Plan, plain: Reference, kind: str, output: int) -> dict[str, Any]:
    """The fields of a `NonFinite` that name the FX node which makes it in the reference, as far as it does."""
    return _first_above(plain, kind, results_of(plan.module)[output])


def of_eager_alone(plan: Plan, plain: Reference, row: Checked) -> Iterator[NonFinite]:
    """Where eager leaves the finite numbers on the way to the value that `row` compared, which the compiled code has
    without: the node that makes the Inf that a NaN is made of, and the one that makes what is in the value.
    """
    nodes = {node.name: node for node in plan.module.graph.nodes}
    has = kinds_of(plain.values.get(row.node))
    kind = next((one for one in KINDS if one in has), "")
    found = _first_above(plain, kind, nodes.get(row.node)) if kind else {}
    if not found or "came_in" in found:
        return
    first = _first_above(plain, INF, nodes.get(found["from_inf"])) if found["from_inf"] else {}
    for its_kind, fields in ((INF, first), (kind, found)):
        if "node" in fields and not (fields is first and first["node"] == found["node"]):
            yield NonFinite(graph=row.graph, call=row.call, kind=its_kind, output=-1, of_node=row.node, **fields)


def _overflow_above(plan: Plan, plain: Reference, node: str) -> dict[str, Any]:
    """The same for the Inf in the value of `node`, if it outgrew a half type: Inf may be meant, as in a mask."""
    start = next((one for one in plan.module.graph.nodes if one.name == node), None)
    found = _first_above(plain, INF, start)
    is_made = bool(found.get("operands")) and not any(one.has_inf for one in found["operands"])
    return found if is_made and found["dtype"] in HALF else {}


def _first_above(plain: Reference, kind: str, start: Any) -> dict[str, Any]:
    node = start
    if not isinstance(node, Node) or kind not in kinds_of(plain.values.get(node.name)):
        return {}
    while True:
        earlier = next((one for one in node.all_input_nodes if kind in kinds_of(_value(plain, node, one))), None)
        if earlier is None:
            break
        node = earlier
    if node.op in ("placeholder", "get_attr"):
        return {"came_in": node.name}
    value = plain.values[node.name]
    if isinstance(value, (tuple, list)):
        value = next(one for one in value if kind in kinds_of(one))
    found = _bad_element(value, kind)
    inputs = [(one, _value(plain, node, one)) for one in node.all_input_nodes]
    operands = tuple(
        _operand(one.name, each, found["element"], value.shape)
        for one, each in inputs
        if isinstance(each, torch.Tensor)
    )
    inf_in = next((one for one, each in inputs if kind == NAN and INF in kinds_of(each)), None)
    return {
        "in_eager": True,
        "node": node.name,
        "operands": operands,
        "from_inf": inf_in.name if inf_in else "",
    } | found


def _value(plain: Reference, node: Node, read: Node) -> Any:
    """What `node` reads from `read`."""
    late = plain.late.get((node.name, read.name))
    return plain.values.get(read.name) if late is None else late


def _bad_element(value: torch.Tensor, kind: str) -> dict[str, Any]:
    """Index, value and number of the elements that are NaN, or Inf."""
    bad = value.isnan() if kind == NAN else value.isinf()
    at = int(bad.reshape(-1).to(torch.uint8).argmax())
    return {
        "element": index_at(at, value),
        "value": str(value.reshape(-1)[at].item()),
        "count": int(bad.sum()),
        "elements": value.numel(),
        "dtype": str(value.dtype).removeprefix("torch."),
    }


def _operand(name: str, value: torch.Tensor, element: tuple[int, ...], shape: Sequence[int]) -> Operand:
    """What is known of one operand of the element."""
    at = ""
    try:
        if torch.broadcast_shapes(value.shape, tuple(shape)) == tuple(shape):  # type: ignore[no-untyped-call]
            at = str(value.expand(tuple(shape))[element].item())
    except RuntimeError:
        pass  # it has another shape: the element is not made of one element of it
    low, high = "", ""
    if value.numel() and not value.is_complex() and value.dtype is not torch.bool:
        finite = value[value.isfinite()] if value.is_floating_point() else value
        if finite.numel():
            low, high = (str(one.item()) for one in (finite.min(), finite.max()))
    kinds = kinds_of(value)
    return Operand(
        node=name,
        dtype=str(value.dtype).removeprefix("torch."),
        size=tuple(value.shape),
        value=at,
        smallest=low,
        largest=high,
        has_nan=NAN in kinds,
        has_inf=INF in kinds,
    )


class Explained(NamedTuple):
    """What was found of one call."""

    rows: list[NonFinite]
    launches: int
    """Number of launches that were made again."""
    seconds: float
    reason: str
    """Why nothing was found, or not all; empty if that is not so."""


def explained(
    plan: Plan, code: Any, inputs: Sequence[Any], state: RandomState | None, outputs: Mapping[str, int], number: int
) -> Explained:
    """What made the NaN, or the Inf, that is in a result of the call `number`.

    `code` is that of `codegen.runtime.checked`. `inputs` are what the call was given, and stay as they are; `state` was
    that of the generators of random numbers, None if it does not matter. `outputs`: kind → the first result that has
    it. Inf that outgrew a half type and made the NaN is found, too. Never raises, unless the exception is the program's
    own.
    """
    started, rows, launches = time.perf_counter(), list[NonFinite](), 0
    reason = _TOGETHER if plan.has_collectives else ""
    if not reason:
        try:
            with RandomState(inputs) as now, unseen(), torch.no_grad():
                (state or now).restore()
                plain = reference(plan.module, copies(inputs), philox.form_of(code.source))
                (state or now).restore()
                seen = _Launches(plan, code.aliases, inputs)
                with code.watched(OneThread(seen)) as run:
                    results = run(copies(inputs))
                launches, reason = seen.launches, seen.trouble
                for kind, output in outputs.items():
                    if kind not in kinds_of(results[output]):
                        reason = _NOT_AGAIN
                        continue
                    made = seen.first(kind, plan.outputs[output])
                    fields = made | _first_in_graph(plan, plain, kind, output)
                    row = NonFinite(graph=plan.graph, call=number, kind=kind, output=output, **fields)
                    if row.from_inf and (before := _overflow_above(plan, plain, row.from_inf)):
                        fields = seen.first_of_node(INF, before["node"]) | before
                        rows.append(NonFinite(graph=plan.graph, call=number, kind=INF, output=output, **fields))
                    rows.append(row)
        except Exception as error:
            let_pass(error)
            reason = f"{type(error).__name__}: {error}"[:300]
            error.__traceback__ = None
    return Explained(rows, launches, round(time.perf_counter() - started, 6), reason)
