"""A graph as AOTAutograd handed it to Inductor, and after each pass that changed it."""

import importlib
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch
from torch.fx import GraphModule

from inspect_compile.knowledge.numerics.levels import JOINT_PASSES
from inspect_compile.lowering.intervention.numerics.graphs.mutations import copied_by
from inspect_compile.lowering.intervention.numerics.graphs.nodes import inputs_of
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import call_path, passes

FIRST: Final = "as AOTAutograd made it"


class Level(NamedTuple):
    """A graph between two passes."""

    name: str
    """The pass that has just run; `FIRST` if none has."""
    module: GraphModule


class Levels:
    """Copies of the graph that a thread compiles, as the passes go on. A graph that cannot be copied has none."""

    def __init__(self) -> None:
        self._here = _Here()
        self.is_on = True
        """Whether graphs are copied."""

    def take(self) -> tuple[Level, ...]:
        """The levels of the graph that this thread has just compiled, first to last; they are forgotten here."""
        found, self._here.levels = self._here.levels, ()
        return found

    def so_far(self) -> tuple[Level, ...]:
        """The levels of the graph that this thread compiles."""
        return self._here.levels

    def begin(self, module: GraphModule) -> None:
        """A graph is about to go through passes."""
        self._here.levels = ()
        self._here.module = weakref.ref(module)
        if self.is_on:
            self._add(module, FIRST)

    def handed(self, module: GraphModule) -> None:
        """Inductor got a graph: the one that went through passes, or a part of it."""
        if not self._is_same(module):
            self.begin(module)
        self._here.module = weakref.ref(module)

    def passed(self, module: GraphModule, name: str) -> None:
        """A pass has ended, over the graph or over one that is nested in it. Those over the replacement of a pattern
        don't count.
        """
        top = self._here.module()
        if top is not None and module is not top and any(module is one for one in top.modules()):
            module = top
        elif not self._is_same(module):
            return
        else:
            self._here.module = weakref.ref(module)
        if text_of(module) != self._here.text:
            self._add(module, name)

    def _add(self, module: GraphModule, name: str) -> None:
        try:
            self._here.levels = (*self._here.levels, Level(name, copied(module)))
            self._here.text = text_of(module)
        except Exception as error:
            let_pass(error)
            self._here.levels = ()

    def _is_same(self, module: GraphModule) -> bool:
        known = self._here.levels
        if not known:
            return False
        inputs = inputs_of(module)
        # The replacement of a pattern has no inputs either if the graph has none.
        return inputs == inputs_of(known[0].module) and (bool(inputs) or self._here.module() is module)


class _Here(threading.local):
    levels: tuple[Level, ...] = ()
    text: str = ""
    """The graph of the last level."""
    module: Callable[[], GraphModule | None] = staticmethod(lambda: None)
    """The module of the first one."""


def install(check: Any) -> None:
    """Tell `check.levels` of the graphs that go through Inductor, from now on."""
    levels: Levels = check.levels
    depth = threading.local()

    def joint(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            at = depth.__dict__.get("at", 0)
            if not at:
                levels.begin(module)
            depth.at = at + 1
            try:
                found = plain(module, *args, **kwargs)
            finally:
                depth.at = at
            if not at:
                levels.passed(found, JOINT_PASSES)
            return found

        return run

    def inner(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            levels.handed(module)
            found = plain(module, *args, **kwargs)
            return check.without_code(module, found, is_backward=bool(kwargs.get("is_backward")))

        return run

    def ended(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(observer: Any, *args: Any, **kwargs: Any) -> Any:
            result = plain(observer, *args, **kwargs)
            levels.passed(observer.gm, str(observer.passname))
            return result

        return run

    for name, watched in ((passes.JOINT, joint), (call_path.INNER, inner), (passes.OBSERVER_EXIT, ended)):
        replace(importlib.import_module(name.module), name, watched)


def text_of(module: GraphModule) -> str:
    """What changes if a pass changes the graph, or one that is nested in it."""
    of_nodes = [f"{node.name}: {found}" for node in module.graph.nodes if (found := copied_by(node)) is not None]
    nested = [text_of(one) for one in _nested(module).values()]
    return "\n".join([str(module.graph), *of_nodes, *nested])


def copied(module: GraphModule) -> GraphModule:
    """The same nodes in a graph of its own, and so for the graphs that are nested in it; constants are shared.

    Views are reshapes: a backward graph is compiled with values that a view of the traced ones does not always fit.
    """
    graph = torch.fx.Graph()
    output = graph.output(graph.graph_copy(module.graph, {}))
    output.meta = dict(module.graph.output_node().meta)
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.view.default):
        node.target = torch.ops.aten.reshape.default
    made = GraphModule(module, graph)
    for name, inner in _nested(module).items():
        setattr(made, name, copied(inner))
    return made


def _nested(module: GraphModule) -> dict[str, GraphModule]:
    """The graphs that its nodes take as attributes, by their names there."""
    names = dict.fromkeys(str(node.target) for node in module.graph.find_nodes(op="get_attr"))
    found = {name: getattr(module, name, None) for name in names}
    return {name: one for name, one in found.items() if isinstance(one, GraphModule)}
