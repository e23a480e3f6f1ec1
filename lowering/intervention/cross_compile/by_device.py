"""Decomposes operators other than attention as for a GPU, while AOTAutograd traces on the CPU.

Checked with torch 2.15 by tracing about 190 uses of operators for both devices, with and without gradients: once this
is installed, all but those in `REMAINING` give the same graph on the CPU as on a GPU, except for values that nothing
reads.
"""

import inspect
from types import CodeType
from typing import Any, Final

from torch.fx import GraphModule

from inspect_compile.lowering.intervention.cross_compile.composites import COMPOSITES
from inspect_compile.lowering.intervention.cross_compile.graph_nodes import nodes_of
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import by_device as names
from inspect_compile.torch_compat.compilers import DISPATCH_KEY

_GPU: Final = "cuda"


class _Either(str):
    """The device type "cuda" as a string that is equal to "cpu", too."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other in _BOTH

    def __ne__(self, other: object) -> bool:
        return other not in _BOTH

    __hash__ = str.__hash__


_BOTH: Final = frozenset({"cpu", _GPU})
_ANSWERS: Final = {"cpu": "meta", _GPU: _Either(_GPU), "is_cuda": "device"}
"""Constant or attribute in the code of a decomposition → what replaces it, so that the code takes a tensor on the CPU
for one on a GPU, as it takes those that were moved: none is on "cpu", all are on "cuda", and `is_cuda` becomes
`device`, which is true for every tensor.
"""

REMAINING: Final = {
    "lstm": "cuDNN may run it as one kernel",
    "gru": "cuDNN may run it as one kernel",
    "rnn_tanh": "cuDNN may run it as one kernel",
    "rnn_relu": "cuDNN may run it as one kernel",
    "mkldnn_rnn_layer": "is the CPU's; cuDNN may run it as one kernel",
    "ctc_loss": "cuDNN may run it",
    "grid_sampler": "cuDNN runs the bilinear one with zeros around it and align_corners",
    "grid_sample": "cuDNN runs the bilinear one with zeros around it and align_corners",
    "masked_scatter": "is decomposed if the device has masked loads",
    "renorm": "rounds elsewhere in its backward",
    "index_reduce": "falls back on the device for some types",
    "_transformer_encoder_layer_fwd": "is decomposed inside, depending on the device",
    "_native_multi_head_attention": "is decomposed inside, depending on the device",
    "_scaled_dot_product_flash_attention_for_cpu": "is the CPU's: this call was not seen",
}
"""Operator or function that is still traced as for the CPU → how that may differ on a GPU."""


def install() -> None:
    """Decompose operators as for a GPU, whatever device their tensors are on, until the process ends."""
    for name in names.ASKING:
        _treat_as_gpu(name)
    names.IS_GPU.put(lambda device: True)
    hint = names.DEVICE_HINT.load()
    names.DEVICE_HINT.put(lambda tensor: _GPU if hint(tensor) == "cpu" else hint(tensor))
    for operator, composite in COMPOSITES.items():
        operator.py_impl(DISPATCH_KEY.load().CompositeImplicitAutograd)(composite)


def remaining(module: GraphModule) -> tuple[str, ...]:
    """What a GPU may do differently in a graph of Dynamo or AOTAutograd and in those nested in it: a sentence each."""
    return tuple(f"{name} {REMAINING[name]}" for name in called(module) if name in REMAINING)


def called(module: GraphModule) -> tuple[str, ...]:
    """Names of the operators, functions and methods that a graph and the graphs nested in it call, each once."""
    calls = (node.target for node in nodes_of(module) if node.op in ("call_function", "call_method"))
    targets = (getattr(target, "overloadpacket", target) for target in calls)
    names_of = (target if isinstance(target, str) else getattr(target, "__name__", "") for target in targets)
    return tuple(dict.fromkeys(names_of))


def _treat_as_gpu(name: Name) -> None:
    """Change a decomposition that asks whether its tensors are on the CPU, so that it takes none for one that is.

    The function's code object is replaced, because torch's tables of decompositions hold the function inside wrappers.
    """
    try:
        function = inspect.unwrap(name.load())
    except AttributeError:  # this torch has no such decomposition
        return
    code: CodeType = function.__code__
    function.__code__ = code.replace(
        co_consts=tuple(map(_replaced, code.co_consts)), co_names=tuple(map(_replaced, code.co_names))
    )


def _replaced(constant: Any) -> Any:
    """A constant or name of the code, or its replacement from `_ANSWERS`."""
    if isinstance(constant, tuple):
        return tuple(map(_replaced, constant))
    return _ANSWERS.get(constant, constant) if isinstance(constant, str) else constant
