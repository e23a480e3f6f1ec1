"""Turns FX graphs into facts."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from inspect_compile.facts import DynamoNode, JointNode, Location, Node
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES

_MODULE_ROOT = re.compile(r"^L\['self'\]\.?|^L__self___?\.?")
_DEEPEST = 8
"""Maximum nesting depth of graphs."""
_INDEX = re.compile(r"\[(\d+|'[^']*'|\"[^\"]*\")\]")


def target_name(target: Any) -> str:
    """`aten.convolution.default`, `torch.relu`, `operator.getitem`."""
    if isinstance(target, str):
        return target
    if not hasattr(target, "overloadpacket"):
        return _name(target)
    name = target.name()
    found = _OPERATORS.get(name)
    if found is None:
        found = _OPERATORS[name] = _name(target)
    return found


def _name(target: Any) -> str:
    module = getattr(target, "__module__", None)
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None)
    text = str(target)
    if text.startswith("<") and name:
        return f"{module}.{name}".replace("torch._ops.", "").replace("_operator.", "operator.") if module else name
    return text


_OPERATORS: Final[dict[str, str]] = {}
"""torch's name of an overload, `aten::add.Tensor` → ours. Not by the operator: a graph that was copied has a copy of it
for each node, of the same hash as all others; nor of any other function, which might keep tensors alive.
"""


def module_path(path: str) -> str:
    """The path of an nn.Module below the compiled module, as the user wrote it: `layers.0.attention`."""
    plain = _INDEX.sub(lambda match: "." + match[1].strip("'\""), _MODULE_ROOT.sub("", path))
    return plain.replace("_modules.", "").strip(".")


def origins(meta: dict[str, Any]) -> tuple[str, ...]:
    """Names along FX's `from_node`, nearest first."""
    sources = meta.get("from_node")
    if not sources:
        return ()
    found: list[str] = []
    waiting = list(sources)
    while waiting:
        source = waiting.pop(0)
        name = getattr(source, "name", "")
        if name and name not in found:
            found.append(name)
        waiting += list(getattr(source, "from_node", ()) or ())
    return tuple(found)


def user_line(node: Any) -> Location | None:
    """The source line of an FX node."""
    trace = node.meta.get("stack_trace")
    where = CALL_SITES.traced_line(trace) if trace else None
    if where is None or not is_library(where.file):
        return where
    module = module_path(innermost_module(node.meta)[0])
    return CALL_SITES.in_module(where, module) if module else where


def innermost_module(meta: dict[str, Any]) -> tuple[str, Any]:
    """torch's path of the nn.Module that ran a node, and its class; empty if there is none."""
    stack = meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack")
    return stack[next(reversed(stack))] if stack else ("", None)


def calling_line(node: Any) -> Location | None:
    """For a node of a compiled module of torch's, the line that called the module; None for any other.

    torch leaves the frames in its own modules out of a stack: nothing is left of it then.
    """
    if not node.op.startswith("call"):
        return None
    of_module = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    return CALL_SITES.traced_line("") if of_module else None


class NodeReader:
    """Turns the nodes of one graph into facts, within a hook; what several nodes share is read once."""

    def __init__(self, inherited: Callable[[str], Mapping[str, Any]] | None = None) -> None:
        """`inherited`: path of a nested graph → origins of its nodes that passes created without a source line."""
        self._inherited = inherited
        self._modules: dict[str, str] = {}
        self._targets: dict[int, str] = {}
        """By identity: operators are slow to compare."""

    def target(self, target: Any) -> str:
        """The target's name."""
        if type(target) is str:
            return target
        found = self._targets.get(id(target))
        if found is None:
            found = self._targets[id(target)] = target_name(target)
        return found

    def module(self, meta: dict[str, Any]) -> tuple[str, str]:
        """The nn.Module that ran a node: its path below the compiled module, and its type."""
        path, kind = innermost_module(meta)
        if not path:
            return "", ""
        plain = self._modules.get(path)
        if plain is None:
            plain = self._modules[path] = module_path(path)
        return plain, getattr(kind, "__name__", None) or str(kind).rsplit(".", 1)[-1]

    def facts(self, nodes: Any, *, graph: str, stage: str, nested: str = "") -> Iterator[Node]:
        """One fact for each node, in graph order; `nested` is the graph's path in the outermost one."""
        kind = _KINDS.get(stage, Node)
        inherited = self._inherited(nested) if self._inherited is not None else {}
        for index, node in enumerate(nodes):
            meta = node.meta
            path, module_type = self.module(meta)
            where, sources = user_line(node), origins(meta)
            if where is None and (origin := inherited.get(node.name)) is not None:
                where, path, module_type = origin[:3]
                sources = sources or origin.nodes
            where = where or calling_line(node)
            value, aten = meta.get("val", meta.get("example_value")), meta.get("original_aten")
            yield kind(
                graph=graph,
                stage=stage,
                index=index,
                name=node.name,
                op=node.op,
                target=self.target(node.target),
                inputs=tuple([source.name for source in node.all_input_nodes]),
                arguments=", ".join(arguments(node)),
                users=tuple([user.name for user in node.users]),
                values=tuple([values.tensor(item) for item in values.tensors(value)]),
                where=where,
                module=path,
                module_type=module_type,
                origins=sources,
                original_aten="" if aten is None or aten is node.target else self.target(aten),
                is_backward="autograd_backward" in meta or meta.get("partitioner_tag") == "is_backward",
            )

    def all_facts(self, module: Any, *, graph: str, stage: str) -> Iterator[Node]:
        """The same for a GraphModule and all graphs nested in it, whose rows have their path after `graph`."""
        waiting = [(module, graph)]
        while waiting:
            one, path = waiting.pop(0)
            nodes = one.graph.nodes
            yield from self.facts(nodes, graph=path, stage=stage, nested=path[len(graph) :].strip("/"))
            if path.count("/") - graph.count("/") < _DEEPEST:
                waiting += [(inner, f"{path}/{name}") for name, inner in nested_modules(one)]


def nested_modules(module: Any) -> list[tuple[str, Any]]:
    """The GraphModules that nodes of `module` refer to, such as branches of a conditional, each once."""
    names = dict.fromkeys(node.target for node in module.graph.nodes if node.op == "get_attr")
    found: list[tuple[str, Any]] = [(str(name), getattr(module, str(name), None)) for name in names]
    return [(name, inner) for name, inner in found if hasattr(inner, "graph") and hasattr(inner.graph, "nodes")]


_KINDS: Final[dict[str, type[Node]]] = {"dynamo": DynamoNode, "joint": JointNode}


def arguments(node: Any) -> tuple[str, ...]:
    """args and kwargs, each as text; nodes as `%name`."""
    found = [argument(value) for value in node.args]
    if node.kwargs:
        found += [f"{key}={argument(value)}" for key, value in node.kwargs.items()]
    return tuple(found)


def argument(value: Any) -> str:
    """One argument of an FX node as text."""
    if isinstance(value, (str, int, float, bool, complex, type(None))):
        return repr(value)
    if hasattr(value, "op") and hasattr(value, "meta"):
        return f"%{value.name}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join([argument(item) for item in value])
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {argument(item)}" for key, item in value.items()) + "}"
    if isinstance(value, slice):
        return f"{argument(value.start)}:{argument(value.stop)}:{argument(value.step)}"
    return str(values.size(value)) if hasattr(value, "node") else str(value)[:200]
