"""Compiles one graph of Dynamo's by compile_fx, as if its tensors were on the GPU that is not present."""

from typing import Any, Final

import torch
from torch.fx import GraphModule
from torch.fx.node import map_aggregate

from inspect_compile.lowering.core.scopes import torch_compile_id
from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import MARKED, CompileRequest, restore
from inspect_compile.torch_compat import call_path, dynamo, inductor, targets
from inspect_compile.torch_compat import compilers as names
from inspect_compile.torch_compat.codegen import AUTOTUNER_PRECOMPILE
from inspect_compile.torch_compat.passes import JOINT
from inspect_compile.torch_compat.targets import FAKE_DISPATCH

DEVICE = torch.device("cuda", 0)

CONFIG: Final[dict[str, Any]] = {
    "fx_graph_cache": False,
    "fx_graph_remote_cache": False,
    # Kernels are compiled in this process: only here is the device faked.
    "compile_threads": 1,
    # Candidates are not timed, so none is compiled in advance: torch would drop them, since none can be loaded.
    "precompilation_timeout_seconds": 0,
    # The static launcher would keep nothing of a kernel but its binary, and nothing is launched.
    "use_static_cuda_launcher": False,
}
"""Settings of torch._inductor.config that such a compile needs."""


def install() -> None:
    """Move each graph to the GPU when AOTAutograd has traced it, before the joint graph passes.

    AOTAutograd traces on the CPU: for the backward it runs autograd's engine, and a build without CUDA has one for the
    CPU only. All later stages only look at what was traced.
    """
    passes = JOINT.load()

    def on_device(module: GraphModule, skip_invoke_subgraph: bool = False, input_device: Any = None) -> GraphModule:
        for graph_module in module.modules():
            if isinstance(graph_module, GraphModule):
                _move(graph_module)
        moved: GraphModule = passes(module, skip_invoke_subgraph, DEVICE if input_device is not None else None)
        return moved

    JOINT.put(on_device)
    precompile = AUTOTUNER_PRECOMPILE.load()

    def only_compiled(autotuner: Any, warm_cache_only: bool = False, *arguments: Any, **named: Any) -> None:
        """Compile every configuration of a kernel and load none, because there is no driver to load it."""
        precompile(autotuner, True, *arguments, **named)

    AUTOTUNER_PRECOMPILE.put(only_compiled)
    _keep_moved_constants()


def compile_graph(request: CompileRequest, mode: Any) -> bool:
    """Compile a graph, forward and backward; `mode` is the FakeTensorMode of its inputs. Raises what torch raises.

    Returns True if torch would have compiled the backward only when the program first calls it, which it does unless
    a symbolic size is saved for the backward.
    """
    later = False

    def inner(module: GraphModule, example_inputs: Any, **options: Any) -> Any:
        """Compile one ATen graph, whose inputs are now on the device."""
        nonlocal later
        inputs = [
            _laid_out(node.meta["val"], given)
            for node, given in zip(module.graph.find_nodes(op="placeholder"), example_inputs, strict=True)
        ]
        later |= bool(options.get("is_backward")) and not any(isinstance(value, torch.SymInt) for value in inputs)
        return call_path.COMPILE_INNER.load()(module, inputs, **options)

    restore(request.state)
    _Staying.devices = frozenset({torch.device("cpu")}) if request.uses_gpu else frozenset()
    compile_id = torch_compile_id(request.compile_id)
    with (
        names.TRACING.load()(names.TRACING_CONTEXT.load()(mode)),
        names.SET_COMPILE_CONTEXT.load()(dynamo.COMPILE_CONTEXT.load()(compile_id)),
        names.FUNCTORCH_CONFIG.load().patch(
            request.config["functorch"] | {"force_non_lazy_backward_lowering": True, "enable_autograd_cache": False}
        ),
        inductor.CONFIG.load().patch(request.config["inductor"] | CONFIG),
    ):
        targets.COMPILE_FX.load()(request.module, request.inputs, inner_compile=inner)
    return later


def _laid_out(value: Any, given: Any) -> Any:
    """A traced input, which is on the device, with the strides of `given`, the input that the graph is compiled with.

    The compiled forward may save a value with other strides than it was traced with, such as the channels-last result
    of a convolution, and AOTAutograd passes them to the backward only by its example inputs.
    """
    if not isinstance(value, names.FAKE_TENSOR.load()) or not isinstance(given, torch.Tensor):
        return value
    if _expressions(value.stride()) == _expressions(given.stride()):
        return value
    return value.as_strided(given.size(), given.stride())


def _expressions(sizes: Any) -> list[Any]:
    """Sizes with expressions in the place of symbols: comparing symbols would add guards."""
    return [size.node.expr if isinstance(size, torch.SymInt) else size for size in sizes]


class _Staying:
    """The devices whose tensors are not moved: the CPU, if the program has put others of its tensors on a GPU."""

    devices: frozenset[torch.device] = frozenset()


def _move(module: GraphModule) -> None:
    """Put the tensors of one graph on the device, and name it in the arguments of its nodes."""
    fake, leaves = names.FAKE_TENSOR.load(), names.PYTREE.load().tree_leaves
    for node in module.graph.nodes:
        node.args = map_aggregate(node.args, _there)
        node.kwargs = map_aggregate(node.kwargs, _there)
        for value in leaves(node.meta.get("val")):
            if isinstance(value, fake):
                value.fake_device = _there(value.fake_device)


def _there(value: Any) -> Any:
    """The device in the place of a torch.device that is moved; anything else as it is."""
    is_moved = isinstance(value, torch.device) and value.type == "cpu" and value not in _Staying.devices
    return DEVICE if is_moved else value


def _keep_moved_constants() -> None:
    """Let a constant that the program moves to the GPU lose its known value, as it does on a GPU.

    On the CPU, where graphs are traced, the move changes nothing, and torch would go on computing with the value.
    """
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
