"""Which places an index reaches that holds values which the loop has loaded, a gather's: those of which other index.

torch numbers such values anew in each loop body, so that `c1 + 64*tmp0` of one scheduler node may be other rows than
that of another. How a value is computed, from what it is loaded, is the same or not.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from inspect_compile.lowering.core.expressions import text

_TEMPORARY: Final = "tmp"
"""torch's name in a dependency for what a loop body calls indirect0."""
_NAME: Final = re.compile(r"\b[A-Za-z_]\w*")
_MOST_LOADS: Final = 64
"""That a value is computed from: what is computed from more is not followed."""
_PLAIN: Final = (int, float, bool, str, type(None))


class _Value(NamedTuple):
    """A value in a loop body."""

    exact: str
    """How it is computed, in the body's own variables: a digest."""
    of_load: str
    """The same with nothing of where a load loads."""
    loads: frozenset[tuple[str, str]]
    """Buffer and index of what it is computed from."""
    variables: frozenset[str]
    is_indexed: bool
    """It is computed from an index, too, or from a load whose index is itself a value."""


def loaded_places(node: Any) -> dict[Any, str]:
    """A scheduler node's dependencies whose index holds values → a digest of where these come from.

    Dependencies of one graph that agree in it, in their index and in its ranges reach the same places. One whose values
    are not understood is left out.
    """
    body = getattr(node, "_body", None)
    if body is None or not getattr(body, "indirect_vars", None) or not node.read_writes:
        return {}
    dependencies = {
        one: named for one in (*node.read_writes.reads, *node.read_writes.writes) if (named := _numbers(one))
    }
    if not dependencies:
        return {}
    values, indices = _values(body), _indices(body)
    reads: dict[str, list[Any]] = {}
    for one in node.read_writes.reads:
        reads.setdefault(one.name, []).append(one)
    digests: dict[tuple[int, ...], str] = {}
    for numbers in dict.fromkeys(dependencies.values()):
        held = [values.get(number) for number in numbers]
        if all(value is not None and {buffer for buffer, _ in value.loads} <= reads.keys() for value in held):
            known = [value for value in held if value is not None]
            digests[numbers] = _digest(*_held(body, numbers, known, indices.get(numbers, []), reads))
        # else it is loaded from a buffer that goes by a later name here: it was changed in place
    return {one: digests[numbers] for one, numbers in dependencies.items() if numbers in digests}


def _indices(body: Any) -> dict[tuple[int, ...], list[Any]]:
    """Numbers of values → the body's indexes that hold these and no others."""
    found: dict[tuple[int, ...], list[Any]] = {}
    places = _places(body)
    for name in sorted({entry.index_name for entries in body.memory_usage.values() for entry in entries}):
        index = body.indexing_exprs.get(name)
        if index is not None and (held := _indirect(places, index)):
            found.setdefault(tuple(sorted(held)), []).append(index)
    return found


def _held(
    body: Any, numbers: tuple[int, ...], held: list[_Value], indices: list[Any], reads: dict[str, list[Any]]
) -> Iterator[str]:
    """What the values of these numbers are; where that is enough by what is the same in another order of the loops.

    `indices` are the indexes that hold them.
    """
    direct = {symbol.name for index in indices for symbol in index.free_symbols}
    order = {str(body.indirect_vars[number]): f"value{rank}" for rank, number in enumerate(numbers)}
    written = sorted({_NAME.sub(lambda name: order.get(name[0], name[0]), text(index)) for index in indices})
    for value in held:
        load = next(iter(value.loads)) if len(value.loads) == 1 else ("", "")
        of_buffer = reads.get(load[0], [])
        is_plain = len(of_buffer) == 1 and type(of_buffer[0]).__name__ == "MemoryDep" and not _numbers(of_buffer[0])
        if len(held) == 1 and is_plain and not value.is_indexed and value.variables.isdisjoint(direct):
            (one,) = of_buffer
            ranges = (f"{text(name)}={text(size)}" for name, size in zip(one.var_names, one.size, strict=False))
            yield from (value.of_load, load[0], text(one.index), *ranges)
        else:
            yield from (value.exact, *written)
            yield from (f"{text(name)}={text(size)}" for name, size in body.var_ranges.items())


