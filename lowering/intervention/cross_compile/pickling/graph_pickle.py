"""A graph of Dynamo's as bytes, to be sent from the program's process to the one that compiles it for a target.

They contain the graph, the shapes of its inputs, and the settings of torch that affect a compile. Of tensors only those
that the graph itself contains are sent with their values.
"""

import contextlib
import importlib
import operator
import pickle
import sys
from dataclasses import dataclass, replace
from typing import Any, Final

import torch
from torch import fx
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.node import map_aggregate

from inspect_compile.facts import Node
from inspect_compile.lowering.core.scopes import torch_compile_id
from inspect_compile.lowering.intervention.cross_compile.graph_nodes import operators_of
from inspect_compile.lowering.intervention.cross_compile.pickling import (
    groups,
    jagged,
    kernel_pickle,
    policies,
    subclasses,
    user_operators,
)
from inspect_compile.torch_compat import targets as names
from inspect_compile.torch_compat.compilers import (
    DETECT_FAKE_MODE,
    FAKE_TENSOR_MODE,
    GRAPH_PICKLER,
    LOCAL_SOURCE,
    PICKLER_OPTIONS,
)

_KEPT: Final[tuple[str, ...]] = ("stack_trace", "custom")
"""Entries of a node's meta that are sent as they are."""

_CPU: Final = torch.device("cpu")
MARKED: Final = torch.device("cpu", 0)
"""The device that stands for the GPU while a graph is traced, if the program uses both GPU and CPU.

To torch "cpu:0" is another device than "cpu", and it supports everything that the CPU does, autograd included.
"""
_CUDNN: Final[Any] = torch.backends.cudnn
_STATIC: Final = "_dynamo_static_input_type"
_PLAIN: Final = (torch.Tensor, torch.nn.Parameter)


@dataclass(frozen=True)
class Input:
    """One tensor among the inputs of a graph."""

    tensor: Any
    """A FakeTensor without the attributes that the program may have set."""
    requires_grad: bool
    is_parameter: bool
    number: tuple[Any, float] | None = None
    """If it stands for a Python float: the symbol of that number in the graph, and its value."""


@dataclass(frozen=True)
class CompileRequest:
    """One graph to compile for a target, and what its compile depends on."""

    compile_id: str
    module: GraphModule
    inputs: list[Any]
    """Tensors, numbers and SymInts."""
    config: dict[str, dict[str, Any]]
    """"inductor" and "functorch" → the settings in their config that the program or the call has changed."""
    state: dict[str, Any]
    """Global settings of torch, by the names in `_SWITCHES`."""
    traced_again: tuple[Node, ...]
    """The nodes of Dynamo's graph, if the frame was traced a second time, as for a GPU; the program does not run it."""
    is_of_cpu: bool
    """True if the frame should have been traced a second time, as for a GPU, and could not be."""
    uses_gpu: bool = False
    """True if the program has put tensors on a GPU: those that it left on the CPU then stay there."""
    scalars: bool = False
    """Whether a graph may read numbers out of tensors (torch._dynamo.config.capture_scalar_outputs)."""


def packed(
    module: GraphModule,
    inputs: list[Any],
    config: dict[str, dict[str, Any]],
    compile_id: str,
    traced_again: tuple[Node, ...],
    *,
    uses_gpu: bool = False,
) -> bytes:
    """Pickle a graph and its real `inputs`, for `unpacked`.

    Raises what pickle raises if the graph contains something that only the program's script defines.
    """
    pickler: Any = GRAPH_PICKLER.load()

    class Pickler(pickler):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            for module in (jagged, groups):
                if (reduced := module.reduced(obj)) is not NotImplemented:
                    return reduced
            return super().reducer_override(obj)

    # The real inputs have numbers for sizes; in the values that Dynamo saw, some are symbols.
    placeholders = module.graph.find_nodes(op="placeholder")
    known = [node.meta.get("example_value", value) for node, value in zip(placeholders, inputs, strict=True)]
    mode = DETECT_FAKE_MODE.load()(known) or FAKE_TENSOR_MODE.load()(shape_env=ShapeEnv())
    with mode, _unguarded(mode):
        ragged = jagged.lengths(known)
        plain = [_plain(value, seen, ragged) for value, seen in zip(inputs, known, strict=True)]
    everything = PICKLER_OPTIONS.load()(ops_filter=None, node_metadata_key_filter=None)
    gpu = MARKED if uses_gpu else _CPU
    body = Pickler.dumps((_bare(module, gpu), [_fields(value) for value in plain]), everything)
    state = {name: ask() for name, ask, _ in _SWITCHES}
    head = {"config": config, "state": state, "traced_again": traced_again, "uses_gpu": uses_gpu}
    head["scalars"] = mode.shape_env is not None and mode.shape_env.allow_scalar_outputs
    kernels = kernel_pickle.packed(module)
    operators = user_operators.packed(module)
    parts = body, kernels, operators, policies.packed(module)
    return pickle.dumps((compile_id, False, _registering(module), groups.of_program(), pickle.dumps(head), *parts))


