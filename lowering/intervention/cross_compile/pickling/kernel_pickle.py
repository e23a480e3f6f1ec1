"""Pickles the program's Triton kernels, of which a graph only has numbers in a table of the process.

A kernel is sent as its code and everything that the code uses, because another process cannot import the script that
defines it.
"""

import builtins
import importlib
import io
import linecache
import marshal
import operator
import os
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from inspect_compile.lowering.intervention.cross_compile.graph_nodes import nodes_of
from inspect_compile.torch_compat import compilers
from inspect_compile.torch_compat import user_kernels as names

_THERE: Final = {"triton", "torch", "inspect_compile"} | sys.stdlib_module_names - {"__main__"}
"""Packages that the other process can import."""
_OPTIONS: Final = ("version", "do_not_specialize", "do_not_specialize_on_alignment", "debug", "noinline")
_TUNING: Final = ("perf_model", "configs_top_k", "early_config_prune")


def packed(module: GraphModule) -> bytes:
    """The kernels that nodes of `module` and of graphs nested in it launch, and their constant arguments.

    Raises what pickle raises.
    """
    nodes = list(_launches(module))
    if not nodes:
        return b""
    table = names.SIDE_TABLE.load()
    kernels = {node.kwargs["kernel_idx"]: table.get_kernel(node.kwargs["kernel_idx"]) for node in nodes}
    numbers = {node.kwargs["constant_args_idx"] for node in nodes}
    return in_full((kernels, {number: table.get_constant_args(number) for number in numbers}))


def in_full(value: Any) -> bytes:
    """Pickle a value with the functions and kernels in it, not with their names. Raises what pickle raises."""
    file = io.BytesIO()
    _Pickler(file).dump(value)
    return file.getvalue()


def unpacked(data: bytes, module: GraphModule) -> None:
    """Add the kernels of `packed` to this process's table, and give the nodes of `module` their new numbers."""
    if not data:
        return
    table = names.SIDE_TABLE.load()
    kernels, constants = pickle.loads(data)
    kernels = {number: table.add_kernel(kernel) for number, kernel in kernels.items()}
    constants = {number: table.add_constant_args(values) for number, values in constants.items()}
    for node in _launches(module):
        numbers = {
            "kernel_idx": kernels[node.kwargs["kernel_idx"]],
            "constant_args_idx": constants[node.kwargs["constant_args_idx"]],
        }
        node.kwargs = {**node.kwargs, **numbers}


def _launches(module: GraphModule) -> Iterator[Node]:
    """The nodes that launch a Triton kernel; none if neither Triton nor torch's support for it is loaded."""
    if "triton" not in sys.modules and "torch._higher_order_ops.triton_kernel_wrap" not in sys.modules:
        return
    targets = [names.MUTATING.load(), names.COPYING.load()]
    yield from (node for node in nodes_of(module) if node.target in targets)


class _Pickler(pickle.Pickler):
    """Pickles functions and kernels with what is in them, unless the other process can import them."""

    def reducer_override(self, value: Any) -> Any:
        """Called by pickle for each object: the function and arguments that make it again, or NotImplemented."""
        if isinstance(value, compilers.OPERATORS_OF_SPACE.load()):
            return _of_torch, (value.name,)
        if isinstance(value, (compilers.OPERATOR.load(), compilers.OPERATOR_PACKET.load())):
            return _of_torch, (str(value),)
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        if isinstance(value, types.FunctionType):
            return NotImplemented if _is_there(value) else (_function, _parts(value))
        if isinstance(value, names.CUSTOM_OPERATOR.load()):
            return _Operator, (value._qualname,)
        jit, tuner = importlib.import_module("triton.runtime.jit"), importlib.import_module("triton.runtime.autotuner")
        if isinstance(value, jit.JITFunction):
            if _is_there(value):
                return _named, (value.__module__, value.__qualname__)
            options = {name: getattr(value, name) for name in _OPTIONS}
            return _kernel, (value.fn, {**options, "repr": value._repr})
        if isinstance(value, tuner.Autotuner):
            tuning = {name: getattr(value, name) for name in _TUNING}
            return _tuned, (
                (value.fn, value.arg_names, value.configs, value.keys, value.reset_to_zero, value.restore_value),
                tuning,
            )
        if isinstance(value, tuner.Heuristics):
            return type(value), (value.fn, value.arg_names, value.values)
        return NotImplemented


class _Operator:
    """An operator of the program's that one of its functions calls; it is looked up when it is called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        space, _, name = self._name.partition("::")
        return getattr(getattr(torch.ops, space), name)(*arguments, **named)


def _is_there(value: Any) -> bool:
    """Whether the other process can import it."""
    return str(value.__module__).partition(".")[0] in _THERE


def _parts(function: types.FunctionType) -> tuple[Any, ...]:
    """The arguments with which `_function` makes the function again."""
    code = function.__code__
    used = {name: function.__globals__[name] for name in _used(code) if name in function.__globals__}
    return (
        marshal.dumps(code),
        used,
        function.__module__,
        function.__qualname__,
        function.__defaults__,
        function.__kwdefaults__,
        function.__annotations__,
        tuple(cell.cell_contents for cell in function.__closure__ or ()),
        linecache.getlines(code.co_filename),
    )


def _used(code: types.CodeType) -> set[str]:
    """The names that the code, and functions defined in it, look up."""
    inner = (_used(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*inner)


def _function(
    code: bytes,
    used: dict[str, Any],
    module: str,
    qualname: str,
    defaults: Any,
    named_defaults: Any,
    annotations: dict[str, Any],
    closure: tuple[Any, ...],
    source: list[str],
) -> types.FunctionType:
    """Make a function again; called by pickle. Triton reads its source, so that is kept if its file is not there."""
    made = marshal.loads(code)
    outside = {"__name__": module, "__builtins__": builtins, **used}
    cells = tuple(map(types.CellType, closure))
    function = types.FunctionType(made, outside, made.co_name, defaults, cells or None)
    function.__module__, function.__qualname__ = module, qualname
    function.__kwdefaults__, function.__annotations__ = named_defaults, annotations
    if source and not os.path.exists(made.co_filename):
        linecache.cache[made.co_filename] = (sum(map(len, source)), None, source, made.co_filename)
    return function


def _kernel(function: types.FunctionType, options: dict[str, Any]) -> Any:
    """Make a Triton kernel again; called by pickle."""
    return importlib.import_module("triton.runtime.jit").JITFunction(function, **options)


def _tuned(parts: tuple[Any, ...], tuning: dict[str, Any]) -> Any:
    """Make a Triton kernel with several configurations again; called by pickle."""
    tuner = importlib.import_module("triton.runtime.autotuner").Autotuner(*parts)
    for name, value in tuning.items():
        setattr(tuner, name, value)
    return tuner


def _of_torch(path: str) -> Any:
    """An operator, `aten.mm.default`, or the namespace of some; called by pickle."""
    return operator.attrgetter(path)(torch.ops)


def _named(module: str, qualname: str) -> Any:
    """Import a kernel; called by pickle."""
    return operator.attrgetter(qualname)(importlib.import_module(module))
