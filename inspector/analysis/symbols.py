"""The symbols that sizes and indices of a graph are written in."""

from inspect_compile.dump import Dump
from inspect_compile.facts import Symbol


def symbols(dump: Dump, graph: str) -> tuple[Symbol, ...]:
    """Those of `graph` and of the graphs nested in it, each once, in the order in which they first appear.

    A symbol means the same in a graph and in those nested in it.
    """
    found: dict[str, Symbol] = {}
    for row in dump.rows(Symbol, graph):
        known = found.get(row.name)
        if known is None or (known.where is None and row.where is not None) or row.graph == graph != known.graph:
            found[row.name] = row
    return tuple(found.values())


def hints_of(rows: tuple[Symbol, ...]) -> dict[str, int]:
    """Symbol → the size that it stood for."""
    return {row.name: int(row.hint) for row in rows if row.hint.isdecimal() and len(row.hint) < 19}
