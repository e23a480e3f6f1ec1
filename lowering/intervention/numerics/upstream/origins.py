"""Where a graph that Inductor compiles comes from: Dynamo's graph, that of AOTAutograd, and its passes before the
partition.
"""

import contextlib
import importlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch.fx import GraphModule

from inspect_compile.knowledge.numerics.levels import BACKEND, DYNAMO, PRE_GRAD
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.lowering.intervention.numerics.graphs.nodes import inputs_of
from inspect_compile.lowering.intervention.numerics.levels import Level, copied, text_of
from inspect_compile.lowering.intervention.numerics.upstream.left_out import LeftOut
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import call_path, dynamo, passes

_TANGENT: Final = "TangentAOTInput"
_KEPT: Final = 16
"""Maximum number of origins with the same id: parts of a frame that are compiled one by one."""


@dataclass(frozen=True)
class Surroundings:
    """What Dynamo's graph does not say of itself: the state that it is called in."""

    autocast: tuple[tuple[str, torch.dtype, bool], ...]
    """Type of device, dtype, and whether it is on."""
    has_gradients: bool
    """autograd is on. Without it transforms of torch.func differentiate nothing."""

    @classmethod
    def here(cls) -> "Surroundings":
        """Those of this thread."""
        kinds = ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",)
        autocast = tuple((kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind)) for kind in kinds)
        return cls(autocast, torch.is_grad_enabled())

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """In this block they are as they were."""
        with contextlib.ExitStack() as stack:
            for kind, dtype, is_on in self.autocast:
                stack.enter_context(torch.autocast(kind, dtype, enabled=is_on, cache_enabled=False))
            stack.enter_context(torch.set_grad_enabled(self.has_gradients))
            yield

    @classmethod
    def of_backward(cls) -> "Surroundings | None":
        """Those in which autograd called the backward that runs in this thread; None if no call was seen."""
        return _CALLED.surroundings


class _Called(threading.local):
    surroundings: Surroundings | None = None


_CALLED: Final = _Called()


@dataclass
class Origin:
    """The graphs before the one that Inductor gets. Their inputs are those of the frame, parameters among them."""

    dynamo: tuple[Level, ...]
    """Dynamo's graph, and as it was after each edit."""
    surroundings: Surroundings
    left_out: str = ""
    """Why Dynamo's graph is not known to be the program's function, see `LeftOut`; empty if it is not known not to be.
    """
    traced: GraphModule | None = None
    """AOTAutograd's graph; in training forward and backward as one."""
    is_joint: bool = False
    joint: tuple[Level, ...] = ()
    """In training, that graph and as it was after each pass, up to the partition."""
    backward_inputs: tuple[str, ...] = ()
    """The inputs of the backward graph that was cut out of it; empty before."""
    forward: GraphModule | None = None
    """The forward graph, as Inductor got it."""
    pending: list[Any] = field(default_factory=list)
    """Checked calls of the forward graph, whose backward has not run."""

    @property
    def primals(self) -> tuple[str, ...]:
        """The inputs of `traced` without tangents."""
        if self.traced is None:
            return ()
        nodes = self.traced.graph.find_nodes(op="placeholder")
        return tuple(node.name for node in nodes if type(node.meta.get("desc")).__name__ != _TANGENT)


class _Here(threading.local):
    origin: Origin | None = None
    """Of the graph that this thread compiles."""
    left_out: str = ""
    """See `Origin.left_out`: of the graph that Dynamo hands to its backend now."""
    is_traced: bool = False
    """AOTAutograd has its graph: what is traced from now on is another one."""
    depth: int = 0
    """How many graphs are nested in one another that passes run over."""
    top: Callable[[], GraphModule | None] = staticmethod(lambda: None)
    """The outermost of them."""


