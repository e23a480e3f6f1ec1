"""In the program: its graphs run eagerly, as with backend="eager", and go to those who compile them for a target."""

import contextlib
import pickle
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.core.fx_nodes import NodeReader
from inspect_compile.lowering.core.scopes import compile_id as current_compile
from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import of_cpu, packed
from inspect_compile.lowering.intervention.cross_compile.program import retrace
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import targets as names
from inspect_compile.torch_compat.compilers import FUNCTORCH_CONFIG, OPERATOR, OPERATOR_PACKET
from inspect_compile.torch_compat.inductor import CONFIG, VIRTUALIZED

_BUILT_IN: Final = frozenset({"aten", "prims", "prim", "inductor"})
_TARGET: Final = "TARGET: "
"""So torch begins to say that a node calls a function that it can't send; the name comes last."""


def install(
    deliver: Callable[[bytes], None],
    refused: Callable[[str, str], None],
    uses_gpu: Callable[[], bool],
    unwatched: Callable[[], contextlib.AbstractContextManager[None]],
) -> None:
    """Stand in the place of Inductor. `deliver` gets each graph, `refused` the compile id of one that can't be sent.

    `uses_gpu`: has the program put its tensors on a GPU? Nothing is recorded while `unwatched` is open.
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
        except Exception as error:  # whatever of the program's does not let itself be copied
            let_pass(error)
            refused(compile_id, _reason(error))
        else:
            if not retrace.is_running() and _has_own_operators(model_) and torch.is_grad_enabled():
                _let_torch_refuse(model_, list(example_inputs_), unwatched)
            if not retrace.keeps(lambda: deliver(of_cpu(data))):
                deliver(data)
        return model_.forward

    names.COMPILE_FX.put(eager)


def _has_own_operators(module: torch.fx.GraphModule) -> bool:
    """Does it call an operator that is not torch's own?"""
    kinds = OPERATOR.load(), OPERATOR_PACKET.load()
    operators: list[Any] = [
        getattr(node.target, "overloadpacket", node.target)
        for part in module.modules()
        if isinstance(part, torch.fx.GraphModule)
        for node in part.graph.nodes
        if isinstance(node.target, kinds)
    ]
    return any(operator._qualified_op_name.partition("::")[0] not in _BUILT_IN for operator in operators)


def _let_torch_refuse(
    module: torch.fx.GraphModule,
    inputs: list[Any],
    unwatched: Callable[[], contextlib.AbstractContextManager[None]],
) -> None:
    """Trace forward and backward, as Inductor would have them traced, and drop what comes of it.

    Raises what Dynamo breaks the graph for, as it would on a GPU: a backward that takes a number out of a tensor, say.
    """
    breaks = names.BREAKS.load()
    with unwatched():
        try:
            names.AOT_BACKEND.load()(fw_compiler=_as_it_is, bw_compiler=_as_it_is)(module, inputs)
        except breaks:
            raise
        except Exception as error:  # not for this process to tell: those who compile the graph will
            let_pass(error)


def _as_it_is(module: Any, _: Any) -> Any:
    return names.BOXED.load()(module.forward)


def _reason(error: Exception) -> str:
    text = str(error)
    if text.startswith(_TARGET):
        return f"it calls {text.rpartition(' ')[2]}"
    return f"{type(error).__name__}: {text}"


def settings(patches: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the program has set, and what a call asks for."""
    return {"inductor": _changed(CONFIG.load()) | patches, "functorch": _changed(FUNCTORCH_CONFIG.load())}


def _changed(module: Any) -> dict[str, Any]:
    """What differs from torch's defaults, and can be told to another process."""
    found = {}
    for name in module._config:
        # A name that torch has given up warns the program when it is read.
        if not module._is_default(name) and _can_be_sent(value := getattr(module, name)):
            found[name] = value
    return found


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except Exception as error:  # a pass of the program's, say
        let_pass(error)
        return False
    return True
