"""Which graph an object of the compiler belongs to.

Found from the object at hand, because graphs are compiled on several threads at once.
"""

import itertools
import sys
import threading
import weakref
from dataclasses import dataclass, field
from typing import Any

from inspect_compile.at_start import AtStart
from inspect_compile.dump import paths
from inspect_compile.facts import Location
from inspect_compile.facts.compile_id import torch_id
from inspect_compile.lowering.core.compile_names import NAMES
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import compilers as compiler_names
from inspect_compile.torch_compat import dynamo as dynamo_names
from inspect_compile.torch_compat import inductor as names


def torch_object(name: Name) -> Any:
    """The torch object of that name; None if this torch does not have it, or has not loaded it."""
    found: Any = sys.modules.get(name.module)
    if "." not in name.attribute:
        return getattr(found, name.attribute, None)
    for part in name.attribute.split("."):
        found = getattr(found, part, None)
    return found


def allows_tf32() -> bool | None:
    """Whether float32 matmuls on a GPU may round to tf32; None if torch does not say because both of its switches were
    set.
    """
    ask = torch_object(names.ALLOWS_TF32)
    try:
        return None if ask is None else bool(ask())
    except Exception as error:
        let_pass(error)
        return None


def current_graph() -> Any:
    """The GraphLowering that the current thread works on, or None."""
    virtualized = torch_object(names.VIRTUALIZED)
    try:
        graph = virtualized.graph if virtualized is not None else None
    except RuntimeError as error:
        # Poisoned: a process that compiles for another one must not use what was not sent to it.
        let_pass(error)
        return None
    return graph if hasattr(graph, "graph_inputs") else None


def aot_graph_name() -> str:
    """torch's name of the graph being compiled, `model__0_forward_1`."""
    ask = torch_object(names.AOT_GRAPH_NAME)
    return str(ask()) if ask is not None else "model"


def compile_id() -> str | None:
    """Name of the current thread's compile: torch's id `0/0`, after a reset `0/0#2`."""
    context = torch_object(dynamo_names.COMPILE_CONTEXT)
    found = context.current_compile_id() if context is not None else None
    return None if found is None else NAMES.name(found)


def torch_compile_id(name: str) -> Any:
    """A CompileId for the compile that another process calls `name`, so that its facts have that name here too; None if
    there is none.
    """
    if not name:
        return None
    made = compiler_names.COMPILE_ID.load().from_string(torch_id(name))
    NAMES.call(made, name)
    return made


@dataclass
class Scope:
    """One graph's identity, and plain values that later hooks of the same graph need.

    Holds nothing of the compiler's.
    """

    graph: str
    kind: str = "inference"
    compile_id: str | None = None
    started: float = field(default_factory=AtStart.perf_counter)
    order: dict[str, int] = field(default_factory=dict)
    """Post-grad node → position."""
    where: dict[str, Location] = field(default_factory=dict)
    """Post-grad node → source line."""
    constraints: dict[str, list[str]] = field(default_factory=dict)
    """Layout constraint → post-grad nodes to whose arguments it applies."""
    lowered: int = 0
    """Number of lowered nodes; the one being lowered has this index."""
    kernels: dict[str, Any] = field(default_factory=dict)
    """Kernels that the generated code defines, by name: plain values, shared by a graph and its nested graphs."""
    makers: dict[str, str] = field(default_factory=dict)
    """Operation → the post-grad node whose lowering made it; an element of a tuple → the node that extracts it."""
    children: "itertools.count[int]" = field(default_factory=itertools.count)
    announced: bool = False
    stash: dict[str, Any] = field(default_factory=dict)
    """What one probe keeps between its hooks, by the probe's name."""

    @property
    def folder(self) -> str:
        """The graph's folder, relative to the dump."""
        return paths.graph_folder(self.graph)

    def in_order(self, nodes: Any) -> tuple[str, ...]:
        """Names of FX nodes, each once, in graph order.

        A nested graph's IR also names nodes of the enclosing graphs: these are left out.
        """
        found = {node.name for node in nodes if hasattr(node, "name") and hasattr(node, "op")}
        if "/" in self.graph:
            found &= self.order.keys()
        return tuple(sorted(found, key=lambda name: (self.order.get(name, 1 << 30), name)))

    def extern_nodes(self, ir_node: Any) -> tuple[str, ...]:
        """The FX nodes that an extern kernel computes: the one that made it, or all that flowed into it.

        Not torch's `get_origin_node`: that is the last node whose lowering returned the same box, such as an
        `index_put` that writes into it, or an `expand` that changes nothing.
        """
        name = ir_node.get_operation_name() if hasattr(ir_node, "get_operation_name") else None
        maker = self.makers.get(name or "")
        return self.in_order(ir_node.get_origins()) if maker is None else (maker,)

    def own_node(self, ir_node: Any) -> str | None:
        """The FX node whose value this is: torch's own answer, unless a later node only returned it again."""
        own = ir_node.get_origin_node() if hasattr(ir_node, "get_origin_node") else None
        if own is None:
            return None
        origins = getattr(ir_node, "origins", ())
        return own.name if own in origins else (self.in_order(origins) or (own.name,))[-1]