class Origins:
    """The origins of the graphs of a process."""

    def __init__(self) -> None:
        self.left_out = LeftOut()
        self._here = _Here()
        self._waiting: dict[str | None, list[Origin]] = {}
        """Compile id → origins whose backward graph has not been compiled."""

    def of(self, module: GraphModule, *, is_backward: bool) -> Origin | None:
        """The origin of a graph that Inductor got, and has just compiled; None if it is not known."""
        names = tuple(inputs_of(module))
        if not is_backward:
            origin = self._here.origin
            if origin is None or origin.primals != names:
                return None
            origin.forward = module
            return origin
        waiting = self._waiting.get(compile_id(), [])
        found = next((one for one in reversed(waiting) if one.backward_inputs == names), None)
        if found is not None:
            waiting.remove(found)
        return found

    def began(self, module: GraphModule) -> None:
        """Dynamo has a graph."""
        self._here.is_traced = False
        self._here.origin = Origin((Level(DYNAMO, copied(module)),), Surroundings.here(), self._here.left_out)

    @contextlib.contextmanager
    def from_dynamo(self, output: Any) -> Iterator[None]:
        """In this block a backend gets the graph of `output`, whole or in parts."""
        before, self._here.left_out = self._here.left_out, self.left_out.of(output)
        try:
            yield
        finally:
            self._here.left_out = before

    def edited(self, module: GraphModule, name: str) -> None:
        """Dynamo's graph may have been changed by what is called `name`."""
        origin = self._here.origin
        if self._here.is_traced or origin is None:
            return
        if self._here.depth > 1:
            top = self._here.top()
            if top is None or not any(module is one for one in top.modules()):
                return
            module = top
        last = origin.dynamo[-1].module
        if inputs_of(last) == inputs_of(module) and text_of(last) != text_of(module):
            origin.dynamo = (*origin.dynamo, Level(name, copied(module)))

    @contextlib.contextmanager
    def in_passes(self, module: GraphModule) -> Iterator[None]:
        """Inductor's passes run over `module`, Dynamo's graph or one that is nested in it, in this block."""
        if not self._here.depth:
            self._here.top = weakref.ref(module)
        self._here.depth += 1
        try:
            yield
        finally:
            self._here.depth -= 1

    def handed(self, module: GraphModule) -> None:
        """AOTAutograd is about to trace a graph: Dynamo's, or a part of it that a backend made."""
        origin = self._here.origin
        if origin is None or self._here.is_traced or inputs_of(origin.dynamo[-1].module) != inputs_of(module):
            self.began(module)
        self.edited(module, BACKEND)

    def traced(self, module: GraphModule, *, is_joint: bool) -> None:
        """AOTAutograd has its graph."""
        origin = self._here.origin
        if self._here.is_traced or origin is None:
            return
        self._here.is_traced = True
        origin.traced, origin.is_joint = copied(module), is_joint

    def cut(self, backward: GraphModule, joint: Sequence[Level]) -> None:
        """The joint graph was cut in two."""
        origin = self._here.origin
        if origin is None or not origin.is_joint or origin.backward_inputs:
            return
        names = set(origin.primals)
        if not joint or not names.issubset(inputs_of(joint[0].module)):
            return
        origin.joint = tuple(joint)
        origin.backward_inputs = tuple(inputs_of(backward))
        waiting = self._waiting.setdefault(compile_id(), [])
        waiting.append(origin)
        del waiting[:-_KEPT]


def install(check: Any) -> None:
    """Tell `check.origins` of the graphs on their way to Inductor, from now on."""
    origins: Origins = check.origins

    def safely(action: Callable[[], None]) -> None:
        if check.is_on:
            _safely(action)

    def user_compiler(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(output: Any, module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            with origins.from_dynamo(output):
                safely(lambda: origins.began(module))
                return plain(output, module, *args, **kwargs)

        return run

    def aot(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(backend: Any, module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            safely(lambda: origins.handed(module))
            return plain(backend, module, *args, **kwargs)

        return run

    def pre_grad(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            with origins.in_passes(module):
                safely(lambda: origins.edited(module, BACKEND))
                found = plain(module, *args, **kwargs)
                safely(lambda: origins.edited(found, PRE_GRAD))
            return found

        return run

    def ended(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(observer: Any, *args: Any, **kwargs: Any) -> Any:
            result = plain(observer, *args, **kwargs)
            safely(lambda: origins.edited(observer.gm, str(observer.passname)))
            return result

        return run

    def trace(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(state: Any, *args: Any, **kwargs: Any) -> Any:
            found = plain(state, *args, **kwargs)
            safely(lambda: origins.traced(found.graph_module, is_joint=bool(state.needs_autograd)))
            return found

        return run

    def partition(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            found = plain(*args, **kwargs)
            safely(lambda: origins.cut(found[1], check.levels.so_far()))
            return found

        return run

    def backward(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            before, _CALLED.surroundings = _CALLED.surroundings, Surroundings.here()
            try:
                return plain(*args, **kwargs)
            finally:
                _CALLED.surroundings = before

        return run

    for name, watched in (
        (dynamo.USER_COMPILER, user_compiler),
        (call_path.AOT_AUTOGRAD, aot),
        (passes.PRE_GRAD, pre_grad),
        (passes.OBSERVER_EXIT, ended),
        (call_path.AOT_TRACE, trace),
        (call_path.PARTITION, partition),
        (call_path.CALL_BACKWARD, backward),
    ):
        replace(importlib.import_module(name.module), name, watched)


def _safely(look: Callable[[], None]) -> None:
    try:
        look()
    except Exception as error:
        let_pass(error)
        error.__traceback__ = None
