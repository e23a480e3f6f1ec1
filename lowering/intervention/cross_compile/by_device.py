"""What torch takes apart differently on a GPU, other than attention, while AOTAutograd traces on the CPU.

Seen by tracing some 190 uses of operators for both with torch 2.15, inference and training: with this installed all but
those in REMAINING are traced on the CPU as for a GPU, save values that nothing reads.
"""

import inspect
from types import CodeType
from typing import Any, Final

from torch.fx import GraphModule

from inspect_compile.lowering.intervention.cross_compile.composites import COMPOSITES
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import by_device as names
from inspect_compile.torch_compat.compilers import DISPATCH_KEY

_GPU: Final = "cuda"


class _Either(str):
    """A device's type that the CPU's equals, too."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other in _BOTH

    def __ne__(self, other: object) -> bool:
        return other not in _BOTH

    __hash__ = str.__hash__


_BOTH: Final = frozenset({"cpu", _GPU})
_ANSWERS: Final = {"cpu": "meta", _GPU: _Either(_GPU), "is_cuda": "device"}
"""What is asked → what is asked instead: the answer is a GPU's for tensors that are on the CPU, and for those that have
been moved. Every tensor has a `device`."""

REMAINING: Final = {
    "lstm": "cuDNN may run it as one kernel",
    "gru": "cuDNN may run it as one kernel",
    "rnn_tanh": "cuDNN may run it as one kernel",
    "rnn_relu": "cuDNN may run it as one kernel",
    "mkldnn_rnn_layer": "is the CPU's; cuDNN may run it as one kernel",
    "ctc_loss": "cuDNN may run it",
    "grid_sampler": "cuDNN runs the bilinear one with zeros around it and align_corners",
    "grid_sample": "cuDNN runs the bilinear one with zeros around it and align_corners",
    "masked_scatter": "is taken apart where the device has masked loads",
    "renorm": "rounds at another place in its backward",
    "index_reduce": "falls back on the device for some types",
    "_transformer_encoder_layer_fwd": "is taken apart inside, by device",
    "_native_multi_head_attention": "is taken apart inside, by device",
    "_scaled_dot_product_flash_attention_for_cpu": "is the CPU's: this call was not seen",
}
"""Operator or function of a program → how a GPU may do it differently. Nothing was done about these."""


def install() -> None:
    """From now on this process takes operators apart as for a GPU, whatever device their tensors are on."""
    for name in names.ASKING:
        _turn(name)
    names.IS_GPU.put(lambda device: True)
    hint = names.DEVICE_HINT.load()
    names.DEVICE_HINT.put(lambda tensor: _GPU if hint(tensor) == "cpu" else hint(tensor))
    for operator, composite in COMPOSITES.items():
        operator.py_impl(DISPATCH_KEY.load().CompositeImplicitAutograd)(composite)


def remaining(module: GraphModule) -> tuple[str, ...]:
    """Of a traced graph, Dynamo's or AOTAutograd's, and of its subgraphs: what a GPU may do differently, and how."""
    return tuple(f"{name} {REMAINING[name]}" for name in called(module) if name in REMAINING)


def called(module: GraphModule) -> tuple[str, ...]:
    """Names of the operators, functions and methods that a graph and its subgraphs call, each once."""
    targets = [
        getattr(node.target, "overloadpacket", node.target)
        for graph_module in module.modules()
        if isinstance(graph_module, GraphModule)
        for node in graph_module.graph.nodes
        if node.op in ("call_function", "call_method")
    ]
    names_of = (target if isinstance(target, str) else getattr(target, "__name__", "") for target in targets)
    return tuple(dict.fromkeys(names_of))


def _turn(name: Name) -> None:
    """A decomposition asks its tensors whether they are on the CPU. From now on none is.

    The code itself is changed, since torch's tables hold the function in wrappers of their own.
    """
    try:
        function = inspect.unwrap(name.load())
    except AttributeError:  # this torch has no such decomposition
        return
    code: CodeType = function.__code__
    function.__code__ = code.replace(
        co_consts=tuple(map(_turned, code.co_consts)), co_names=tuple(map(_turned, code.co_names))
    )


def _turned(constant: Any) -> Any:
    if isinstance(constant, tuple):
        return tuple(map(_turned, constant))
    return _ANSWERS.get(constant, constant) if isinstance(constant, str) else constant
