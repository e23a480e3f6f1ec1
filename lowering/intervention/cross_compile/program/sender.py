"""Replaces Inductor in the program: graphs run eagerly, and go to the processes that compile them for a target."""

import contextlib
import pickle
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.core.fx_nodes import NodeReader
from inspect_compile.lowering.core.scopes import compile_id as current_compile
from inspect_compile.lowering.intervention.cross_compile.graph_nodes import operators_of
from inspect_compile.lowering.intervention.cross_compile.pickling import graph_pickle
from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import of_cpu, packed
from inspect_compile.lowering.intervention.cross_compile.program import retrace
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import targets as names
from inspect_compile.torch_compat.compilers import FUNCTORCH_CONFIG
from inspect_compile.torch_compat.inductor import CONFIG, VIRTUALIZED

_BUILT_IN: Final = frozenset({"aten", "prims", "prim", "inductor"})
_TARGET: Final = "TARGET: "
"""How torch's message begins if it cannot pickle the function that a node calls; the name comes last."""


def install(
    deliver: Callable[[bytes], None],
    refused: Callable[[str, str], None],
    uses_gpu: Callable[[], bool],
    unwatched: Callable[[], contextlib.AbstractContextManager[None]],
) -> None:
    """Replace compile_fx, until the process ends.

    `deliver` receives each graph, pickled; `refused` the compile id of one that cannot be pickled, and the reason.
    `uses_gpu` returns whether the program has put tensors on a GPU. Nothing is recorded while the context `unwatched`
    is open.
    """
    compiled = names.COMPILE_FX.load()

    def eager(model_: Any, example_inputs_: Any, *arguments: Any, **named: Any) -> Any:
        if VIRTUALIZED.load().aot_compilation or not isinstance(model_, torch.fx.GraphModule):
            return compiled(model_, example_inputs_, *arguments, **named)
        compile_id = current_compile() or ""
        try:
            asked = settings(named.get("config_patches") or {})
            nodes = NodeReader().facts(model_.graph.nodes, graph=compile_id, stage="dynamo")
            again = tuple(nodes) if retrace.is_running() else ()
            data = packed(model_, list(example_inputs_), asked, compile_id, again, uses_gpu=uses_gpu())
        except Exception as error:  # something of the program's that cannot be pickled
            let_pass(error)
            refused(compile_id, _reason(error))
        else:
            could_refuse = (_has_own_operators(model_) and torch.is_grad_enabled()) or _has_float(model_)
            if could_refuse and not retrace.is_running():
                _let_torch_refuse(model_, list(example_inputs_), unwatched)
            if not retrace.keeps(lambda: deliver(of_cpu(data))):
                deliver(data)
        return _as_compiled(model_)

    names.COMPILE_FX.put(eager)


def _as_compiled(module: torch.fx.GraphModule) -> Callable[..., Any]:
    """The graph, run eagerly, whose results are marked as AOTAutograd marks those of a compiled graph.

    Without that, a graph after a break would be traced with the sizes of its first inputs where a GPU gets symbols.
    """
    results = module.graph.output_node().args[0]
    symbolic = [_symbolic_sizes(node) for node in results] if isinstance(results, (list, tuple)) else []
    mark = _mark_dynamic() if any(symbolic) else None
    if mark is None:
        return module.forward

    def forward(*arguments: Any) -> Any:
        results = module.forward(*arguments)
        for result, dimensions in zip(results, symbolic, strict=True):
            if dimensions:
                mark(result, dimensions)
        return results

    return forward


def _mark_dynamic() -> Callable[[torch.Tensor, set[int]], None] | None:
    for name in names.MARK_DYNAMIC:
        with contextlib.suppress(AttributeError):
            mark: Callable[[torch.Tensor, set[int]], None] = name.load()
            return mark
    return None


def _symbolic_sizes(result: Any) -> set[int]:
    """The dimensions of a result of Dynamo's graph whose sizes depend on symbols."""
    value = result.meta.get("example_value") if isinstance(result, torch.fx.Node) else None
    if not isinstance(value, torch.Tensor):
        return set()
    return {
        dimension
        for dimension, size in enumerate(value.shape)
        if isinstance(size, torch.SymInt) and not size.node.expr.is_number
    }


def _has_own_operators(module: torch.fx.GraphModule) -> bool:
    """Whether the graph calls an operator that torch does not define."""
    return any(name.partition("::")[0] not in _BUILT_IN for name in operators_of(module))


def _has_float(module: torch.fx.GraphModule) -> bool:
    """Whether an input stands for a Python float that is a symbol."""
    seen = (node.meta.get("example_value") for node in module.graph.find_nodes(op="placeholder"))
    return any(graph_pickle.number_of(value) is not None for value in seen)


def _let_torch_refuse(
    module: torch.fx.GraphModule, inputs: list[Any], unwatched: Callable[[], contextlib.AbstractContextManager[None]]
) -> None:
    """Trace forward and backward as Inductor would, and drop the result.

    Raises the errors for which Dynamo breaks the graph or traces it again, as it would on a GPU; for example, for a
    backward that reads a number out of a tensor.
    """
    breaks = (*names.BREAKS.load(), names.RESTART.load())
    with unwatched():
        try:
            names.AOT_BACKEND.load()(fw_compiler=_as_it_is, bw_compiler=_as_it_is)(module, inputs)
        except breaks:
            raise
        except Exception as error:  # the processes that compile the graph report it
            let_pass(error)


def _as_it_is(module: Any, _: Any) -> Any:
    """A compiler for AOTAutograd that compiles nothing."""
    return names.BOXED.load()(module.forward)


def _reason(error: Exception) -> str:
    """Why a graph cannot be pickled."""
    text = str(error)
    if text.startswith(_TARGET):
        return f"it calls {text.rpartition(' ')[2]}"
    return f"{type(error).__name__}: {text}"


def settings(patches: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """`CompileRequest.config`: what the program has changed, and `patches`, the options of the call."""
    return {"inductor": _changed(CONFIG.load()) | patches, "functorch": _changed(FUNCTORCH_CONFIG.load())}


def _changed(module: Any) -> dict[str, Any]:
    """The settings of a config module that differ from torch's defaults and can be pickled."""
    found = {}
    for name in module._config:
        # Reading a deprecated setting would warn the program; those are at their defaults.
        if not module._is_default(name) and _can_be_sent(value := getattr(module, name)):
            found[name] = value
    return found


def _can_be_sent(value: Any) -> bool:
    """Whether pickle can send a value to another process."""
    try:
        pickle.dumps(value)
    except Exception as error:  # for example, a custom pass of the program
        let_pass(error)
        return False
    return True
