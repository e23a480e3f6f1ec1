"""Pickles operators that the program's script defines, because another process cannot import the script.

What a compile needs of an operator is sent: its schema, its shape function, its backward, and the functions of a
composite operator.
"""

import functools
import pickle
import types
from collections.abc import Callable
from typing import Any, Final

import torch
from torch.fx import GraphModule

from inspect_compile.lowering.intervention.cross_compile.graph_nodes import operators_of
from inspect_compile.lowering.intervention.cross_compile.pickling import kernel_pickle
from inspect_compile.torch_compat import targets as names
from inspect_compile.torch_compat.compilers import OPERATOR

_BUILT_IN: Final = frozenset({"aten", "prims", "prim"})
_SENT: Final = frozenset(
    {"Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd", "AutogradCPU", "AutogradCUDA"}
)
"""Dispatch keys whose kernels may give shapes and backwards; kernels for a device are only needed to run."""

_KERNELS: Final[dict[str, dict[str, tuple[Any, bool]]]] = {}
"""Operator → dispatch key → the Python function that the program registered, and whether it takes the keys too."""
_DEFINED: Final[set[str]] = set()
"""Operators that the program defined by torch.library.Library."""
_BACKWARDS: Final[dict[str, tuple[Any, Any]]] = {}
"""Operator → its backward and the function that saves values for it."""
_libraries: Final[dict[str, Any]] = {}
"""Operator that `unpacked` defined → its library, which must be kept: torch removes the operator when it is gone."""


def install() -> None:
    """Record what the program registers by torch.library, since torch does not return the Python functions.

    To be called in the program right after `import torch`.
    """
    library: Any = torch.library.Library
    define, impl, register = library.define, library.impl, torch.library.register_autograd

    @functools.wraps(define)
    def defined(self: Any, schema: str, *arguments: Any, **named: Any) -> Any:
        name = define(self, schema, *arguments, **named)
        if self.ns not in _BUILT_IN:
            _DEFINED.add(f"{self.ns}::{schema.partition('(')[0].partition('.')[0].strip()}")
        return name

    @functools.wraps(impl)
    def implemented(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **named: Any) -> Any:
        result = impl(self, op_name, fn, dispatch_key, **named)
        if self.ns not in _BUILT_IN and isinstance(fn, types.FunctionType):
            name = op_name if isinstance(op_name, str) else op_name._schema.name
            key = dispatch_key or self.dispatch_key
            own = _KERNELS.setdefault(f"{self.ns}::{name.rpartition('::')[2]}", {})
            own[key] = fn, bool(named.get("with_keyset"))
        return result

    @functools.wraps(register)
    def registered(op: Any, backward: Any, /, *, setup_context: Any = None, lib: Any = None) -> Any:
        if isinstance(op, str):
            _BACKWARDS[op.partition(".")[0]] = backward, setup_context
        elif isinstance(op, OPERATOR.load()):
            _BACKWARDS[op._schema.name] = backward, setup_context
        return register(op, backward, setup_context=setup_context, lib=lib)

    library.define, library.impl, torch.library.register_autograd = defined, implemented, registered


def packed(module: GraphModule) -> bytes:
    """The script's operators that the graph and graphs nested in it call. Raises what pickle raises."""
    recipes = [recipe for name in operators_of(module) if (recipe := _recipe(name)) is not None]
    return kernel_pickle.in_full(recipes) if recipes else b""


def unpacked(data: bytes) -> None:
    """Define the operators of `packed` in this process, each once."""
    for kind, name, *rest in pickle.loads(data) if data else ():
        if name not in _libraries:
            _libraries[name] = _MADE[kind](name, *rest)


