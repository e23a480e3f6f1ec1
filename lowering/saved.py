"""What the partitioner lets the forward keep for the backward, and what the backward computes again."""

from typing import Any

from inspect_compile.facts import Saved
from inspect_compile.lowering import values
from inspect_compile.lowering.fx_nodes import user_line
from inspect_compile.lowering.scopes import aot_graph_name, compile_id
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import passes as names

PROBE = "lowering.saved"


def install(probes: Probes) -> None:
    """Hook where every partitioner cuts the joint graph in two."""

    def cut(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        forward, backward = result
        returned = _outputs(forward)
        count = kwargs["num_fwd_outputs"]
        probes.sink.add_all(_facts(forward, backward, returned[:count], returned[count:]))
        probes.sink.flush()

    probes.wrap(PROBE, names.PARTITIONED, after=cut)


def _outputs(module: Any) -> list[Any]:
    output = next(node for node in reversed(module.graph.nodes) if node.op == "output")
    found = output.args[0]
    return list(found) if isinstance(found, (tuple, list)) else [found]


def _facts(forward: Any, backward: Any, given: list[Any], saved: list[Any]) -> list[Saved]:
    """`given` is what the program gets, `saved` what the forward returns beside it."""
    owners: dict[Any, str] = {}
    for node in (*(node for node in forward.graph.nodes if node.op == "placeholder"), *given):
        owners.setdefault(_storage(node), getattr(node, "name", ""))
    computed = {node.name for node in forward.graph.nodes if node.op == "call_function"}
    again = {node.name: node for node in backward.graph.nodes if node.op == "call_function" and node.name in computed}
    readers = {
        node.name: any(user.name not in again for user in node.users)
        for node in backward.graph.nodes
        if node.op == "placeholder" or node.name in again
    }
    found = [_fact(node, "saved", owners, readers) for node in saved if hasattr(node, "meta")]
    return found + [_fact(node, "recomputed", owners, readers) for node in again.values()]


def _fact(node: Any, decision: str, owners: dict[Any, str], readers: dict[str, bool]) -> Saved:
    """Of what is saved; `owners` learns whose memory it is, so that a second view of it costs nothing more."""
    storage = _storage(node)
    owner = owners.get(storage, "") if storage is not None else ""
    if decision == "saved":
        owners.setdefault(storage, node.name)
    return Saved(
        graph=compile_id() or "",
        aot_graph=aot_graph_name(),
        node=node.name,
        decision=decision,
        bytes=_bytes(node),
        of=owner,
        is_needed=readers.get(node.name, False),
        where=user_line(node),
    )


def _storage(node: Any) -> int | None:
    """A number that is the same for all values in one piece of memory; None of what is in none of its own."""
    found = _memory(node)
    return None if found is None else int(found._cdata)


def _memory(node: Any) -> Any:
    value: Any = getattr(node, "meta", {}).get("val")
    if not (hasattr(value, "untyped_storage") and hasattr(value, "dtype")):
        return None
    try:
        return value.untyped_storage()  # of a fake tensor one that holds nothing
    except (NotImplementedError, RuntimeError):  # a sparse tensor
        return None


def _bytes(node: Any) -> int | None:
    """Of the whole memory that a value is in, or of several values together."""
    if (found := _memory(node)) is not None:
        return values.hint(found.nbytes())
    sizes = [values.tensor(part).bytes for part in values.tensors(node.meta.get("val"))]
    return sum(size for size in sizes if size is not None) if sizes and None not in sizes else None
