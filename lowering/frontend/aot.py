"""What AOTAutograd knows of the inputs and outputs of each graph: which are changed, views, parameters."""

import dataclasses
import threading
from typing import Any, Final

from inspect_compile.facts import AotInput, AotMetadata, AotOutput, Tangent
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.running_calls import RUNNING
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import inductor
from inspect_compile.torch_compat import traced as names

PROBE = "lowering.aot"

_CHANGES: Final = (
    ("mutates_data", "data"),
    ("mutates_metadata", "metadata"),
    ("mutates_storage_metadata", "storage"),
    ("mutation_inductor_storage_resize", "storage size"),
)
"""Field of torch's InputAliasInfo → what is changed."""
_PLAIN: Final = (int, bool, str, type(None))
_MOST: Final = 2000
"""Maximum number of members of a list that is recorded."""


class _Compiling(threading.local):
    """The graphs that this thread compiles and that are not recorded yet, innermost last."""

    def __init__(self) -> None:
        self.open: list[tuple[Any, Any, tuple[Tangent, ...]]] = []
        """Each with what torch knows of its tensor subclasses, and its tangents."""


_COMPILING: Final = _Compiling()


def install(probes: Probes) -> None:
    """Hook the second stage of AOTAutograd, after which its record is complete, also of a graph that failed; the
    tangents are dropped in it. What torch stores of the graph within it is complete, too.
    """

    def begun(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        state = argument(args, kwargs, 0, "aot_state")
        captured = argument(args, kwargs, 1, "aot_graph_capture")
        _COMPILING.open.append((state, _inner(captured), tuple(_tangents(state.fw_metadata))))
        return len(_COMPILING.open)

    def ended(depth: int | None, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if depth is not None and len(_COMPILING.open) >= depth:
            del _COMPILING.open[depth:]
            _record_innermost(probes)

    probes.wrap(PROBE, names.AOT_COMPILE, before=begun, after=ended, failed=ended)


def install_stored(probes: Probes) -> None:
    """Hook what stores a compile, with which all that is recorded of it is kept."""

    def storing(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if _COMPILING.open:
            _record_innermost(probes)

    probes.wrap(PROBE, inductor.AOT_STORED, before=storing)


def install_cached(probes: Probes) -> None:
    """Hook what makes a cached graph callable."""

    def taken(state: Any, cached: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if not RUNNING.is_loading:
            number = getattr(argument(args, kwargs, 1, "aot_config"), "aot_id", None)
            _record(probes, cached.runtime_metadata, _inner(cached), number, (), (), cached=True)

    probes.wrap(PROBE, names.AOT_CACHED, after=taken)


def _record_innermost(probes: Probes) -> None:
    state, inner, tangents = _COMPILING.open.pop()
    descriptors = getattr(state, "flat_args_descs", None) or ()
    _record(probes, state.fw_metadata, inner, getattr(state.aot_config, "aot_id", None), descriptors, tangents)


def _inner(holder: Any) -> Any:
    """What AOTAutograd knows of the graph in which tensor subclasses are unwrapped; None without any."""
    return getattr(getattr(holder, names.SUBCLASSES, None), "fw_metadata", None)


def _record(
    probes: Probes,
    found: Any,
    inner: Any,
    number: Any,
    descriptors: Any,
    tangents: tuple[Tangent, ...],
    *,
    cached: bool = False,
) -> None:
    static = frozenset(getattr(found, "static_input_indices", None) or ())
    texts = [_expression(one) for one in descriptors]
    probes.sink.add(
        AotMetadata(
            graph=compile_id() or "",
            aot_id=number if type(number) is int else None,
            cached=cached,
            inputs=tuple(
                _input(one, texts[at] if at < len(texts) else "", at in static)
                for at, one in enumerate(found.input_info)
            ),
            outputs=tuple(map(_output, found.output_info)),
            tangents=tangents,
            inner_inputs=() if inner is None else tuple(map(_input, inner.input_info)),
            inner_outputs=() if inner is None else tuple(map(_output, inner.output_info)),
            settings=_settings(found),
        )
    )


def _expression(described: Any) -> str:
    """torch's expression for where an input or output is from."""
    expression = getattr(described, "expr", None)
    return str(expression()) if callable(expression) else ""


def _input(info: Any, name: str = "", is_static: bool = False) -> AotInput:
    kind = getattr(info.mutation_type, "name", "").lower()
    return AotInput(
        name=name,
        requires_grad=bool(info.requires_grad),
        is_leaf=bool(info.is_leaf),
        changes=tuple(what for field, what in _CHANGES if getattr(info, field, False)),
        changed="" if kind == "not_mutated" else kind,
        hidden_from_autograd=bool(info.mutations_hidden_from_autograd),
        without_grad=bool(info.mutations_under_no_grad_or_inference_mode),
        is_static=is_static,
    )


def _output(info: Any) -> AotOutput:
    return AotOutput(
        kind=info.output_type.name,
        base=info.base_idx if type(info.base_idx) is int else None,
        type=getattr(info.raw_type, "__name__", ""),
        requires_grad=bool(info.requires_grad),
        has_gradient=bool(getattr(info, "requires_grad_for_backward", info.requires_grad)),
        dynamic=tuple(sorted(one for one in info.dynamic_dims or () if type(one) is int)),
    )


def _tangents(found: Any) -> list[Tangent]:
    described = getattr(found, "traced_tangents_descs", None) or ()
    stacks = getattr(found, "tangent_source_stack_traces", None) or ()
    made = []
    for at, value in enumerate(getattr(found, "traced_tangents", None) or ()):
        stack = stacks[at] if at < len(stacks) else None
        made.append(
            Tangent(
                of=_expression(getattr(described[at], "output", None)) if at < len(described) else "",
                tensor=values.tensor(value) if hasattr(value, "shape") and hasattr(value, "dtype") else None,
                where=CALL_SITES.traced_line(stack) if stack else None,
            )
        )
    return made


def _is_plain_list(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) <= _MOST and all(type(one) in _PLAIN for one in value)


def _settings(found: Any) -> dict[str, str]:
    """The fields that are plain values, or lists of them; of tokens how many."""
    settings: dict[str, str] = {}
    for field in dataclasses.fields(found):
        value = getattr(found, field.name, None)
        if field.name == "tokens":
            settings[field.name] = str(len(value or ()))
        elif type(value) in _PLAIN or _is_plain_list(value):
            settings[field.name] = repr(value)
    settings.pop("tangent_source_stack_traces", None)
    return settings
