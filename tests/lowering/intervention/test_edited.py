"""Where an edit of a graph begins, which made what is at one place of it another function."""

import operator
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Node, symbolic_trace

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import PRE_GRAD
from inspect_compile.lowering.intervention.numerics.left_behind.edited import with_edit
from inspect_compile.lowering.intervention.numerics.left_behind.left import sharers
from inspect_compile.lowering.intervention.numerics.levels import copied
from inspect_compile.lowering.intervention.numerics.results import Place

ROW = Checked(graph="model__0_inference_0.0", call=1, index=-1, level=PRE_GRAD)


def begun(function: Callable[..., object], edit: Callable[[dict[str, Node], Graph], None], *places: Place) -> str:
    """The node at which `edit` of the function's graph is said to begin."""
    module = symbolic_trace(function)
    before = copied(module)
    edit({node.name: node for node in module.graph.nodes}, module.graph)
    return with_edit(ROW, before, copied(module), *places).source


def two(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.sin() - 1, x.cos() * 2


def test_a_result_in_the_place_of_another_one() -> None:
    """The pair of results that share memory tells both places; the first of them was not edited."""

    def edit(nodes: dict[str, Node], graph: Graph) -> None:
        graph.output_node().args = ((nodes["mul"], nodes["mul"]),)

    assert begun(two, edit, Place(1)) == ""
    assert begun(two, edit, *sharers("result 1", {("result 1", "result 0"), ("result 1", "x")})) == "sub"


def halves(x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor]:
    one, other = torch.chunk(x, 2)[0], torch.chunk(x, 2)[1]
    return (torch.cat([one * cos - other * sin, other * cos + one * sin]),)


def test_an_edited_node_whose_user_becomes_what_another_node_is() -> None:
    """With the first half in the place of the second, `other * sin` is what `one * sin` is."""

    def edit(nodes: dict[str, Node], graph: Graph) -> None:
        nodes["getitem_1"].args = (nodes["getitem_1"].args[0], 0)

    assert begun(halves, edit, Place(0)) == "getitem_1"


def averaged(x: Tensor, count: int) -> tuple[Tensor]:
    return (x.sum(0) / count,)


def test_a_node_that_reads_nothing_but_a_size_has_the_line_of_what_reads_it() -> None:
    module = symbolic_trace(averaged)
    nodes = {node.name: node for node in module.graph.nodes}
    nodes["truediv"].stack_trace = f'  File "{__file__}", line 59, in averaged\n    return (x.sum(0) / count,)'
    before = copied(module)
    with module.graph.inserting_before(nodes["truediv"]):
        more = module.graph.call_function(operator.add, (nodes["count"], 1))
    nodes["truediv"].args = (nodes["sum_1"], more)
    row = with_edit(ROW, before, copied(module), Place(0))

    assert row.source == "add"
    assert row.where is not None
    assert row.where.line == 59


class Calling(torch.nn.Module):
    """Calls a graph that is nested in its own, as higher-order operators do."""

    def __init__(self, nested: Callable[..., object]) -> None:
        super().__init__()
        graph = Graph()
        x = graph.placeholder("x")
        body = graph.create_node("get_attr", "body")
        graph.output((graph.call_function(torch.ops.higher_order.invoke_subgraph, (body, "body", x)),))
        self.made = GraphModule({"body": symbolic_trace(nested)}, graph)


def alone(x: Tensor) -> Tensor:
    return x.sin() * 2


def inside_tuples(x: Tensor) -> tuple[tuple[Tensor], tuple[Tensor, Tensor]]:
    return (x.sin() * 2,), (x, x)


@pytest.mark.parametrize("nested", [alone, inside_tuples])
def test_a_nested_graph_that_returns_one_value_or_tuples(nested: Callable[..., object]) -> None:
    module = Calling(nested).made
    before = copied(module)
    body = module.body
    assert isinstance(body, GraphModule)
    sin = next(node for node in body.graph.nodes if node.name == "sin")
    sin.replace_all_uses_with(sin.all_input_nodes[0])
    body.graph.erase_node(sin)

    assert with_edit(ROW, before, copied(module), Place(0)).source == "sin"
