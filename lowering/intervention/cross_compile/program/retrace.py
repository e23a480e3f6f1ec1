"""In the program: a frame that Dynamo would trace differently on a GPU is traced once more, as for a GPU.

An optimizer that is told nothing else updates all its parameters at once (foreach) where they are on a GPU, and one by
one where they are not. The program's own trace comes first and is what runs; of the other only the graph is kept.
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

_ON_GPU: Final[Any] = names.FOREACH_DEVICES.load()


def _anywhere() -> list[str]:
    """What Dynamo traces in the place of torch's; a step that runs meanwhile on another thread gets torch's answer."""
    return ["cpu", *_ON_GPU()] if torch.compiler.is_compiling() else _ON_GPU()


class _Frames(threading.local):
    """What this thread's compiles keep back."""

    def __init__(self) -> None:
        self.deep = 0
        self.as_on_gpu = False
        self.kept: Send | None = None
        """Sends the graph of the program's own trace. It goes if there is no other."""
        self.sent = False


_FRAMES: Final = _Frames()


def is_running() -> bool:
    """Is this the second trace of a frame? Nobody runs its graph."""
    return _FRAMES.as_on_gpu


def keeps(send: Send) -> bool:
    """Is the graph that is being compiled another one on a GPU? Then `send` waits until that one has been tried."""
    if _FRAMES.as_on_gpu:
        _FRAMES.sent = True
        return False
    if not _FRAMES.deep or _ON_GPU.__code__ not in (TRACING_CONTEXT.load().get_traced_code() or ()):
        return False
    _FRAMES.kept = send
    return True


def install(unwatched: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
    """Stand in the place of Dynamo's trace of a frame. Nothing is recorded while `unwatched` is open."""
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
            # A bare `raise` adds no entry: the traceback is that of Dynamo alone.
            error.__traceback__ = None if error.__traceback__ is None else error.__traceback__.tb_next
            raise
        finally:
            if _FRAMES.kept is not None:
                _FRAMES.kept()
            _FRAMES.kept = outer
            _FRAMES.deep -= 1

    names.COMPILE_FRAME.put(compile_frame_twice)


def _as_on_gpu(trace: Callable[[], Any]) -> bool:
    """Trace as for a GPU. Did a graph go out?"""
    _FRAMES.as_on_gpu, _FRAMES.sent = True, False
    names.FOREACH_DEVICES.put(_anywhere)
    try:
        trace()
    except Exception as error:  # the program's own trace went well, and is what counts
        let_pass(error)
        return _FRAMES.sent
    finally:
        names.FOREACH_DEVICES.put(_ON_GPU)
        _FRAMES.as_on_gpu = False
    return _FRAMES.sent


@contextlib.contextmanager
def _without_a_trace(scope: dict[str, Any], output: Any) -> Iterator[None]:
    """Leave Dynamo as it was: what it counts, what it logs, and what it put into the globals of the frame, `scope`.

    The names that its first trace put there stand aside meanwhile, since it gives some of them again.
    """
    context = COMPILE_CONTEXT.load().get()
    before = context.attempt, copy.deepcopy(names.COUNTERS.load()), copy.copy(names.UNIQUE_IDS.load())
    counts = {name: name.load() for name in (names.GLOBALS_COUNT, names.OPERATIONS)}
    own = {hook.name: scope.pop(hook.name) for hook in output.tracer_output.output_graph.cleanups}
    known = set(scope)
    create = names.ADD_GLOBAL.load()

    def add(where: dict[str, Any], name: str, value: Any) -> Any:
        where.pop(name, None)  # of an attempt that Dynamo has given up
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
