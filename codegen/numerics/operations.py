"""What each variable of a kernel is to hold: the operation that torch's code generator was asked for.

An operation is recorded as it is asked for, before there is any text: a mistake of the generator is in the text alone.
"""

import importlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from inspect_compile.codegen.kernels.statement_lines import Version
from inspect_compile.codegen.kernels.statements import PLACED, version_of
from inspect_compile.lowering.core.loop_tags import kernel_at_hand, operation_at_hand, tag_of
from inspect_compile.lowering.core.scopes import SCOPES, Scope
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import codegen as names

BODIES: Final = "codegen.numerics.operations"
"""In a graph's scope: what `bodies_of` gives."""
Lines = Mapping[int, tuple["Body", ...]]
"""Line number of a kernel's source → the bodies that it may belong to: one if it is a statement of a loop's body, all
of the loop if it stands around them.
"""


class Variable(NamedTuple):
    """A variable of the kernel, as an argument of an operation."""

    name: str


class Store(NamedTuple):
    """What is to be stored."""

    buffer: str
    index: Any
    """A sympy expression in the loop variables."""
    variable: str
    texts: tuple[str, ...] = ()
    """The lines that torch wrote for it, without surrounding blanks."""


class Operation(NamedTuple):
    """What a variable holds."""

    name: str
    """As in torch's `ops`: add, constant, load, reduction."""
    arguments: tuple[Any, ...]
    """Variables, numbers, dtypes and sympy expressions in the loop variables."""
    node: str
    """The FX node that it belongs to; empty if it has none."""
    dtype: Any = None
    """torch's dtype of the variable, if torch says it."""


@dataclass(eq=False)
class Body:
    """The operations of one body of a kernel: its scalar, its vectorized version, or a tail."""

    variables: dict[str, Operation] = field(default_factory=dict)
    stores: list[Store] = field(default_factory=list)
    lines: dict[Store, int] = field(default_factory=dict)
    """Where in the kernel's source torch put the statement that stores."""
    ranges: dict[str, int] = field(default_factory=dict)
    """Loop variable → how many values it has, from 0, if that is a number."""
    symbolic: dict[str, Any] = field(default_factory=dict)
    """The same of the others, in symbols of sizes."""
    along: str = ""
    """The loop variable along which the lanes of a vector lie; empty in a scalar body."""
    within: str = ""
    """A loop variable that an inner loop over a transposed tile moves on."""


_OPEN: Final[dict[int, tuple[Version, Body]]] = {}
"""Bodies of kernels that have no source yet, by the identity of what was written for them."""


