"""The FX nodes of each graph as Inductor lowered it."""

from inspect_compile.analysis.lowering.ir_text import dtype_text
from inspect_compile.facts import Node, Tensor
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.sheet import Cell, Column
from inspect_compile.tables.text import number_of, one_line, place_text

_COLUMNS = (
    Column("node", cap=0.3),
    Column("target", cap=0.3),
    Column("value", cap=0.32),
    Column("module", cap=0.2, least=120),
    Column("where", cap=0.22),
    Column("", flex=True, least=100),
)


def nested_name(graph: str, name: str) -> str:
    """A name prefixed with its nested graph: `true_graph_0/add`."""
    inner = graph.partition("/")[2]
    return f"{inner}/{name}" if inner else name


def value_text(values: tuple[Tensor, ...]) -> str:
    """`f32[10, 88, 78]`; of several values the first and their number."""
    if not values:
        return ""
    first = f"{dtype_text(values[0].dtype)}[{', '.join(str(length) for length in values[0].size)}]"
    return first if len(values) == 1 else f"{first} and {len(values) - 1} more"


def _cells(node: Node) -> list[Cell]:
    code = one_line(node.where.code) if node.where is not None else ""
    target = node.target if node.op not in ("placeholder", "output") else node.op
    return [
        nested_name(node.graph, node.name),
        target,
        value_text(node.values),
        node.module,
        place_text(node.where),
        code,
    ]


nodes = Listing[Node](
    "nodes",
    _COLUMNS,
    lambda dump, graph: [node for node in dump.rows(Node, graph) if node.stage == "post_grad"],
    _cells,
    told=lambda found: number_of(len(found), "FX node") + " after all passes",
)
"""The nodes after all passes, in order; those of nested graphs follow, prefixed with their graph."""
