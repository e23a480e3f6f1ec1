"""Each request to realize a value, that is, to give it a buffer: by whom, for which node, and with what result."""

import functools
import linecache
import sys
from typing import Any, Final, NamedTuple

from inspect_compile.facts import Realize
from inspect_compile.knowledge.lowering.realize_reasons import Weight, asked, reason_of
from inspect_compile.lowering.core.by_identity import ByIdentity
from inspect_compile.lowering.core.scopes import SCOPES, current_graph, torch_object
from inspect_compile.lowering.core.values import below_torch, is_kind
from inspect_compile.lowering.ir.ir_text import ir_text
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names
from inspect_compile.torch_compat.attributes import OPERATION_COUNT

PROBE = "lowering.realize"

_DEAR: Final = ("exp", "log", "log10", "log1p", "log2", "sigmoid", "tanh")
"""Operations that torch considers heavy (`StorageBox.should_realize_on_reuse`); up to 2.11 only exp and sigmoid."""
_LOWERS: Final = names.RUN_NODE.attribute.rpartition(".")[2]
_BOXES: Final = ("StorageBox.", "MutableBox.", "TensorBox.", "BaseView.")
_NUMBERS: Final = ("users", "reads", "operations", "reads_limit", "gathered_limit", "operations_limit")
_FARTHEST: Final = 24
"""Maximum number of callers that are searched."""


class _Ask(NamedTuple):
    """Who asked for a realization."""

    chain: tuple[str, ...]
    """Functions, innermost first, up to the lowering of the node."""
    caller: str
    """The function that decided, `function file:line`."""
    through: str
    """The innermost function that passed the request on, in the same form; boxes and views only forward it."""
    conditions: str
    """The conditions around the call, if the caller is the lowering of the node itself."""


def install(probes: Probes) -> None:
    """Hook StorageBox."""
    sink = probes.sink

    def before(box: Any, args: Any, kwargs: Any) -> tuple[str, bool]:
        kind: Any = type(box.data)
        return kind.__name__, is_kind(kind, "Loops")

    def after(state: tuple[str, bool], box: Any, args: Any, kwargs: Any, result: Any) -> None:
        scope = SCOPES.here()
        if scope is None:
            return
        kind, was_virtual = state
        lowering = current_graph()
        node = getattr(lowering, "current_node", None)
        ask = _ask()
        weight = _weight(lowering, node, box.data if was_virtual else None) if ask.conditions else Weight()
        sink.add(
            Realize(
                graph=scope.graph,
                index=scope.lowered,
                node=getattr(node, "name", None),
                buffer=result if isinstance(result, str) else None,
                realized=was_virtual,
                reason=_reason(ask.chain, ask.conditions, weight),
                caller=ask.caller,
                through=ask.through,
                origin=scope.own_node(box.data),
                ir=kind,
                text=ir_text(scope, box.data, (str(result),)) if was_virtual else "",
                numbers=_numbers(weight),
            )
        )

    probes.wrap(PROBE, names.REALIZE, before=before, after=after)


def _ask() -> _Ask:
    frame = sys._getframe(1)
    chain: list[str] = []
    places: list[tuple[Any, int]] = []
    while frame is not None and len(chain) < _FARTHEST:
        code = frame.f_code
        known = _known(code)
        if known.file:
            chain.append(code.co_qualname)
            places.append((code, frame.f_lineno))
            if known.lowers:
                break
        frame = frame.f_back  # type: ignore[assignment]
    if not chain:
        return _Ask((), "", "", "")
    who = _asked(tuple(chain))
    passed = next((at for at in range(who.position) if not chain[at].startswith(_BOXES)), None)
    code, line = places[who.position]
    return _Ask(
        chain=tuple(chain[: who.position + 1]),
        caller=_place(*places[who.position]),
        through="" if passed is None else _place(*places[passed]),
        conditions=_conditions(code.co_filename, code.co_firstlineno, line) if who.function == _LOWERS else "",
    )


def _place(code: Any, line: int) -> str:
    return f"{code.co_qualname} {_known(code).file}:{line}"


class _Function(NamedTuple):
    """A function of a frame."""

    file: str
    """Path of a torch file, `torch/_inductor/ir.py`; empty for others."""
    lowers: bool
    """It lowers a node: what called it is the same for all."""


def _known(code: Any) -> _Function:
    found = _FUNCTIONS.get(code)
    if found is None:
        found = _FUNCTIONS[code] = _Function(below_torch(code.co_filename), code.co_name == _LOWERS)
    return found


_FUNCTIONS: Final[ByIdentity[_Function]] = ByIdentity()
"""Comparing or hashing code objects goes through everything they contain."""
_asked = functools.lru_cache(maxsize=1024)(asked)
_reason = functools.lru_cache(maxsize=1024)(reason_of)


@functools.lru_cache(maxsize=256)
def _conditions(file: str, first: int, line: int) -> str:
    """The heads of the blocks around `line`, in the function that begins at `first`; the innermost first."""
    lines = linecache.getlines(file)
    if not 0 < line <= len(lines):
        return "?"
    indent, found, head = _indent(lines[line - 1]), [lines[line - 1].strip()], list[str]()
    for text in reversed(lines[first : line - 1]):
        stripped = text.strip()
        if not stripped or stripped.startswith("#") or (_indent(text) >= indent and not head):
            continue
        head.insert(0, stripped)
        if not head[-1].startswith(")") or (len(head) > 1 and _indent(text) == indent):
            found.append(" ".join(head))
            indent = _indent(text)
            head.clear()
        elif len(head) == 1:
            indent = _indent(text)
    return "\n".join(found)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _weight(graph: Any, node: Any, real: Any) -> Weight:
    """The weight of a value that has just been realized.

    torch counted its operations before it decided, and cached the counts: nothing is counted again.
    """
    loops, users = getattr(real, "data", None), node.users
    seen = Weight(
        users=len(users),
        is_output=any(user.op == "output" for user in users),
        is_visible=node in graph.user_visible_output_strides,
        is_channels_last=node in graph.nodes_prefer_channels_last
        and node not in graph.user_visible_output_strides
        and len(getattr(node.meta.get("val"), "shape", ())) == 4,
    )
    counted, config = getattr(loops, OPERATION_COUNT, None), torch_object(names.CONFIG)
    if counted is None:
        return seen
    device: Any = getattr(loops, "device", None)
    is_cpu = device is not None and device.type == "cpu"

    def limit(name: str) -> int:
        found = getattr(config, f"realize_{name}", None)
        if found is None and is_cpu:
            found = getattr(config, f"realize_cpu_{name}", None)
        return found if found is not None else getattr(config, f"_realize_{name}_default", 0)

    return seen._replace(
        reads=len(counted.read_buffers),
        operations=counted.num_ops,
        reads_limit=limit("reads_threshold"),
        gathered_limit=limit("acc_reads_threshold"),
        operations_limit=limit("opcount_threshold"),
        dear=tuple(name for name in _DEAR if is_cpu and name in counted.used_ops),
    )


def _numbers(weight: Weight) -> dict[str, int]:
    if not weight.reads and not weight.operations:
        return {}
    return {name: getattr(weight, name) for name in _NUMBERS}
