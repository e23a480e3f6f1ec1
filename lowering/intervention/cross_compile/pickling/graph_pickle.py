"""A Dynamo graph as bytes: out of the program's process, into the one that compiles it for a target.

What is sent is the graph, what is known of its inputs, and the settings of torch that a compile asks for; no value of
any tensor but those that the graph itself holds.
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
from inspect_compile.lowering.intervention.cross_compile.pickling import jagged, kernel_pickle, user_operators
from inspect_compile.torch_compat import targets as names
from inspect_compile.torch_compat.compilers import (
    DETECT_FAKE_MODE,
    FAKE_TENSOR_MODE,
    GRAPH_PICKLER,
    LOCAL_SOURCE,
    OPERATOR,
    OPERATOR_PACKET,
    PICKLER_OPTIONS,
)

_KEPT: Final[tuple[str, ...]] = ("stack_trace", "custom")
"""Of a node's meta; of `nn_module_stack` the names are kept, as the classes may be the program's own."""


_CPU: Final = torch.device("cpu")
MARKED: Final = torch.device("cpu", 0)
"""Stands for the GPU while a graph is traced on the CPU, in a program that tells them apart: to torch it is another
device than the CPU, which computes the same, autograd included."""
_STATIC: Final = "_dynamo_static_input_type"


@dataclass(frozen=True)
class Input:
    """One input of a graph that is a tensor."""

    tensor: Any
    """A FakeTensor without anything that the program hung on it."""
    requires_grad: bool
    is_parameter: bool


@dataclass(frozen=True)
class Parcel:
    """One graph to compile."""

    compile_id: str
    module: GraphModule
    inputs: list[Any]
    """An Input, a number, or a SymInt."""
    config: dict[str, dict[str, Any]]
    """Of torch._inductor.config and torch._functorch.config: what the program changed, and what the call asks for."""
    state: dict[str, Any]
    """Global settings of torch: answers to `_SWITCHES`."""
    traced_again: tuple[Node, ...]
    """Dynamo's nodes, of a graph that is not the program's: it was traced a second time, as for a GPU."""
    is_of_cpu: bool
    """It ought to have been traced a second time, and could not be."""
    uses_gpu: bool = False
    """The program has put its tensors on a GPU: what is on the CPU nevertheless stays there."""
    scalars: bool = False
    """May a number be taken out of a tensor within a graph (torch._dynamo.config.capture_scalar_outputs)?"""


def packed(
    module: GraphModule,
    inputs: list[Any],
    config: dict[str, dict[str, Any]],
    compile_id: str,
    traced_again: tuple[Node, ...],
    *,
    uses_gpu: bool = False,
) -> bytes:
    """The parcel. Raises what pickle raises for a graph that holds something of the program's own."""
    pickler: Any = GRAPH_PICKLER.load()

    class Pickler(pickler):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            reduced = jagged.reduced(obj)
            return super().reducer_override(obj) if reduced is NotImplemented else reduced

    # The real inputs know their sizes; as Dynamo saw them, some are symbols.
    placeholders = module.graph.find_nodes(op="placeholder")
    known = [node.meta.get("example_value", value) for node, value in zip(placeholders, inputs, strict=True)]
    mode = DETECT_FAKE_MODE.load()(known) or FAKE_TENSOR_MODE.load()(shape_env=ShapeEnv())
    with mode, _unguarded(mode):
        ragged = jagged.lengths(known)
        plain = [_plain(value, seen, ragged) for value, seen in zip(inputs, known, strict=True)]
    everything = PICKLER_OPTIONS.load()(ops_filter=None, node_metadata_key_filter=None)
    gpu = MARKED if uses_gpu else _CPU
    body = Pickler.dumps((_bare(module, gpu), [_fields(value) for value in plain]), everything)
    head = {"config": config, "state": _state(), "traced_again": traced_again, "uses_gpu": uses_gpu}
    head["scalars"] = mode.shape_env is not None and mode.shape_env.allow_scalar_outputs
    kernels = kernel_pickle.packed(module)
    operators = user_operators.packed(module)
    return pickle.dumps((compile_id, False, _registering(module), pickle.dumps(head), body, kernels, operators))


