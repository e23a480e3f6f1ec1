"""The symbols in the sizes and indices of a graph."""

from inspect_compile.dump import Dump
from inspect_compile.facts import Symbol


def symbols(dump: Dump, graph: str) -> tuple[Symbol, ...]:
    """The symbols of `graph` and its nested graphs, each once, in order of first appearance.

    A symbol means the same in a graph and in its nested graphs.
    """
    found: dict[str, Symbol] = {}
    for row in dump.rows(Symbol, graph):
        known = found.get(row.name)
        if known is None or (known.where is None and row.where is not None) or row.graph == graph != known.graph:
            found[row.name] = row
    return tuple(found.values())


def hints_of(rows: tuple[Symbol, ...]) -> dict[str, int]:
    """Symbol → its hint."""
    return {row.name: int(row.hint) for row in rows if row.hint.isdecimal() and len(row.hint) < 19}