def _numbers(dependency: Any) -> tuple[int, ...]:
    """Those of the values in its index."""
    if type(dependency).__name__ != "MemoryDep":
        return ()
    symbols = (symbol.name for symbol in dependency.index.free_symbols)
    numbers = (name.removeprefix(_TEMPORARY) for name in symbols if name.startswith(_TEMPORARY))
    return tuple(sorted(int(number) for number in numbers if number.isdecimal()))


def _indirect(places: Mapping[Any, int], index: Any) -> set[int]:
    return {places[symbol] for symbol in index.free_symbols if symbol in places}


def _places(body: Any) -> dict[Any, int]:
    """What its indexes call a value → the value's number."""
    return {variable: place for place, variable in enumerate(body.indirect_vars)}


def _values(body: Any) -> dict[int, _Value]:
    """Number of a value that an index holds → what it is; those that are understood."""
    numbers = _places(body)
    places = {f"set_{variable}": place for variable, place in numbers.items()}
    found: dict[int, _Value] = {}
    for block in (body.root_block, *body.subblocks.values()):
        known: dict[Any, _Value] = {}
        for node in block.graph.nodes:
            is_kept = node.op == "call_module" and node.target in places
            value = known.get(node.args[0]) if is_kept else _value(body, node, known, found, numbers)
            if value is None:
                continue
            if is_kept:
                place = places[node.target]
                size = text(body.indirect_var_ranges.get(body.indirect_vars[place], ""))
                found[place] = value._replace(exact=_digest(value.exact, size), of_load=_digest(value.of_load, size))
            else:
                known[node] = value
    return found


def _value(
    body: Any, node: Any, known: dict[Any, _Value], found: dict[int, _Value], numbers: Mapping[Any, int]
) -> _Value | None:
    if node.op == "placeholder" and node.target == "ops":
        return _Value("ops", "ops", frozenset(), frozenset(), is_indexed=False)
    if node.op == "call_module" and node.target == "get_index":
        return _index(body.indexing_exprs[node.args[0]], found, numbers)
    if node.kwargs or node.op != "call_method":
        return None  # a part with a graph of its own
    parts = [_argument(argument, known) for argument in node.args]
    values = [part for part in parts if isinstance(part, _Value)]
    if None in parts:
        return None
    exact = _digest(str(node.target), *(part.exact if isinstance(part, _Value) else str(part) for part in parts))
    if node.target == "load" and len(values) == 2:
        buffer, index = str(node.args[1]), values[1]
        loads = frozenset({(buffer, index.exact)})
        return _Value(exact, "load", loads | index.loads, index.variables, is_indexed=bool(index.loads))
    loads = frozenset(load for value in values for load in value.loads)
    if len(loads) > _MOST_LOADS:
        return None
    of_load = _digest(str(node.target), *(part.of_load if isinstance(part, _Value) else str(part) for part in parts))
    return _Value(
        exact,
        of_load,
        loads,
        frozenset(name for value in values for name in value.variables),
        is_indexed=any(value.is_indexed for value in values),
    )


def _index(index: Any, found: dict[int, _Value], numbers: Mapping[Any, int]) -> _Value | None:
    held = [found.get(number) for number in sorted(_indirect(numbers, index))]
    if None in held:
        return None
    values = [value for value in held if value is not None]
    own = frozenset(symbol.name for symbol in index.free_symbols)
    return _Value(
        _digest("index", text(index), *(value.exact for value in values)),
        "index",
        frozenset(load for value in values for load in value.loads),
        own.union(*(value.variables for value in values)),
        is_indexed=True,
    )


def _argument(value: Any, known: dict[Any, _Value]) -> _Value | str | None:
    """A value, the text of a constant; None for what is not understood."""
    if type(value).__name__ == "Node":
        return known.get(value)
    return repr(value) if isinstance(value, _PLAIN) or type(value).__name__ == "dtype" else None


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
