"""The sections of lowering.txt before and after the lowering: call path, outputs, result and timings."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.frontend.call_path import call_path, tree
from inspect_compile.analysis.lowering.ir_text import fold
from inspect_compile.analysis.lowering.steps import Step
from inspect_compile.facts import Call
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.graph.kernels.binaries import Configuration, configurations
from inspect_compile.tables.columns import Column, text_lines
from inspect_compile.tables.cost.cost_text import moved_text
from inspect_compile.tables.frontend.calls import COLUMNS, call_name
from inspect_compile.tables.frontend.calls import call_lines as lines_of_call
from inspect_compile.tables.lowering.step_text import field
from inspect_compile.tables.text import number_of, one_line

_RETURNING: Final = (
    *("load", "wrapper", "cudagraphs", "inner", "forward", "backward", "inference"),
    *("aot_autograd", "compile_fx", "backend"),
)
"""Stages of calls that pass on the callable that finally runs."""
_NOT_IR: Final = ("", "None", "[]")


class _Input(NamedTuple):
    """An input of the graph, and what became of it at the end of the lowering."""

    name: str
    value: str
    state: str


class _Timed(NamedTuple):
    """A configuration that torch timed, and a call of its kernel."""

    row: Configuration
    call: KernelTraffic | None

    @property
    def size(self) -> int | None:
        """Bytes that a call moves at least; None if that is not known."""
        return self.call.least if self.call is not None and self.call.is_known else None


_RETURNED: Final[tuple[Column[Call], ...]] = (
    Column("call", lambda call: call_name(call)),
    Column("returned", lambda call: f"→ {one_line(call.returned)}"),
)
_INPUTS: Final[tuple[Column[_Input], ...]] = (
    Column("input", lambda row: row.name),
    Column("value", lambda row: row.value),
    Column("state", lambda row: f"→ {row.state}"),
)
_TIMED: Final[tuple[Column[_Timed], ...]] = (
    Column("time", lambda timed: f"{timed.row.milliseconds:.3f} ms", right=True),
    Column("moves", lambda timed: moved_text(timed.size), right=True),
    Column("rate", lambda timed: _rate(timed), right=True, optional=True),
    Column("kernel", lambda timed: timed.row.kernel),
    Column("configuration", lambda timed: timed.row.label),
    Column("choice", lambda timed: timed.row.choice),
)


def call_lines(graph: CompiledGraph) -> Iterator[str]:
    """The calls from the backend down to code generation, without those for other graphs of the same compile."""
    shown = (line for row in tree(_calls(graph)) for line in lines_of_call(row))
    yield from text_lines(COLUMNS, shown) or ["No call was seen."]


def returned_lines(graph: CompiledGraph) -> Iterator[str]:
    """The callable that came out, from the innermost call to the backend."""
    calls = (call for call in _calls(graph) if call.stage in _RETURNING and call.returned)
    rows = sorted(calls, key=lambda call: -call.index)
    yield from text_lines(_RETURNED, rows, indent="  ") or ["No call was seen."]


def _calls(graph: CompiledGraph) -> tuple[Call, ...]:
    """The calls of the compile that are not about another of its graphs."""
    return tuple(call for call in call_path(graph) if call.inductor_graph in (None, "", graph.name))


def edge_lines(steps: list[Step], graph: str, printed: set[str]) -> Iterator[str]:
    """Outputs and inputs of the graph and its nested graphs, before and after they were realized."""
    outputs = [step for step in steps if step.row.op == "output"]
    if not outputs:
        yield "The lowering did not come to the outputs."
    for step in outputs:
        inside = step.row.graph.removeprefix(graph).strip("/")
        where = f" of {inside}" if inside else ""
        known = dict(step.arguments)
        yield f"Graph.lowering Output Pre-Realize{where}"
        for number, name in enumerate(_returned(step)):
            value = f"%{name} = {known[name]}" if name in known else name
            yield field(f"Node {number}", value)
        yield f"Graph.lowering Input Pre-Realize → Input Post-Realize{where}"
        asked = {ask.buffer for ask in step.realizes}
        inputs = [one for one in steps if one.row.graph == step.row.graph and one.row.op == "placeholder"]
        rows = [_Input(one.row.node, one.result, _input_state(one.row.node, one.result, asked)) for one in inputs]
        yield from text_lines(_INPUTS, rows, indent="  ")
        if step.row.buffers:
            yield field(
                "made", f"{' '.join(step.row.buffers)}: copies, to an input that the graph writes or to an output"
            )
        yield f"Realized Graph.lowering Output{where}"
        if step.row.result in _NOT_IR:
            yield "  nothing" if step.row.result == "[]" else "  not recorded"
        else:
            yield from (f"  {line}" for line in fold(step.row.result, printed, node="output").split("\n"))
        yield ""


def _returned(step: Step) -> list[str]:
    """What the output node returns: names of nodes, or numbers and None."""
    text = ", ".join(step.row.arguments).strip("()[], ")
    return [part.strip("()[], ").removeprefix("%") for part in text.split(", ")] if text else []


def _input_state(name: str, value: str, asked: set[str | None]) -> str:
    if name in asked:
        return "not realized again: it is in memory, and nothing wrote to it"
    if "InputBuffer" not in value:
        return "no tensor: nothing to realize"
    return "the graph writes to it: its new value is copied in" if asked else "not asked"


def _rate(timed: _Timed) -> str:
    if not timed.size or not timed.row.milliseconds:
        return ""
    return f"{timed.size / timed.row.milliseconds / 1e6:.2f} GB/s"


def bench_lines(graph: CompiledGraph) -> Iterator[str]:
    """torch's timings of the graph's kernels, during the compile or at their first call."""
    rows = configurations(graph)
    timed = [row for row in rows if row.milliseconds is not None]
    if not timed:
        several = [row for row in rows if row.choice == "not measured"]
        yield (
            f"No kernel was timed: of {number_of(len({row.kernel for row in several}), 'kernel')} there are several"
            " configurations, and no device to time them on."
            if several
            else "No kernel was timed: none has more than one configuration."
        )
        return
    calls = {row.kernel: row for row in reversed(graph.traffic.all())}
    yield from text_lines(_TIMED, [_Timed(row, calls.get(row.kernel)) for row in timed], indent="  ")
