"""Remarks about what a GraphLowering decided for its whole graph, read from its attributes after its outputs are
lowered.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from inspect_compile.facts import Remark
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.scopes import SCOPES, Scope
from inspect_compile.lowering.ir.layout_decision import layout_decision
from inspect_compile.lowering.ir.padding import padded_buffers
from inspect_compile.lowering.ir.symbols import symbols
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.decisions"

_TRIED: Final = ("autotune", "constants")
"""Kinds of graphs that do not belong to the program."""
_SHOWN: Final = 4
"""Maximum number of names in a message; `ids` has all."""


def install(probes: Probes) -> None:
    """Hook the end of a graph's lowering."""
    sink = probes.sink

    def decided(state: Any, graph: Any, args: Any, kwargs: Any, result: Any) -> None:
        scope = SCOPES.at(graph)
        if scope.kind not in _TRIED:
            sink.add_all(remarks(scope, graph))
            sink.add_all(symbols(scope, graph))

    probes.wrap(PROBE, names.GRAPH_FINALIZE, after=decided)


def remarks(scope: Scope, graph: Any) -> Iterator[Remark]:
    """All remarks about the graph."""
    for tell in (_layouts, _strides, _padding, _constraints, _inputs, _constants, _outputs):
        yield from tell(scope, graph)


def _remark(scope: Scope, kind: str, code: str, message: str, ids: Iterable[str], **more: Any) -> Remark:
    """A remark; `where` is the source line of the first node in `ids` that has one."""
    ids = tuple(ids)
    where = next((found for name in ids if (found := scope.where.get(name)) is not None), None)
    place = values.line_text(where)
    return Remark(graph=scope.graph, kind=kind, code=code, message=message, where=place, place=where, ids=ids, **more)


def _layouts(scope: Scope, graph: Any) -> Iterator[Remark]:
    decision = layout_decision(graph)
    if decision is not None:
        what = "channels-last memory" if decision.taken else "no channels-last memory"
        words = f"{what} for {_number(len(decision.convolutions), 'convolution')}: {decision.reason}"
        kind, more = "passed" if decision.taken else "missed", {"numbers": decision.numbers, "knob": decision.knob}
        yield _remark(scope, kind, "layout-optimization", words, decision.convolutions, **more)
    preferring = scope.in_order(graph.nodes_prefer_channels_last)
    words = "before or after a convolution prefer channels-last memory"
    numbers = {"nodes": len(preferring), "of": len(scope.order)}
    yield from _listed(scope, "analysis", "channels-last", "node", words, preferring, numbers=numbers)


def _strides(scope: Scope, graph: Any) -> Iterator[Remark]:
    found = {
        node.name: tuple([values.size(step) for step in strides])
        for node, strides in graph.user_visible_output_strides.items()
        if strides and hasattr(node, "op")
    }
    if found:
        words = f"the program sees the strides of {_number(len(found), 'output')}, as they are in eager: "
        words += _some(f"{name} {_tuple(strides)}" for name, strides in found.items())
        yield _remark(scope, "analysis", "visible-strides", words, found)


def _padding(scope: Scope, graph: Any) -> Iterator[Remark]:
    for padded in padded_buffers(scope, graph):
        words = f"{padded.buffer} of {_tuple(padded.size)} has strides {_tuple(padded.stride)} and not "
        words += f"{_tuple(padded.dense)}: so that its rows are aligned"
        ids, numbers = (padded.buffer, *((padded.node,) if padded.node else ())), {"extra_elements": padded.extra}
        knob = "torch._inductor.config.comprehensive_padding"
        yield _remark(scope, "passed", "padded-strides", words, ids, numbers=numbers, knob=knob)


def _constraints(scope: Scope, graph: Any) -> Iterator[Remark]:
    for constraint, nodes in scope.constraints.items():
        meaning = _CONSTRAINTS.get(constraint, "inputs are first converted to another layout")
        words = f"{constraint}: {meaning}, for {_some(nodes)}"
        yield _remark(scope, "analysis", "layout-constraint", words, nodes, numbers={"nodes": len(nodes)})


_CONSTRAINTS: Final = {
    "constrain_to_fx_strides": "inputs must have the strides that they have in the graph",
    "constrain_conv_to_fx_strides": "inputs must have the strides that they have in the graph",
    "constrain_conv_bwd_to_fx_strides": "inputs must have the strides that they have in the graph",
    "constrain_to_fake_tensors": "inputs must have the strides that they have in eager mode",
    "require_contiguous": "inputs must be contiguous",
    "sdpa_constraint": "inputs must be aligned for the attention kernel",
}


