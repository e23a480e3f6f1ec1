"""What the partitioner lets the forward save for the backward, and what the backward recomputes."""

import sys
from typing import Any, Final

from inspect_compile.facts import Partition, Saved
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.scopes import aot_graph_name, compile_id, torch_object
from inspect_compile.lowering.memory import min_cut
from inspect_compile.lowering.passes.inherited import line_of
from inspect_compile.lowering.passes.joint import policy
from inspect_compile.probe import Probes, let_pass
from inspect_compile.torch_compat import passes as names

PROBE = "lowering.saved"

_MOST_READERS: Final = 8


def install(probes: Probes) -> None:
    """Hook the place where every partitioner cuts the joint graph in two."""

    def cut(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        forward, backward = result
        returned = _outputs(forward)
        count = kwargs["num_fwd_outputs"]
        choice = min_cut.last_choice()
        probes.sink.add(_partition(forward, backward, choice))
        stays = kwargs.get("static_lifetime_input_nodes")
        static = None if stays is None else frozenset(node.name for node in stays)
        probes.sink.add_all(_facts(forward, backward, returned[:count], returned[count:], choice, static))
        probes.sink.flush()

    probes.wrap(PROBE, names.PARTITIONED, after=cut)


def _outputs(module: Any) -> list[Any]:
    output = next(node for node in reversed(module.graph.nodes) if node.op == "output")
    found = output.args[0]
    return list(found) if isinstance(found, (tuple, list)) else [found]


def _partition(forward: Any, backward: Any, choice: min_cut.Choice) -> Partition:
    function, defined = _partitioner()
    custom = torch_object(names.CUSTOM_PARTITIONER)
    return Partition(
        graph=compile_id() or "",
        aot_graph=aot_graph_name(),
        partitioner=function,
        defined=defined,
        custom="" if custom is None else type(custom).__name__,
        budget=choice.budget,
        cuts=len(choice.cuts),
        cut=choice.taken,
        bans=choice.cut.bans,
        lifted=choice.cut.lifted,
        forward=len(_operators(forward)),
        backward=len(_operators(backward)),
    )


def _partitioner() -> tuple[str, str]:
    """The partitioner's function, and where it is defined."""
    frame = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in values.OURS:
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return "", ""
    code = frame.f_code
    return code.co_qualname, f"{values.below_torch(code.co_filename) or code.co_filename}:{code.co_firstlineno}"


def _operators(module: Any) -> list[Any]:
    return [node for node in module.graph.nodes if node.op == "call_function"]


def _facts(
    forward: Any,
    backward: Any,
    given: list[Any],
    saved: list[Any],
    choice: min_cut.Choice,
    static: frozenset[str] | None,
) -> list[Saved]:
    """The decisions as facts; `given` is what the program receives, `saved` what the forward returns besides; `static`
    names its parameters.
    """
    owners: dict[Any, str] = {}
    """Memory → the first value in it, so that a second view of a saved value costs nothing more."""
    inputs = [node for node in forward.graph.nodes if node.op == "placeholder"]
    stays = {} if static is None else {node.name: node.name in static for node in inputs}
    for node in (*inputs, *given):
        owners.setdefault(_storage(node), getattr(node, "name", ""))
    computed = {node.name for node in _operators(forward)}
    again = {node.name: node for node in _operators(backward) if node.name in computed}
    readers = {
        node.name: tuple([user.name for user in node.users if user.name not in again])
        for node in backward.graph.nodes
        if node.op == "placeholder" or node.name in again
    }
    cut = choice.cut
    first = choice.cuts[0] if choice.cuts else cut

    def fact(node: Any, decision: str) -> Saved:
        storage, read_by = _storage(node), readers.get(node.name, ())
        owner = owners.get(storage, "") if storage is not None else ""
        if decision == "saved" or read_by:
            owners.setdefault(storage, node.name)
        size, expression = _size(node)
        banned = cut.banned.get(node.name, "")
        return Saved(
            graph=compile_id() or "",
            aot_graph=aot_graph_name(),
            node=node.name,
            decision=decision,
            bytes=size,
            size=expression,
            of=owner,
            is_input=node.op == "placeholder",
            is_static=stays.get(owner),
            is_needed=bool(read_by),
            readers=read_by[:_MOST_READERS],
            policy=policy(node),
            banned=banned,
            lifted="" if banned else first.banned.get(node.name, ""),
            unsavable=cut.unsavable.get(node.name, ""),
            weight=cut.weights.get(node.name),
            where=line_of(node),
        )

    kept = [fact(node, "saved") for node in saved if hasattr(node, "meta")]
    return kept + [fact(node, "recomputed") for node in again.values()]


def _storage(node: Any) -> int | None:
    """A number that is equal for all values that share memory; None for a value without memory."""
    found = _memory(node)
    return None if found is None else int(found._cdata)


def _memory(node: Any) -> Any:
    value: Any = getattr(node, "meta", {}).get("val")
    if not (hasattr(value, "untyped_storage") and hasattr(value, "dtype")):
        return None
    try:
        return value.untyped_storage()  # the storage of a fake tensor has no data
    except (NotImplementedError, RuntimeError) as error:  # a sparse tensor
        let_pass(error)
        return None


def _size(node: Any) -> tuple[int | None, str]:
    """Bytes of the memory that one or several values are in, and the expression for it if it is symbolic."""
    if (found := _memory(node)) is not None:
        length = found.nbytes()
        text = values.size(length)
        return values.hint(length), text if isinstance(text, str) else ""
    sizes = [values.tensor(part).bytes for part in values.tensors(node.meta.get("val"))]
    return (sum(size for size in sizes if size is not None) if sizes and None not in sizes else None), ""
