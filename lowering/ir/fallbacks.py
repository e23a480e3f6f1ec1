"""Remarks about why an operator runs as an extern kernel."""

from collections.abc import Iterator
from typing import Any, Final

from inspect_compile.facts import Lowering, Remark
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.fx_nodes import target_name
from inspect_compile.lowering.core.scopes import Scope, torch_object
from inspect_compile.torch_compat import inductor as names

_OURS: Final = ("aten", "prims", "prim")
"""Namespaces of torch's operators."""

_EFFECTFUL: Final = "with_effects"
"""The higher-order operator around one with an effect, which is its second argument."""
_IMPLICIT: Final[set[str]] = set()
"""Operators without a lowering when they were first seen: torch then adds a fallback to its table."""


def is_implicit(node: Any) -> bool:
    """True if torch makes up a fallback for this node's operator. Must be called before the operator is first
    lowered.
    """
    if node.op != "call_function" or not hasattr(node.target, "overloadpacket"):
        return False
    name, known = target_name(node.target), torch_object(names.LOWERINGS)
    if name not in _IMPLICIT and known is not None and node.target not in known:
        _IMPLICIT.add(name)
    return name in _IMPLICIT


def fallback_remarks(scope: Scope, fact: Lowering, node: Any) -> Iterator[Remark]:
    """Remarks about a node that fell back."""
    how, words, knob = _why(fact, node)
    place = scope.where.get(fact.node)
    ids = (fact.node, *fact.buffers)
    target = target_name(node.args[1]) if fact.target == _EFFECTFUL and len(node.args) > 1 else fact.target
    yield Remark(
        graph=scope.graph,
        kind="missed",
        code="fallback",
        message=f"{target} runs as an extern kernel, nothing fuses with it: {words}",
        numbers={"how": how},
        knob=knob,
        where=values.line_text(place),
        place=place,
        ids=ids,
    )
    decompositions = torch_object(names.DECOMPOSITIONS)
    if how == "implicit" and decompositions is not None and decompositions([node.target]):
        yield Remark(
            graph=scope.graph,
            kind="missed",
            code="missing-decomposition",
            message=f"torch has a decomposition for {fact.target}, but not among those that this compile uses",
            where=values.line_text(place),
            place=place,
            ids=ids,
        )


def _why(fact: Lowering, node: Any) -> tuple[str, str, str | None]:
    """The cause (dtype, config, implicit, explicit, lowering), an explanation, and the setting that would change it."""
    namespace = getattr(node.target, "namespace", "")
    by_type, by_default = torch_object(names.FALLBACK_BY_TYPE), torch_object(names.FALLBACK_BY_DEFAULT)
    if namespace in _OURS and by_type is not None and by_type(node):
        return "dtype", f"Inductor generates no code for its types, {_types(node)}", None
    if by_default is not None and hasattr(node.target, "overloadpacket") and by_default(node):
        return "config", "fallback_by_default is on", "torch._inductor.config.fallback_by_default"
    if is_implicit(node):
        if namespace not in _OURS:
            return "implicit", f"an operator of {namespace or 'the program'}, which Inductor cannot look into", None
        return "implicit", "Inductor has neither a lowering nor a fallback for it", None
    if "fallback_handler" in fact.via or not fact.via:
        return (
            "explicit",
            "Inductor generates no code for it and calls ATen's own kernel, by a list of such operators",
            None,
        )
    if fact.target == _EFFECTFUL:
        return (
            "lowering",
            "it has a side effect, such as an error that it raises, which torch keeps in the program's order",
            None,
        )
    return (
        "lowering",
        f"its lowering {fact.via.partition(' ')[0]} generates no code for these arguments and calls ATen",
        None,
    )


def _types(node: Any) -> str:
    found = [values.tensor(tensor).dtype for tensor in values.tensors(node.meta.get("val"))]
    for source in node.all_input_nodes:
        found += [values.tensor(tensor).dtype for tensor in values.tensors(source.meta.get("val"))]
    complex_ones = [name for name in found if name.startswith("complex")]
    return ", ".join(dict.fromkeys(complex_ones or found))