def _inputs(scope: Scope, graph: Any) -> Iterator[Remark]:
    mutated = [name for name in graph.graph_input_names if name in graph.mutated_buffers]
    yield from _listed(scope, "analysis", "mutated-inputs", "input", "{is} written in place", mutated)
    original = graph.graph_inputs_original
    unaligned = [
        name
        for name in graph.graph_input_names
        if name in graph.unaligned_buffers and name in original and original[name].get_device().type != "cpu"
    ]
    words = "did not start at an aligned address, and the code does not assume alignment"
    yield from _listed(scope, "missed", "unaligned-inputs", "input", words, unaligned)
    donated = [name for name, buffer in original.items() if type(buffer).__name__ == "DonatedBuffer"]
    words = "{is} donated: nothing else needs them, and their memory is reused"
    knob = "torch._functorch.config.donated_buffer"
    yield from _listed(scope, "passed", "donated-buffers", "input", words, donated, knob=knob)


def _constants(scope: Scope, graph: Any) -> Iterator[Remark]:
    kept = {str(name): values.tensor(value) for name, value in graph.constants.items()}
    size = sum(tensor.bytes or 0 for tensor in kept.values())
    words = f"of {size:,} bytes {{is}} stored outside the code"
    yield from _listed(scope, "analysis", "constants", "constant", words, list(kept), numbers={"bytes": size})
    folded = [str(name) for name in graph.folded_constants]
    yield from _listed(scope, "passed", "folded-constants", "constant", "{is} computed once, at loading", folded)
    known = {str(name) for name in graph.allocated_constant_name.values()}
    written = [
        node.name
        for node in graph.module.graph.nodes
        if node.op == "get_attr" and node.target not in known and _is_small(getattr(graph.module, node.target, None))
    ]
    words = "{is} written into the code"
    yield from _listed(scope, "passed", "inlined-constants", "small constant", words, written)


def _is_small(value: Any) -> bool:
    """True for a tensor that torch inlines in the code (`GraphLowering.get_attr`)."""
    return hasattr(value, "dtype") and (not value.shape or (len(value.shape) == 1 and value.shape[0] <= 8))


def _outputs(scope: Scope, graph: Any) -> Iterator[Remark]:
    outputs = next(node for node in graph.module.graph.nodes if node.op == "output").args[0]
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    views, inputs = dict[str, str](), dict[str, str]()  # node → buffer
    for node, value in zip(outputs, graph.graph_outputs, strict=False):
        name = value.maybe_get_name() if hasattr(value, "maybe_get_name") else None
        if name is None or not hasattr(node, "op"):
            continue
        if name in graph.graph_inputs:
            inputs[node.name] = name
        elif "ReinterpretView" in (type(value).__name__, type(getattr(value, "data", None)).__name__):
            views[node.name] = name
    shown = [f"{node} of {buffer}" for node, buffer in views.items()]
    ids = (*views, *dict.fromkeys(views.values()))
    yield from _listed(scope, "analysis", "output-views", "output", "{is} a view of a buffer", shown, ids=ids)
    shown = [f"{node} is {name}" for node, name in inputs.items()]
    ids = tuple(dict.fromkeys((*inputs, *inputs.values())))
    yield from _listed(scope, "analysis", "output-inputs", "output", "{is} an input", shown, ids=ids)


def _listed(
    scope: Scope, kind: str, code: str, noun: str, words: str, found: Sequence[str], *, ids: Any = None, **more: Any
) -> Iterator[Remark]:
    """`2 inputs are written in place: a, b`, if anything was found; `{is}` in `words` is replaced by is or are."""
    if found:
        said = words.replace("{is}", "is" if len(found) == 1 else "are")
        message = f"{_number(len(found), noun)} {said}: {_some(found)}"
        yield _remark(scope, kind, code, message, found if ids is None else ids, **more)


def _some(found: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    all_of_them = list(found)
    left = len(all_of_them) - _SHOWN
    return ", ".join(all_of_them[:_SHOWN]) + (f" and {left} more" if left > 0 else "")


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _tuple(numbers: Iterable[int | str]) -> str:
    return f"({', '.join(str(number) for number in numbers)})"
