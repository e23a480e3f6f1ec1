"""Takes one Dynamo graph through the whole of compile_fx, as if its tensors were on the target."""

from typing import Any, Final

import torch
from torch.fx import GraphModule
from torch.fx.node import map_aggregate

from inspect_compile.lowering.core.scopes import torch_compile_id
from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import MARKED, Parcel, restore
from inspect_compile.torch_compat import call_path, dynamo, inductor, targets
from inspect_compile.torch_compat import compilers as names
from inspect_compile.torch_compat.codegen import AUTOTUNER_PRECOMPILE
from inspect_compile.torch_compat.passes import JOINT
from inspect_compile.torch_compat.targets import FAKE_DISPATCH

DEVICE = torch.device("cuda", 0)

OWN: Final[dict[str, Any]] = {
    "fx_graph_cache": False,
    "fx_graph_remote_cache": False,
    # Kernels are compiled here, where the guise is.
    "compile_threads": 1,
    # Candidates are not timed, so that none has to be compiled beforehand: torch drops those that it cannot load.
    "precompilation_timeout_seconds": 0,
    # What launches kernels is not needed, and keeps nothing of a kernel but its binary.
    "use_static_cuda_launcher": False,
}


def install() -> None:
    """From the joint graph on, every tensor of a graph is on the device.

    AOTAutograd traces on the CPU: its backward runs torch's autograd engine, which a build without CUDA has for the CPU
    alone. All later stages only look at what was traced.
    """
    passes = JOINT.load()

    def on_device(module: GraphModule, skip_invoke_subgraph: bool = False, input_device: Any = None) -> GraphModule:
        for graph_module in module.modules():
            if isinstance(graph_module, GraphModule):
                _move(graph_module)
        moved: GraphModule = passes(module, skip_invoke_subgraph, DEVICE if input_device is not None else None)
        return moved

    JOINT.put(on_device)
    _tell_apart()
    _only_compile()


def _only_compile() -> None:
    """Triton compiles every configuration of a kernel, and loads none: there is no driver to load it with."""
    precompile = AUTOTUNER_PRECOMPILE.load()

    def only_compiled(autotuner: Any, warm_cache_only: bool = False, *arguments: Any, **named: Any) -> None:
        precompile(autotuner, True, *arguments, **named)

    AUTOTUNER_PRECOMPILE.put(only_compiled)


def compile_parcel(parcel: Parcel, mode: Any) -> bool:
    """Compile it, forward and backward. Raises what torch raises.

    Would torch have left the backward until the program calls it? It does, unless a size is saved for it.
    """
    later = False

    def inner(module: GraphModule, example_inputs: Any, **options: Any) -> Any:
        """Compile one ATen graph, whose inputs are on the device now."""
        nonlocal later
        inputs = [
            _laid_out(node.meta["val"], given)
            for node, given in zip(module.graph.find_nodes(op="placeholder"), example_inputs, strict=True)
        ]
        later |= bool(options.get("is_backward")) and not any(isinstance(value, torch.SymInt) for value in inputs)
        return call_path.COMPILE_INNER.load()(module, inputs, **options)

    restore(parcel.state)
    _Staying.devices = frozenset({torch.device("cpu")}) if parcel.uses_gpu else frozenset()
    compile_id = torch_compile_id(parcel.compile_id)
    with (
        names.TRACING.load()(names.TRACING_CONTEXT.load()(mode)),
        names.SET_COMPILE_CONTEXT.load()(dynamo.COMPILE_CONTEXT.load()(compile_id)),
        names.FUNCTORCH_CONFIG.load().patch(
            parcel.config["functorch"] | {"force_non_lazy_backward_lowering": True, "enable_autograd_cache": False}
        ),
        inductor.CONFIG.load().patch(parcel.config["inductor"] | OWN),
    ):
        targets.COMPILE_FX.load()(parcel.module, parcel.inputs, inner_compile=inner)
    return later


def _laid_out(value: Any, given: Any) -> Any:
    """A traced input, on the device, with the strides of the one that the graph is compiled with.

    What the forward saves it may lay out in another way than it was traced, a convolution with its channels last;
    AOTAutograd tells the backward by its example inputs alone.
    """
    if not isinstance(value, names.FAKE_TENSOR.load()) or not isinstance(given, torch.Tensor):
        return value
    if _expressions(value.stride()) == _expressions(given.stride()):
        return value
    return value.as_strided(given.size(), given.stride())


def _expressions(sizes: Any) -> list[Any]:
    """So that comparing them guards nothing."""
    return [size.node.expr if isinstance(size, torch.SymInt) else size for size in sizes]


class _Staying:
    """What is not moved: of a program that has put its tensors on a GPU, those that it left on the CPU."""

    devices: frozenset[torch.device] = frozenset()


def _move(module: GraphModule) -> None:
    fake, leaves = names.FAKE_TENSOR.load(), names.PYTREE.load().tree_leaves
    for node in module.graph.nodes:
        node.args = map_aggregate(node.args, _there)
        node.kwargs = map_aggregate(node.kwargs, _there)
        for value in leaves(node.meta.get("val")):
            if isinstance(value, fake):
                value.fake_device = _there(value.fake_device)


def _there(value: Any) -> Any:
    is_moved = isinstance(value, torch.device) and value.type == "cpu" and value not in _Staying.devices
    return DEVICE if is_moved else value


def _tell_apart() -> None:
    """A constant that is moved to the GPU is one of the CPU no longer, even where torch computes with its value."""
    fake, dispatch = names.FAKE_TENSOR.load(), FAKE_DISPATCH.load()

    def dispatched(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        moved = args[0] if func is torch.ops.aten._to_copy.default and args else None
        if not isinstance(moved, fake) or moved.constant is None or (kwargs or {}).get("device") != MARKED:
            return dispatch(mode, func, types, args, kwargs)
        constant, moved.constant = moved.constant, None
        try:
            return dispatch(mode, func, types, args, kwargs)
        finally:
            moved.constant = constant

    FAKE_DISPATCH.put(dispatched)
