"""The sections of lowering.txt before and after the lowering: call path, outputs, result and timings."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.kernel_traffic import launch_traffic
from inspect_compile.analysis.frontend.call_path import call_path, tree
from inspect_compile.analysis.kernels.binaries import configurations
from inspect_compile.analysis.lowering.ir_text import fold
from inspect_compile.analysis.lowering.steps import Step
from inspect_compile.dump import Dump
from inspect_compile.facts import Call
from inspect_compile.tables.cost.moved_text import moved_text
from inspect_compile.tables.frontend.calls import call_name
from inspect_compile.tables.lowering.step_text import field
from inspect_compile.tables.text import columns, number_of, one_line, seconds_text

_RETURNING: Final = (
    *("load", "wrapper", "cudagraphs", "inner", "forward", "backward", "inference"),
    *("aot_autograd", "compile_fx", "backend"),
)
"""Stages of calls that pass on the callable that finally runs."""
_NOT_IR: Final = ("", "None", "[]")


def call_lines(dump: Dump, graph: str) -> Iterator[str]:
    """The calls from the backend down to code generation, without those for other graphs of the same compile."""
    calls = _calls(dump, graph)
    if not calls:
        yield "No call was seen."
    for called in tree(calls):
        call, margin = called.call, "  " * called.depth
        yield f"{margin}{call_name(call)}   {call.defined}   {seconds_text(call.seconds)}"
        yield f"{margin}  ← {one_line(call.received)}"
        if call.returned:
            yield f"{margin}  → {one_line(call.returned)}"
        if call.error is not None:
            yield f"{margin}  raised {one_line(call.error)}"
        if call.note:
            yield f"{margin}  {one_line(call.note)}"
    yield ""


def returned_lines(dump: Dump, graph: str) -> Iterator[str]:
    """The callable that came out, from the innermost call to the backend."""
    rows = [
        (f"  {call_name(call)}", f"→ {one_line(call.returned)}")
        for call in sorted(_calls(dump, graph), key=lambda call: -call.index)
        if call.stage in _RETURNING and call.returned
    ]
    yield from columns(rows) if rows else ["No call was seen."]
    yield ""


def _calls(dump: Dump, graph: str) -> tuple[Call, ...]:
    """The calls of the compile that are not about another of its graphs."""
    return tuple(call for call in call_path(dump, graph) if call.inductor_graph in (None, "", graph))


def edge_lines(steps: list[Step], graph: str, told: set[str]) -> Iterator[str]:
    """Outputs and inputs of the graph and its nested graphs, before and after they were realized."""
    outputs = [step for step in steps if step.row.op == "output"]
    if not outputs:
        yield "The lowering did not come to the outputs."
        yield ""
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
        rows = [
            (f"  {one.row.node}", one.result, "→ " + _input_state(one.row.node, one.result, asked)) for one in inputs
        ]
        yield from columns(rows)
        if step.row.buffers:
            yield field(
                "made", f"{' '.join(step.row.buffers)}: copies, to an input that the graph writes or to an output"
            )
        yield f"Realized Graph.lowering Output{where}"
        if step.row.result in _NOT_IR:
            yield "  nothing" if step.row.result == "[]" else "  not recorded"
        else:
            yield from (f"  {line}" for line in fold(step.row.result, told, node="output").split("\n"))
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


def bench_lines(dump: Dump, graph: str) -> Iterator[str]:
    """torch's timings of the graph's kernels, during the compile or at their first call."""
    rows = configurations(dump, graph)
    timed = [row for row in rows if row.milliseconds is not None]
    if not timed:
        several = [row for row in rows if row.choice == "not measured"]
        yield (
            f"No kernel was timed: of {number_of(len({row.kernel for row in several}), 'kernel')} there are several"
            " configurations, and no device to time them on."
            if several
            else "No kernel was timed: none has more than one configuration."
        )
        yield ""
        return
    calls = {row.kernel: row for row in reversed(launch_traffic(dump, graph).all())}
    told = []
    for row in timed:
        call = calls.get(row.kernel)
        size = call.least if call is not None and call.is_known else None
        rate = "" if not size or not row.milliseconds else f"{size / row.milliseconds / 1e6:.2f} GB/s"
        told.append((f"  {row.milliseconds:.3f} ms", moved_text(size), rate, row.kernel, row.label, row.choice))
    yield from columns(told)
    yield ""
