"""Puts the recorder around what torch calls for a graph: around its CUDA graphs, too, if it has any."""

import functools
import importlib
import types
import weakref
from collections.abc import Callable
from typing import Any

from inspect_compile.lowering.intervention.numerics.recorder.calls import GraphCalls
from inspect_compile.lowering.intervention.numerics.recorder.recorder import Recorder
from inspect_compile.probe import replace
from inspect_compile.torch_compat import call_path as names

_watched: "weakref.WeakKeyDictionary[Any, Callable[[Callable[..., Any]], Callable[..., Any]]]" = (
    weakref.WeakKeyDictionary()
)
"""What torch calls for a graph, before anything is put around it → what puts the recorder around that."""


def inside(recorder: Recorder, graph: GraphCalls) -> Callable[[list[Any]], Any]:
    """What is to be called in the place of the graph's code: `install` finds the graph by it."""

    def call(args: list[Any]) -> Any:
        return graph.code.call(args)

    def around(plain: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
        @functools.wraps(plain)
        def recorded(args: list[Any]) -> Any:
            return recorder.call(graph, plain, args) if recorder.is_on else plain(args)

        return recorded

    _watched[call] = around
    return call


def install(check: Any) -> None:
    """Put a recorder around graphs that `inside` was called for, from now on."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def post_compile(compiled: Any, *args: Any, **kwargs: Any) -> Any:
            before = compiled.current_callable
            around = _watched.get(before) if isinstance(before, types.FunctionType) else None
            found = plain(compiled, *args, **kwargs)
            if around is not None and compiled.current_callable is not None:
                compiled.current_callable = around(compiled.current_callable)
            return found

        return post_compile

    replace(importlib.import_module(names.POST_COMPILE.module), names.POST_COMPILE, watched)
