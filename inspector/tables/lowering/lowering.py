"""How each node was lowered to IR."""

from inspect_compile.analysis.lowering.ir_text import brief
from inspect_compile.facts import Lowering
from inspect_compile.tables.lowering.nodes import nested_name
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.sheet import Cell, Column, styled
from inspect_compile.tables.text import number_of, one_line, seconds_text

_COLUMNS = (
    Column("node", cap=0.26),
    Column("target", cap=0.26),
    Column("way"),
    Column("by", cap=0.2, least=120),
    Column("made", cap=0.2),
    Column("FLOP", right=True, least=90),
    Column("time", right=True, least=140),
    Column("IR", flex=True),
)
_STYLES = {"fallback": "yellow", "failed": "red"}


def _cells(row: Lowering) -> list[Cell]:
    result = one_line(row.error) if row.error is not None else _result(row)
    return [
        nested_name(row.graph, row.node),
        row.target if row.op == "call_function" else row.op,
        styled(row.way, style=_STYLES.get(row.way, "")),
        row.via.partition(" ")[0],
        " ".join((*row.buffers, *row.operations)),
        f"{row.flops:,}" if row.flops else "",
        seconds_text(row.seconds),
        result,
    ]


def _result(row: Lowering) -> str:
    if row.same_as is not None:
        return f"%{row.same_as} itself"
    return brief(row.result).replace("TensorBox(StorageBox(", "").removesuffix("))") if row.op != "output" else ""


lowering = Listing[Lowering](
    "lowering",
    _COLUMNS,
    lambda dump, graph: dump.rows(Lowering, graph),
    _cells,
    told=lambda found: f"{number_of(len(found), 'node')} lowered, in full in lowering.txt",
)
"""The steps in the order in which they ended; lowering.txt of the dump has each in full."""