def unpacked(data: bytes) -> tuple[CompileRequest, Any]:
    """The inverse of `packed`, in another process; also returns the FakeTensorMode of the inputs."""
    compile_id, is_of_cpu, modules, own, head, body, kernels, operators, saved = pickle.loads(data)
    if own is not None:
        groups.make(own)
    for name in modules:
        with contextlib.suppress(Exception):  # torch names the operator where the graph calls it
            importlib.import_module(name)
    user_operators.unpacked(operators)
    known = pickle.loads(head)
    mode = FAKE_TENSOR_MODE.load()(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    found: Any = GRAPH_PICKLER.load().loads(body, mode)
    # As in the program: if a graph may not read a number out of a tensor, the compile fails on the GPU and here.
    mode.shape_env.settings = replace(mode.shape_env.settings, allow_scalar_outputs=known["scalars"])
    module, inputs = found
    kernel_pickle.unpacked(kernels, module)
    policies.unpacked(saved, module)
    _as_of_dynamo(module, compile_id)
    place = MARKED if known["uses_gpu"] else _CPU
    if known["uses_gpu"]:
        _put_there(module, mode)
    with mode:
        whole = jagged.together([_whole(value, place, mode.shape_env) for value in inputs], mode)
    return CompileRequest(compile_id=compile_id, is_of_cpu=is_of_cpu, module=module, inputs=whole, **known), mode


def of_cpu(data: bytes) -> bytes:
    """The same pickled graph with `is_of_cpu` set."""
    compile_id, _, *rest = pickle.loads(data)
    return pickle.dumps((compile_id, True, *rest))


def compile_id_of(data: bytes) -> str:
    """The compile id in a pickled graph, even if that cannot be unpacked."""
    compile_id: str = pickle.loads(data)[0]
    return compile_id


def _registering(module: GraphModule) -> tuple[str, ...]:
    """The modules to import for the operators of the graph that torch itself does not define."""
    found: set[str] = set()
    for name in operators_of(module):
        defined = names.CUSTOM_OPERATORS.load().get(name)
        found.add(name.partition("::")[0] if defined is None else defined._init_fn.__module__)
    return tuple(sorted(name for name in found if name in sys.modules and name != "__main__"))


def _bare(module: GraphModule, gpu: torch.device) -> GraphModule:
    """A copy of the graph and the graphs nested in it, on the CPU, with only those entries of meta that are sent.

    `gpu` is the device that stands for the program's GPU.
    """
    copy = GraphModule(module, module.graph.__deepcopy__({}), class_name=module.__class__.__name__)
    copy.meta = {}
    for node, original in list(zip(copy.graph.nodes, module.graph.nodes, strict=True)):
        node.meta = _meta(original)
        _on_cpu(node, gpu)
        if gpu == MARKED and node.target is operator.setitem:
            _written_from_cpu(node, original)
    for name, child in module.named_children():
        if isinstance(child, GraphModule) and hasattr(copy, name):
            setattr(copy, name, _bare(child, gpu))
    return copy


def _on_cpu(node: fx.Node, gpu: torch.device) -> None:
    """Name `gpu` wherever a node names a CUDA device: AOTAutograd traces on the CPU."""
    if node.op == "call_method" and node.target == "cuda":
        kept = {key: value for key, value in node.kwargs.items() if key == "memory_format"}
        node.target, node.args, node.kwargs = "to", (node.args[0], gpu), kept
    node.args = map_aggregate(node.args, lambda value: _named(value, gpu))
    node.kwargs = map_aggregate(node.kwargs, lambda value: _named(value, gpu))
    if node.target in _FROM_NUMBERS and node.kwargs.get("device") == MARKED:
        _moved_there(node)


_FROM_NUMBERS: Final = (torch.tensor, torch.as_tensor)
"""Functions that create a tensor on the CPU and then copy it to its device."""


def _written_from_cpu(node: fx.Node, original: fx.Node) -> None:
    """Trace `x[…] = number` as for a tensor on a GPU: the number becomes a tensor on the CPU first.

    See python_variable_indexing.cpp; for a tensor on the CPU it is filled in directly.
    """
    target = getattr(original.args[0], "meta", {}).get("example_value")
    if type(node.args[2]) not in (bool, int, float) or not isinstance(target, torch.Tensor):
        return
    with node.graph.inserting_before(node):
        number = node.graph.call_function(torch.tensor, (node.args[2],), {"dtype": target.dtype})
    number.meta = dict(node.meta)
    node.args = (*node.args[:2], number)


def _moved_there(node: fx.Node) -> None:
    """Create the tensor of this node on the CPU, and let a second node copy it to the GPU."""
    node.kwargs = {key: value for key, value in node.kwargs.items() if key != "device"}
    with node.graph.inserting_after(node):
        moved = node.graph.call_method("to", (node, MARKED))
    moved.meta = dict(node.meta)
    node.replace_all_uses_with(moved, delete_user_cb=lambda user: user is not moved)


def _named(value: Any, gpu: torch.device) -> Any:
    """`gpu` in the place of a device, or of the name of a CUDA device; anything else as it is.

    "cpu" is replaced too: torch's own code reads that device from tensors that stand for some on the GPU.
    """
    if isinstance(value, torch.device):
        return gpu if value.type in ("cuda", "cpu") else value
    is_gpu = isinstance(value, str) and value.partition(":")[0] == "cuda"
    return (gpu if gpu.index is not None else gpu.type) if is_gpu else value


def _as_of_dynamo(module: GraphModule, compile_id: str) -> None:
    """Add what Dynamo's graphs have and AOTAutograd needs to find inputs whose address never changes."""
    module.meta["dynamo_compile_id"] = torch_compile_id(compile_id)
    module._param_name_to_source = {name: LOCAL_SOURCE.load()(name) for name, _ in _lifted(module)}  # type: ignore[assignment]
    for node in module.graph.find_nodes(op="placeholder"):
        node._dynamo_source = LOCAL_SOURCE.load()(f"input {node.name}")


def _lifted(module: GraphModule) -> list[tuple[str, torch.Tensor]]:
    """The parameters and buffers that the graph itself has."""
    return [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]


def _put_there(module: GraphModule, mode: Any) -> None:
    """Make FakeTensors on `MARKED` of the tensors that the graph itself has, such as the state of an optimizer.

    To a real tensor "cpu:0" is "cpu": with those that are inputs it would be on another device. A number that is none
    of an optimizer's, which Dynamo marks, and none of a module's is one that the program keeps on the CPU.
    """
    made: dict[int, Any] = {}
    for part in module.modules():
        own = part.named_parameters(recurse=False, remove_duplicate=False)
        buffers = part.named_buffers(recurse=False, remove_duplicate=False)
        for name, tensor in [*own, *buffers]:
            if type(tensor) not in _PLAIN or tensor.device.type != _CPU.type:
                continue
            if tensor.dim() == 0 and isinstance(part, GraphModule) and not hasattr(tensor, _STATIC):
                continue
            if id(tensor) not in made:
                made[id(tensor)] = mode.from_tensor(tensor, static_shapes=True)
                made[id(tensor)].fake_device = MARKED
            setattr(part, name, made[id(tensor)])


def _fields(value: Any) -> Any:
    """An input in the form in which it is pickled: a tuple of its parts, or the value itself."""
    if isinstance(value, jagged.Jagged | jagged.Length):
        return type(value).__name__, vars(value)
    if isinstance(value, subclasses.Wrapped):
        parts = {name: _fields(part) for name, part in value.parts.items()}
        return {**vars(value), "parts": parts}
    if isinstance(value, Input):
        return value.tensor, value.requires_grad, value.is_parameter, value.number
    return value


def _whole(value: Any, place: torch.device, shape_env: ShapeEnv) -> Any:
    """The inverse of `_fields`, with tensors on `place`; a jagged tensor is still in parts."""
    if isinstance(value, dict):
        return subclasses.whole(subclasses.Wrapped(**value), lambda part: _whole(part, place, shape_env))
    if not isinstance(value, tuple):
        return value
    if len(value) == 2:
        made = getattr(jagged, value[0])(**value[1])
        for part in getattr(made, "parts", {}).values():
            part.fake_device = place
        return made
    tensor, requires_grad, is_parameter, number = value
    tensor.fake_device = place
    if number is not None:  # Dynamo makes a tensor of it on the CPU, wherever the others are
        symbol, hint = number
        tensor.fake_device, tensor.item_memo = _CPU, shape_env.create_symfloatnode(symbol, hint=hint)
    tensor.requires_grad_(requires_grad)
    return torch.nn.Parameter(tensor, requires_grad) if is_parameter else tensor


def _unguarded(mode: Any) -> contextlib.AbstractContextManager[None]:
    """A context in which nothing is added to the program's guards."""
    return mode.shape_env.suppress_guards() if mode.shape_env is not None else contextlib.nullcontext()


def _plain(value: Any, seen: Any, ragged: set[str]) -> Any:
    """An input as it is sent: `value` is the real one, `seen` what Dynamo saw, `ragged` the symbols of ragged sizes."""
    if isinstance(seen, names.SCRIPT_OBJECT.load()):
        return value
    if not isinstance(value, torch.Tensor):
        is_length = isinstance(seen, torch.SymInt) and str(seen.node.expr) in ragged
        return jagged.Length(str(seen.node.expr)) if is_length else seen
    if jagged.is_jagged(seen):
        return jagged.taken_apart(seen, value.requires_grad)
    if subclasses.is_wrapped(seen):
        return subclasses.taken_apart(value, seen, lambda part, known: _plain(part, known, ragged))
    tensor = torch.empty_strided(seen.size(), seen.stride(), dtype=value.dtype, device=value.device)
    return Input(tensor, value.requires_grad, isinstance(value, torch.nn.Parameter), number_of(seen))


def number_of(seen: Any) -> tuple[Any, float] | None:
    """The symbol of a Python float and its value, if Dynamo passes that float as the FakeTensor `seen`."""
    number = getattr(seen, "item_memo", None) if isinstance(seen, torch.Tensor) and seen.dim() == 0 else None
    return (number.node.expr, number.node.hint) if isinstance(number, torch.SymFloat) else None


def _meta(node: fx.Node) -> dict[str, Any]:
    """The entries of a node's meta that are sent; of modules only the names of their classes."""
    kept = {key: node.meta[key] for key in _KEPT if key in node.meta}
    if stack := node.meta.get("nn_module_stack"):
        kept["nn_module_stack"] = {key: (path, _name(kind)) for key, (path, kind) in stack.items()}
    # Marks inputs at fixed addresses: the partitioner saves parameters rather than values computed from them.
    if lifetime := node.meta.get("tensor_dict", {}).get(_STATIC):
        kept["tensor_dict"] = {_STATIC: lifetime}
    return kept


def _name(kind: Any) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"


_PRECISIONS: Final = (("generic", "all"), ("cuda", "all"), ("cuda", "matmul"), ("cuda", "conv"), ("cuda", "rnn"))
"""(backend, operation) for each precision of float32 in torch.backends."""


def _matmul_precision() -> str | None:
    """None if the program has set precisions in torch.backends that this single setting cannot express."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return None


def _set_matmul_precision(precision: str | None) -> None:
    if precision is not None:
        torch.set_float32_matmul_precision(precision)


def _precisions() -> tuple[str, ...]:
    ask = names.PRECISION.load()
    return tuple(ask(backend, operation) for backend, operation in _PRECISIONS)


def _set_precisions(precisions: tuple[str, ...]) -> None:
    order = names.SET_PRECISION.load()
    for (backend, operation), precision in zip(_PRECISIONS, precisions, strict=True):
        order(backend, operation, precision)


def _autocast() -> tuple[bool, torch.dtype]:
    """Whether autocast is on, and its type: in a program whose CUDA is mapped to the CPU, those of the CPU."""
    return torch.is_autocast_enabled(_CPU.type), torch.get_autocast_dtype(_CPU.type)


def _cast(state: tuple[bool, torch.dtype]) -> None:
    enabled, dtype = state
    torch.set_autocast_enabled(_CPU.type, enabled)
    torch.set_autocast_dtype(_CPU.type, dtype)


_SWITCHES: Final = (
    ("deterministic", torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    ("matmul_precision", _matmul_precision, _set_matmul_precision),
    ("precisions", _precisions, _set_precisions),
    ("dtype", torch.get_default_dtype, torch.set_default_dtype),
    ("grad", torch.is_grad_enabled, torch.set_grad_enabled),
    ("flash_sdp", torch.backends.cuda.flash_sdp_enabled, torch.backends.cuda.enable_flash_sdp),
    ("efficient_sdp", torch.backends.cuda.mem_efficient_sdp_enabled, torch.backends.cuda.enable_mem_efficient_sdp),
    ("cudnn_sdp", torch.backends.cuda.cudnn_sdp_enabled, torch.backends.cuda.enable_cudnn_sdp),
    ("autocast", _autocast, _cast),
    ("cudnn", lambda: bool(_CUDNN.enabled), lambda enabled: setattr(_CUDNN, "enabled", enabled)),
    ("math_sdp", torch.backends.cuda.math_sdp_enabled, torch.backends.cuda.enable_math_sdp),
)
"""(name, function that returns a setting, function that sets it)."""


def restore(state: dict[str, Any]) -> None:
    """Set torch's global settings to those in the program, `CompileRequest.state`."""
    for name, _, order in _SWITCHES:
        order(state[name])