def install(check: Any) -> None:
    """Remember from now on what is asked for. `check` is not used."""

    def default(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(proxy: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            result = plain(proxy, name, args, kwargs)
            _note(proxy.kernel, name, (*args, *kwargs.values()), result)
            return result

        return run

    def load(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(proxy: Any, name: str, index: Any) -> Any:
            result = plain(proxy, name, index)
            _note(proxy.kernel, "load", (name, index), result)
            return result

        return run

    def store(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(proxy: Any, name: str, index: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
            before = _texts()
            result = plain(proxy, name, index, value, *args, **kwargs)
            _note_store(proxy.kernel, Store(name, index, str(getattr(value, "name", value))), before)
            return result

        return run

    def reduction(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run(proxy: Any, dtype: Any, src_dtype: Any, reduction_type: Any, value: Any) -> Any:
            result = plain(proxy, dtype, src_dtype, reduction_type, value)
            _note(proxy.kernel, "reduction", (reduction_type, value), result)
            return result

        return run

    module = importlib.import_module(names.OPS_DEFAULT.module)
    for name, watched in (
        (names.OPS_DEFAULT, default),
        (names.OPS_LOAD, load),
        (names.OPS_STORE, store),
        (names.OPS_STORE_REDUCTION, store),
        (names.OPS_REDUCTION, reduction),
    ):
        replace(module, name, watched)
    PLACED.append(_placed)


def bodies_of(scope: Scope) -> Mapping[str, Sequence[Lines]]:
    """Kernel → the bodies of its lines, for each group of operations that it was generated for: several groups may have
    the same source. They are forgotten here.
    """
    found: Mapping[str, Sequence[Lines]] = scope.stash.pop(BODIES, {})
    return found


def lines_for(groups: Sequence[Lines], buffer: str) -> Lines:
    """The lines of the group that writes the buffer; those of the first one if none does."""
    for lines in groups:
        if any(store.buffer == buffer for bodies in lines.values() for body in bodies for store in body.stores):
            return lines
    return groups[0] if groups else {}


def _placed(
    scope: Scope,
    kernel: str,
    source: Sequence[str],
    owners: Mapping[int, tuple[Version, ...]],
    versions: list[Version],
) -> None:
    """The source of a kernel is known."""
    known = {key: body for key, (_, body) in _OPEN.items()}
    lines = {
        line: tuple(known[id(version)] for version in whose if id(version) in known) for line, whose in owners.items()
    }
    for number, text in enumerate(source, 1):
        for body in lines.get(number, lines.get(0, ())):
            for store in body.stores:
                if text.strip() in store.texts:
                    body.lines.setdefault(store, number)
    for version in versions:
        _OPEN.pop(id(version), None)
    for whose in owners.values():
        for version in whose:
            _OPEN.pop(id(version), None)
    scope.stash.setdefault(BODIES, {}).setdefault(kernel, []).append(lines)


def _body(kernel: Any) -> Body | None:
    """The body that is being generated."""
    version = version_of(kernel_at_hand())
    if version is None or SCOPES.here() is None:
        return None
    known = _OPEN.get(id(version))
    if known is None:
        known = _OPEN[id(version)] = version, Body()
        variables, ranges = getattr(kernel, "itervars", None) or (), getattr(kernel, "ranges", None) or ()
        known[1].along = _variable(variables, getattr(kernel, "tiling_idx", None))
        known[1].within = _variable(variables, getattr(kernel, "outer_idx", None))
        sizes = {str(one): size for one, size in zip(variables, ranges, strict=False)}
        known[1].ranges = {one: int(size) for one, size in sizes.items() if getattr(size, "is_number", False)}
        symbols = {name: symbol for symbol, name in getattr(getattr(kernel, "args", None), "sizevars", {}).items()}
        known[1].symbolic = {
            one: size.subs({argument: symbols.get(str(argument), argument) for argument in size.free_symbols})
            for one, size in sizes.items()
            if one not in known[1].ranges and hasattr(size, "free_symbols")
        }
    return known[1]


def _variable(variables: Sequence[Any], at: Any) -> str:
    return str(variables[at]) if type(at) is int and at < len(variables) else ""


def _texts() -> int:
    """How many lines have been written for the body that is being generated."""
    version = version_of(kernel_at_hand())
    return 0 if version is None else len(version.lines)


def _in_indices(kernel: Any, index: Any) -> Any:
    """An expression in the variables that a Triton kernel always has (xindex, r0_index); one of a C++ kernel, and what
    is no expression, as it is.
    """
    known = getattr(kernel, "range_tree_nodes", None)
    if not known or not hasattr(index, "free_symbols"):
        return index
    return index.subs({symbol: known[symbol].expr for symbol in index.free_symbols if symbol in known})


def _note(kernel: Any, name: str, arguments: tuple[Any, ...], result: Any) -> None:
    try:
        body = _body(kernel)
        if body is None:
            return
        operation = operation_at_hand()
        tag = None if operation is None else tag_of(operation)
        results = result if isinstance(result, (tuple, list)) else (result,)
        for at, one in enumerate(results):
            variable = one if type(one) is str else getattr(one, "name", None)  # a vector reduction is named by a text
            if type(variable) is str:
                given = tuple(_argument(one, kernel) for one in arguments)
                extra = (at,) if len(results) > 1 else ()
                dtype = getattr(one, "dtype", None)
                body.variables.setdefault(
                    variable, Operation(name, (*given, *extra), "" if tag is None else tag.node, dtype)
                )
    except Exception as error:
        let_pass(error)


def _note_store(kernel: Any, store: Store, before: int) -> None:
    """`before`: how many lines had been written for the body."""
    try:
        body, version = _body(kernel), version_of(kernel_at_hand())
        if body is not None and version is not None:
            texts = tuple(itertools.islice(version.lines, before, None))
            body.stores.append(store._replace(index=_in_indices(kernel, store.index), texts=texts))
    except Exception as error:
        let_pass(error)


def _argument(value: Any, kernel: Any) -> Any:
    name = getattr(value, "name", None)
    if type(name) is str and hasattr(value, "bounds"):
        return Variable(name)
    if isinstance(value, (tuple, list)):
        return tuple(_argument(one, kernel) for one in value)
    return _in_indices(kernel, value)
