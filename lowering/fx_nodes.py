"""FX graphs as facts."""

import functools
import re
from typing import Any

from inspect_compile.facts import DynamoNode, Location, Node, Tensor
from inspect_compile.lowering import values

_MODULE_ROOT = re.compile(r"^L\['self'\]\.?|^L__self___?\.?")
_INDEX = re.compile(r"\[(\d+|'[^']*'|\"[^\"]*\")\]")


def target_name(target: Any) -> str:
    """`aten.convolution.default`, `torch.relu`, `operator.getitem`."""
    if isinstance(target, str):
        return target
    return _known_name(target) if hasattr(target, "overloadpacket") else _name(target)


def _name(target: Any) -> str:
    module = getattr(target, "__module__", None)
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    text = str(target)
    if text.startswith("<") and name:
        return f"{module}.{name}".replace("torch._ops.", "").replace("_operator.", "operator.") if module else name
    return text


_known_name = functools.lru_cache(maxsize=4096)(_name)
"""Of operators, which live as long as torch does; a function in a graph might keep tensors alive."""


def module_path(meta: dict[str, Any]) -> tuple[str, str]:
    """The nn.Module that ran a node: its path below the compiled module, and its type."""
    stack = meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack")
    if not stack:
        return "", ""
    path, kind = list(stack.values())[-1]
    plain = _INDEX.sub(lambda match: "." + match[1].strip("'\""), _MODULE_ROOT.sub("", path))
    plain = plain.replace("_modules.", "").strip(".")
    return plain, getattr(kind, "__name__", str(kind).rsplit(".", 1)[-1])


def origins(meta: dict[str, Any]) -> tuple[str, ...]:
    """Names along FX's `from_node`, nearest first."""
    found: list[str] = []
    waiting = list(meta.get("from_node") or ())
    while waiting:
        source = waiting.pop(0)
        name = getattr(source, "name", "")
        if name and name not in found:
            found.append(name)
        waiting += list(getattr(source, "from_node", ()) or ())
    return tuple(found)


class NodeReader:
    """Turns the nodes of one graph into facts; equal stack traces are parsed once."""

    def __init__(self) -> None:
        self._lines: dict[str, Location | None] = {}

    def where(self, node: Any) -> Location | None:
        """The user's line of an FX node."""
        trace = node.meta.get("stack_trace")
        if not trace:
            return None
        if trace not in self._lines:
            self._lines[trace] = values.user_line(values.locations(trace))
        return self._lines[trace]

    def facts(self, graph_module: Any, *, graph: str, stage: str) -> list[Node]:
        """One fact for each node, in the graph's order."""
        kind = DynamoNode if stage == "dynamo" else Node
        found: list[Node] = []
        for index, node in enumerate(graph_module.graph.nodes):
            path, module_type = module_path(node.meta)
            value = node.meta.get("val", node.meta.get("example_value"))
            found.append(
                kind(
                    graph=graph,
                    stage=stage,
                    index=index,
                    name=node.name,
                    op=node.op,
                    target=target_name(node.target),
                    inputs=tuple(source.name for source in node.all_input_nodes),
                    arguments=arguments(node),
                    users=tuple(user.name for user in node.users),
                    values=_tensors(value),
                    where=self.where(node),
                    module=path,
                    module_type=module_type,
                    origins=origins(node.meta),
                    is_backward="autograd_backward" in node.meta or node.meta.get("partitioner_tag") == "is_backward",
                )
            )
        return found


def _tensors(value: Any) -> tuple[Tensor, ...]:
    return tuple(values.tensor(item) for item in values.tensors(value))


def arguments(node: Any) -> str:
    """args and kwargs in one line; nodes as `%name`."""
    parts = [argument(value) for value in node.args] + [
        f"{key}={argument(value)}" for key, value in node.kwargs.items()
    ]
    return ", ".join(parts)


def argument(value: Any) -> str:
    """One argument of an FX node as text."""
    if hasattr(value, "op") and hasattr(value, "meta"):
        return f"%{value.name}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(argument(item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {argument(item)}" for key, item in value.items()) + "}"
    if isinstance(value, slice):
        return f"{argument(value.start)}:{argument(value.stop)}:{argument(value.step)}"
    if isinstance(value, (str, int, float, bool, complex, type(None))):
        return repr(value)
    return str(values.size(value)) if hasattr(value, "node") else str(value)[:200]