def _recipe(name: str) -> tuple[Any, ...] | None:
    """The kind of an operator of the script and the arguments of the function in `_MADE`; None for other operators."""
    custom = names.CUSTOM_OPERATORS.load().get(name)
    if custom is not None:
        is_triton = custom._init_fn.__module__ == names.TRITON_OPERATORS
        own = custom._abstract_fn if is_triton else custom._init_fn
        if own.__module__ != "__main__":
            return None
        schema = custom._opoverload._schema
        written = tuple(one.name for one in schema.arguments if one.alias_info is not None and one.alias_info.is_write)
        backward = custom._backward_fn, custom._setup_context_fn
        if is_triton:
            return "triton", name, own, written, backward
        return "custom", name, custom._schema, written, _tags(custom._opoverload), custom._abstract_fn, backward
    kernels = {
        key: kernel
        for key, kernel in _KERNELS.get(name, {}).items()
        if key in _SENT and not kernel[0].__module__.startswith("torch")
    }
    if name not in _DEFINED:
        return None
    found = names.FAKE_KERNELS.load().find(name).fake_impl.kernel
    fake = None if found is None else _given(found.func)
    functions = [function for function, _ in kernels.values()] + ([] if fake is None else [fake])
    if not functions or any(function.__module__ != "__main__" for function in functions):
        return None
    packet = getattr(getattr(torch.ops, name.partition("::")[0]), name.partition("::")[2])
    schemas = [str(getattr(packet, overload)._schema) for overload in packet.overloads()]
    return (
        "library",
        name,
        schemas,
        _tags(getattr(packet, packet.overloads()[0])),
        kernels,
        fake,
        _BACKWARDS.get(name),
    )


def _given(function: Any) -> Any:
    """The program's function, if torch kept one of its own that has it in its closure."""
    inside = (cell.cell_contents for cell in function.__closure__ or ())
    is_of_torch = function.__module__.partition(".")[0] == "torch"
    return next((one for one in inside if is_of_torch and isinstance(one, types.FunctionType)), function)


def _tags(operator: Any) -> tuple[str, ...]:
    """Names of an operator's tags."""
    return tuple(tag.name for tag in operator.tags)


def _custom(
    name: str, schema: str, written: tuple[str, ...], tags: tuple[str, ...], fake: Any, backward: tuple[Any, Any]
) -> Any:
    """Define an operator of torch.library.custom_op."""
    made: Any = torch.library.custom_op(name, _not_run, mutates_args=written, schema=schema, tags=_meant(tags))
    if fake is not None:
        made.register_fake(fake)
    return _with_backward(made, backward)


def _triton(name: str, function: Any, written: tuple[str, ...], backward: tuple[Any, Any]) -> Any:
    """Define an operator of torch.library.triton_op."""
    return _with_backward(torch.library.triton_op(name, function, mutates_args=written), backward)


def _meant(tags: tuple[str, ...]) -> list[Any]:
    """The inverse of `_tags`."""
    return [getattr(torch.Tag, tag) for tag in tags]


def _with_backward(made: Any, backward: tuple[Any, Any]) -> Any:
    """The operator, with its backward registered if it has one."""
    if backward[0] is not None:
        made.register_autograd(backward[0], setup_context=backward[1])
    return made


def _library(
    name: str, schemas: list[str], tags: tuple[str, ...], kernels: dict[str, tuple[Any, bool]], fake: Any, backward: Any
) -> Any:
    """Define an operator of torch.library.Library; returns its library."""
    space = name.partition("::")[0]
    library: Any = torch.library.Library(space, "FRAGMENT")  # type: ignore[no-untyped-call]
    for schema in schemas:
        library.define(schema.partition("::")[2], tags=_meant(tags))
    for key, (function, with_keys) in kernels.items():
        library.impl(name.partition("::")[2], function, key, with_keyset=with_keys)
    if fake is not None:
        torch.library.register_fake(name, fake, lib=library)
    if backward is not None:
        torch.library.register_autograd(name, backward[0], setup_context=backward[1], lib=library)
    return library


def _not_run(*arguments: Any, **named: Any) -> Any:
    """The implementation of each such operator here."""
    raise RuntimeError("an operator of the program is not run where its graph is compiled")


_MADE: Final[dict[str, Callable[..., Any]]] = {"custom": _custom, "triton": _triton, "library": _library}
"""Kind of operator → the function that defines it again."""
