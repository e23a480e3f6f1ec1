"""Lets Dynamo trace a frame of the program a second time, as for a GPU, if that gives another graph.

By default an optimizer updates all parameters at once (foreach) if they are on a GPU, and one by one if not. The first
trace is the one that the program runs; the second only gives the graph that is compiled for the targets.
"""

import contextlib
import copy
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import torch

from inspect_compile.lowering.core.muted_logging import muted
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import targets as names
from inspect_compile.torch_compat.compilers import TRACING_CONTEXT
from inspect_compile.torch_compat.dynamo import COMPILE_CONTEXT

Send = Callable[[], None]
"""Sends a graph to those who compile it."""

_ON_GPU: Final[Any] = names.FOREACH_DEVICES.load()
"""torch's function that returns the devices on which optimizers use foreach."""


def _anywhere() -> list[str]:
    """Replaces `_ON_GPU` while Dynamo traces; a step that runs on another thread meanwhile gets torch's answer."""
    return ["cpu", *_ON_GPU()] if torch.compiler.is_compiling() else _ON_GPU()


class _Frames(threading.local):
    """State of the frames that are being traced on this thread."""

    def __init__(self) -> None:
        self.deep = 0
        """Number of frames that are being traced."""
        self.as_on_gpu = False
        """Whether the second trace of a frame is running."""
        self.kept: Send | None = None
        """Sends the graph of the first trace, which is kept until the second trace has or has not given one."""
        self.sent = False
        """Whether the second trace has given a graph."""


_FRAMES: Final = _Frames()


def is_running() -> bool:
    """Whether the second trace of a frame is running on this thread: the program does not run its graph."""
    return _FRAMES.as_on_gpu


def keeps(send: Send) -> bool:
    """Whether the graph that is being compiled may be another one on a GPU: then it is kept, and sent only if not."""
    if _FRAMES.as_on_gpu:
        _FRAMES.sent = True
        return False
    if not _FRAMES.deep or _ON_GPU.__code__ not in (TRACING_CONTEXT.load().get_traced_code() or ()):
        return False
    _FRAMES.kept = send
    return True


def install(unwatched: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
    """Replace Dynamo's function that traces a frame. Nothing is recorded while the context `unwatched` is open."""
    compile_frame = names.COMPILE_FRAME.load()

    def compile_frame_twice(code: Any, globals: Any, *arguments: Any, **named: Any) -> Any:  # noqa: A002
        if _FRAMES.as_on_gpu:
            return compile_frame(code, globals, *arguments, **named)
        outer, _FRAMES.kept = _FRAMES.kept, None
        _FRAMES.deep += 1
        try:
            output = compile_frame(code, globals, *arguments, **named)
            if _FRAMES.kept is not None:
                with unwatched(), _without_a_trace(globals, output):
                    if _as_on_gpu(lambda: compile_frame(code, globals, *arguments, **named)):
                        _FRAMES.kept = None
            return output
        except BaseException as error:
            # Our frame is removed: a bare `raise` adds no entry, so the traceback is as without us.
            error.__traceback__ = None if error.__traceback__ is None else error.__traceback__.tb_next
            raise
        finally:
            if _FRAMES.kept is not None:
                _FRAMES.kept()
            _FRAMES.kept = outer
            _FRAMES.deep -= 1

    names.COMPILE_FRAME.put(compile_frame_twice)


def _as_on_gpu(trace: Callable[[], Any]) -> bool:
    """Trace as for a GPU, and return whether that gave a graph."""
    _FRAMES.as_on_gpu, _FRAMES.sent = True, False
    names.FOREACH_DEVICES.put(_anywhere)
    try:
        trace()
    except Exception as error:  # the program goes on with the first trace
        let_pass(error)
        return _FRAMES.sent
    finally:
        names.FOREACH_DEVICES.put(_ON_GPU)
        _FRAMES.as_on_gpu = False
    return _FRAMES.sent


@contextlib.contextmanager
def _without_a_trace(scope: dict[str, Any], output: Any) -> Iterator[None]:
    """A context after which Dynamo is as before: its counters, its logs, and its names in the frame's globals, `scope`.

    The names that the first trace added to the globals are removed in the meantime: the second reuses some of them.
    """
    context = COMPILE_CONTEXT.load().get()
    before = context.attempt, copy.deepcopy(names.COUNTERS.load()), copy.copy(names.UNIQUE_IDS.load())
    counts = {name: name.load() for name in (names.GLOBALS_COUNT, names.OPERATIONS)}
    own = {hook.name: scope.pop(hook.name) for hook in output.tracer_output.output_graph.cleanups}
    known = set(scope)
    create = names.ADD_GLOBAL.load()

    def add(where: dict[str, Any], name: str, value: Any) -> Any:
        where.pop(name, None)  # left by an attempt that Dynamo has given up
        return create(where, name, value)

    names.ADD_GLOBAL.put(staticmethod(add))
    try:
        with contextlib.ExitStack() as stack:
            for logger in list(logging.root.manager.loggerDict.values()):
                if isinstance(logger, logging.Logger) and logger.name.partition(".")[0] == "torch":
                    stack.enter_context(muted(logger))
            yield
    finally:
        names.ADD_GLOBAL.put(staticmethod(create))
        for left in [name for name in scope if name.startswith("__") and name not in known]:
            del scope[left]
        scope.update(own)
        context.attempt, counters, ids = before
        names.COUNTERS.load().clear()
        names.COUNTERS.load().update(counters)
        names.UNIQUE_IDS.put(ids)
        for name, count in counts.items():
            name.put(count)