class Scopes:
    """DebugContexts and GraphLowerings → scopes. The keys are weak: nothing lives longer for being watched."""

    def __init__(self) -> None:
        self._of_context: weakref.WeakKeyDictionary[Any, Scope] = weakref.WeakKeyDictionary()
        self._of_graph: weakref.WeakKeyDictionary[Any, Scope] = weakref.WeakKeyDictionary()
        self._numbers = itertools.count()
        self._taken: set[int] = set()
        self._lock = threading.Lock()

    def opened(self, context: Any, name: str) -> Scope:
        """The compile of one graph has begun."""
        kind = next((kind for kind in ("forward", "backward") if f"_{kind}" in name), "inference")
        with self._lock:
            scope = Scope(graph=paths.safe_name(f"{name}.{self._next()}"), kind=kind, compile_id=compile_id())
        self._of_context[context] = scope
        return scope

    def named(self, name: str, number: int) -> str:
        """The name of a graph that torch calls `name`, and that was the compile `number` of an earlier run.

        It has that number here, too, unless another graph has: a run that is served is told like the one that was not.
        """
        with self._lock:
            if number in self._taken:
                number = self._next()
            self._taken.add(number)
            return paths.safe_name(f"{name}.{number}")

    def _next(self) -> int:
        """The number of the next compile."""
        number = next(number for number in self._numbers if number not in self._taken)
        self._taken.add(number)
        return number

    def count_from(self, number: int) -> None:
        """Set the number of the next compile."""
        self._numbers = itertools.count(number)
        self._taken.clear()

    def of_context(self, context: Any) -> Scope | None:
        """The scope that `opened` made for this DebugContext."""
        try:
            return self._of_context.get(context)
        except TypeError as error:
            let_pass(error)
            return None

    def born(self, graph: Any) -> Scope:
        """A GraphLowering was made: the graph of the open compile, or one nested in another graph."""
        virtualized = torch_object(names.VIRTUALIZED)
        parent = self.of(getattr(graph, "parent", None)) or self.of(current_graph())
        scope = self.of_context(virtualized.debug)
        if parent is not None:
            scope = self._nested(
                parent,
                getattr(graph, "name", None) or "autotune",
                "subgraph" if hasattr(graph, "parent") else "autotune",
            )
        elif scope is not None and getattr(graph, "is_const_graph", False):
            scope = self._nested(scope, "constants", "constants")
        elif scope is None:
            scope = self.opened(graph, aot_graph_name())
        nodes = graph.module.graph.nodes if hasattr(graph, "module") else ()
        scope.order.update((node.name, index) for index, node in enumerate(nodes))
        self._of_graph[graph] = scope
        return scope

    def of(self, graph: Any) -> Scope | None:
        """The scope of a GraphLowering that was seen before."""
        return None if graph is None else self._of_graph.get(graph)

    def at(self, graph: Any) -> Scope:
        """The scope of a GraphLowering; created if its construction was not seen because that hook was turned off."""
        return self.of(graph) or self.born(graph)

    def here(self) -> Scope | None:
        """The scope of the graph that the current thread works on."""
        graph = current_graph()
        return None if graph is None else self.at(graph)

    def inner(self, graph: Any, root: Any, name: str) -> Scope | None:
        """A pointwise subgraph of the GraphLowering `root`; None if `root` is not watched."""
        parent = self.of(root)
        if parent is None:
            return None
        scope = self._of_graph[graph] = self._nested(parent, name, "subgraph")
        return scope

    def _nested(self, parent: Scope, name: str, kind: str) -> Scope:
        number = next(parent.children)
        unique = name if kind == "subgraph" else f"{name}_{number}"
        return Scope(
            graph=f"{parent.graph}/{paths.safe_name(unique)}",
            kind=kind,
            compile_id=parent.compile_id,
            kernels=parent.kernels,
        )


SCOPES = Scopes()
"""The scopes of this process. A registry of objects, not of "the current graph"."""
