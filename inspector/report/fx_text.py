"""FX nodes as lines of a program."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from inspect_compile.facts import Node
from inspect_compile.tables.lowering.nodes import value_text
from inspect_compile.tables.text import code_text, one_line, place_text

_READ: Final = re.compile(r"%(\w+)")


def call_text(node: Node) -> str:
    """What stands behind the equals sign: `aten.add.Tensor(x, 1)`, `placeholder arg0_1`; what is returned."""
    if node.op != "output" and not node.op.startswith("call_"):
        return f"{node.op} {node.target}"
    inputs = frozenset(node.inputs)
    given = node.arguments.removeprefix("(").removesuffix(")")
    given = _READ.sub(lambda found: found[1] if found[1] in inputs else found[0], given)
    return given if node.op == "output" else f"{node.target}({given})"


def graph_lines(rows: Iterable[Node]) -> Iterator[str]:
    """The graph as `print_readable` writes one: each new line of the user's stands above its nodes."""
    last = None
    for row in rows:
        where = row.where
        if where is not None and where != last:
            function = f" in {one_line(where.function)}" if where.function else ""
            yield f"# {place_text(where)}{function}: {code_text(where)}"
        last = where
        value = f': "{value_text(row.values)}"' if row.values else ""
        yield f"return {call_text(row)}" if row.op == "output" else f"{one_line(row.name)}{value} = {call_text(row)}"