def unpacked(data: bytes) -> tuple[Parcel, Any]:
    """The parcel, and the mode that its FakeTensors live in."""
    compile_id, is_of_cpu, modules, head, body, kernels, operators = pickle.loads(data)
    for name in modules:
        with contextlib.suppress(Exception):  # the operator is named where it is missing
            importlib.import_module(name)
    user_operators.unpacked(operators)
    known = pickle.loads(head)
    mode = FAKE_TENSOR_MODE.load()(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    found: Any = GRAPH_PICKLER.load().loads(body, mode)
    # As Dynamo's is: where a number must not be taken out of a tensor, the GPU's compile fails, and so does this one.
    mode.shape_env.settings = replace(mode.shape_env.settings, allow_scalar_outputs=known["scalars"])
    module, inputs = found
    kernel_pickle.unpacked(kernels, module)
    _as_of_dynamo(module, compile_id)
    place = MARKED if known["uses_gpu"] else _CPU
    whole = jagged.together([_whole(value, place) for value in inputs], mode)
    return Parcel(compile_id=compile_id, is_of_cpu=is_of_cpu, module=module, inputs=whole, **known), mode


def of_cpu(data: bytes) -> bytes:
    """The same parcel, marked as traced for the CPU alone."""
    compile_id, _, *rest = pickle.loads(data)
    return pickle.dumps((compile_id, True, *rest))


def compile_id_of(data: bytes) -> str:
    """That of a parcel, even of one that does not let itself be unpacked."""
    compile_id: str = pickle.loads(data)[0]
    return compile_id


def _registering(module: GraphModule) -> tuple[str, ...]:
    """The modules that have to be imported for the operators that torch does not have by itself."""
    targets = {node.target for part in module.modules() if isinstance(part, GraphModule) for node in part.graph.nodes}
    found: dict[str, None] = {}
    called: Any
    kinds = OPERATOR.load(), OPERATOR_PACKET.load()
    for called in (target for target in targets if isinstance(target, kinds)):
        name = getattr(called, "overloadpacket", called)._qualified_op_name
        defined = names.CUSTOM_OPERATORS.load().get(name)
        found[name.partition("::")[0] if defined is None else defined._init_fn.__module__] = None
    return tuple(sorted(name for name in found if name in sys.modules and name != "__main__"))


def _bare(module: GraphModule, gpu: torch.device) -> GraphModule:
    """A copy without what Dynamo noted for itself, its branches too."""
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
    """Where the program names a CUDA device, that is `gpu`, which is on the CPU: until AOTAutograd has traced."""
    if node.op == "call_method" and node.target == "cuda":
        kept = {key: value for key, value in node.kwargs.items() if key == "memory_format"}
        node.target, node.args, node.kwargs = "to", (node.args[0], gpu), kept
    node.args = map_aggregate(node.args, lambda value: _named(value, gpu))
    node.kwargs = map_aggregate(node.kwargs, lambda value: _named(value, gpu))
    if node.target in _FROM_NUMBERS and node.kwargs.get("device") == MARKED:
        _moved_there(node)


_FROM_NUMBERS: Final = (torch.tensor, torch.as_tensor)
"""They begin on the CPU, and what they make for a GPU goes there in a step of its own."""


def _written_from_cpu(node: fx.Node, original: fx.Node) -> None:
    """A number that is written into a tensor of a GPU is a tensor of the CPU first, in python_variable_indexing.cpp."""
    target = getattr(original.args[0], "meta", {}).get("example_value")
    if type(node.args[2]) not in (bool, int, float) or not isinstance(target, torch.Tensor):
        return
    with node.graph.inserting_before(node):
        number = node.graph.call_function(torch.tensor, (node.args[2],), {"dtype": target.dtype})
    number.meta = dict(node.meta)
    node.args = (*node.args[:2], number)


def _moved_there(node: fx.Node) -> None:
    node.kwargs = {key: value for key, value in node.kwargs.items() if key != "device"}
    with node.graph.inserting_after(node):
        moved = node.graph.call_method("to", (node, MARKED))
    moved.meta = dict(node.meta)
    node.replace_all_uses_with(moved, delete_user_cb=lambda user: user is not moved)


def _named(value: Any, gpu: torch.device) -> Any:
    """Of all texts in a graph only devices have that name. torch's own code takes its tensors' device for the CPU."""
    if isinstance(value, torch.device):
        return gpu if value.type in ("cuda", "cpu") else value
    is_gpu = isinstance(value, str) and value.partition(":")[0] == "cuda"
    return (gpu if gpu.index is not None else gpu.type) if is_gpu else value


def _as_of_dynamo(module: GraphModule, compile_id: str) -> None:
    """AOTAutograd looks for static inputs only in a graph that has Dynamo's marks."""
    module.meta["dynamo_compile_id"] = torch_compile_id(compile_id)
    module._param_name_to_source = {name: LOCAL_SOURCE.load()(name) for name, _ in _lifted(module)}  # type: ignore[assignment]
    for node in module.graph.find_nodes(op="placeholder"):
        node._dynamo_source = LOCAL_SOURCE.load()(f"input {node.name}")


def _lifted(module: GraphModule) -> list[tuple[str, torch.Tensor]]:
    return [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]


def _fields(value: Any) -> Any:
    if isinstance(value, jagged.Jagged | jagged.Length):
        return type(value).__name__, vars(value)
    return (value.tensor, value.requires_grad, value.is_parameter) if isinstance(value, Input) else value


def _whole(value: Any, place: torch.device) -> Any:
    if not isinstance(value, tuple):
        return value
    if len(value) == 2:
        made = getattr(jagged, value[0])(**value[1])
        for part in getattr(made, "parts", {}).values():
            part.fake_device = place
        return made
    tensor, requires_grad, is_parameter = value
    tensor.fake_device = place
    tensor.requires_grad_(requires_grad)
    return torch.nn.Parameter(tensor, requires_grad) if is_parameter else tensor


def _unguarded(mode: Any) -> contextlib.AbstractContextManager[None]:
    """The program's guards stay as they are."""
    return mode.shape_env.suppress_guards() if mode.shape_env is not None else contextlib.nullcontext()


def _plain(value: Any, seen: Any, ragged: set[str]) -> Any:
    if not isinstance(value, torch.Tensor):
        is_length = isinstance(seen, torch.SymInt) and str(seen.node.expr) in ragged
        return jagged.Length(str(seen.node.expr)) if is_length else seen
    if jagged.is_jagged(seen):
        return jagged.taken_apart(seen, value.requires_grad)
    tensor = torch.empty_strided(seen.size(), seen.stride(), dtype=value.dtype, device=value.device)
    return Input(tensor, value.requires_grad, isinstance(value, torch.nn.Parameter))


def _meta(node: fx.Node) -> dict[str, Any]:
    kept = {key: node.meta[key] for key in _KEPT if key in node.meta}
    if stack := node.meta.get("nn_module_stack"):
        kept["nn_module_stack"] = {key: (path, _name(kind)) for key, (path, kind) in stack.items()}
    # Parameters and buffers stay where they are: the partitioner saves them rather than what is computed from them.
    if lifetime := node.meta.get("tensor_dict", {}).get(_STATIC):
        kept["tensor_dict"] = {_STATIC: lifetime}
    return kept


def _name(kind: Any) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"


_PRECISIONS: Final = (("generic", "all"), ("cuda", "all"), ("cuda", "matmul"), ("cuda", "conv"), ("cuda", "rnn"))
"""Of float32: backend and operation."""


def _matmul_precision() -> str | None:
    """None where the program has told torch.backends what torch's one switch can't say."""
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
    """What is asked of the GPU is asked of the CPU in a program whose CUDA is mapped."""
    return torch.is_autocast_enabled(_CPU.type), torch.get_autocast_dtype(_CPU.type)


def _cast(state: tuple[bool, torch.dtype]) -> None:
    enabled, dtype = state
    torch.set_autocast_enabled(_CPU.type, enabled)
    torch.set_autocast_dtype(_CPU.type, dtype)


def _cudnn() -> bool:
    return bool(torch.backends.cudnn.enabled)


def _set_cudnn(enabled: bool) -> None:
    cudnn: Any = torch.backends.cudnn
    cudnn.enabled = enabled


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
    ("cudnn", _cudnn, _set_cudnn),
    ("math_sdp", torch.backends.cuda.math_sdp_enabled, torch.backends.cuda.enable_math_sdp),
)
"""Name, the question, and the order."""


def _state() -> dict[str, Any]:
    return {name: ask() for name, ask, _ in _SWITCHES}


def restore(state: dict[str, Any]) -> None:
    """Set torch's switches as they were where the graph comes from."""
    for name, _, order in _SWITCHES:
        order(state[name])
