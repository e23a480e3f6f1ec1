"""How a C++ kernel iterates over its elements: its loops, which are vectorized, and which are parallel."""

import threading
import weakref
from typing import Any

from inspect_compile.codegen.kernels.cpp_bodies import put, taken
from inspect_compile.facts import Loop, LoopNest
from inspect_compile.lowering.core.scopes import SCOPES, torch_object
from inspect_compile.probe import Probes, argument, let_pass
from inspect_compile.torch_compat import codegen as names
from inspect_compile.torch_compat import inductor as inductor_names

PROBE = "codegen.loops"

_VERSIONS = {"CppVecKernel": "vector", "CppTile2DKernel": "tile", "CppKernel": "scalar"}


class _Open(threading.local):
    why = ""
    """Why torch vectorizes nothing of what it is writing."""


_OPEN = _Open()


def install(probes: Probes) -> None:
    """Hook the C++ backend."""
    reasons: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
    """torch's kernel → why nothing of it is vectorized."""

    def begun(kernel: Any, args: Any, kwargs: Any) -> None:
        _OPEN.why = "" if kernel.picked_vec_isa else "this machine has no vector instructions that torch supports"
        if kernel.picked_vec_isa:
            _OPEN.why = "it has no loop"

    def chosen(state: Any, selection: Any, args: Any, kwargs: Any, result: Any) -> None:
        _OPEN.why = "" if result[1] else _why(result[2] if len(result) > 2 else None)

    def ended(state: Any, kernel: Any, args: Any, kwargs: Any, result: Any) -> None:
        reasons[kernel] = _OPEN.why

    def written(state: Any, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        scope = SCOPES.here()
        if scope is not None:
            nest = argument(args, kwargs, 0, "loop_nest")
            known = _nest(kernel, nest) | {"why": reasons.get(kernel, "")}
            put(scope, PROBE, kernel.args, known)

    def defined(state: Any, backend: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        scope = SCOPES.here()
        if scope is None:
            return
        own = argument(args, kwargs, 2, "kernel_args")
        own = backend.kernel_group.args if own is None else own
        found = taken(scope, PROBE, own)
        probes.sink.add_all([LoopNest(graph=scope.graph, kernel=str(result), **known) for known in found])

    probes.wrap(PROBE, names.CPP_FUNCTIONS, before=begun, after=ended)
    probes.wrap(PROBE, names.CPP_VECTORIZED, after=chosen)
    probes.wrap(PROBE, names.CPP_LOOPS, after=written)
    probes.wrap(PROBE, names.CPP_DEFINE, after=defined)


def _nest(kernel: Any, nest: Any) -> dict[str, Any]:
    """What is known of a nest before its kernel has a name."""
    threads, config = torch_object(names.CPP_THREADS), torch_object(inductor_names.CONFIG)
    loops = _loops(nest)
    inner = getattr(nest.kernel, "inner", ())
    steps = [loop.steps for part in (nest, *inner) for loop in part.loops or () if loop.simd_vec]
    kernels = [part.kernel for part in inner] or [kernel]
    versions = [_VERSIONS.get(type(one).__name__, "") for each in kernels for one in getattr(each, "kernels", ())]
    return {
        "loops": loops,
        "inside": tuple(_loops(part) for part in inner),
        "threads": int(threads()) if threads is not None else 1,
        "depth": max((int(loop.parallel) for loop in nest.loops or ()), default=0),
        "elements": _elements(kernel),
        "chunk": config.cpp.min_chunk_size if config is not None else None,
        "vector": max((int(step) for step in steps if step.is_number), default=None),
        "instructions": str(getattr(kernel, "picked_vec_isa", "") or ""),
        "versions": tuple(dict.fromkeys(filter(None, versions))),
    }


def _loops(nest: Any) -> tuple[Loop, ...]:
    return tuple(
        Loop(
            size=str(loop.size),
            step=str(loop.steps),
            is_reduction=bool(loop.is_reduction),
            is_parallel=bool(loop.parallel or loop.collapsed),
            is_vectorized=bool(loop.simd_vec),
        )
        for loop in nest.loops or ()
    )


def _elements(kernel: Any) -> int | None:
    try:
        return int(kernel.size_hint())
    except (AssertionError, AttributeError, TypeError) as error:
        let_pass(error)
        return None  # the outer loops of several kernels have no common size


def _why(stats: Any) -> str:
    """torch's reason; before 2.13 it gives none."""
    apart = sum(getattr(stats, "non_contig_indexing_op_counter", {}).values())
    operations = sum(getattr(stats, "op_counter", {}).values())
    if apart:
        return f"{apart} of its {operations} operations access elements that are not contiguous"
    if operations:
        return "its innermost loop is too short"
    return "it has a dtype that torch does not vectorize, or no loop with contiguous accesses"
