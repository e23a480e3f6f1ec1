"""A call of flex_attention that another torch recorded is one of this torch."""

from typing import Any

import pytest
import torch
from torch.fx import Graph, GraphModule
from torch.nn.attention.flex_attention import BlockMask

from inspect_compile.lowering.intervention.replay.flex import adapt

HERE = BlockMask.from_kv_blocks(torch.ones(1, 1, 1, dtype=torch.int32), torch.zeros(1, 1, 1, 1, dtype=torch.int32))
LENGTH = len(HERE.as_tuple())
BLOCKS = tuple(range(100, 108))
"""Stand for the tensors of a block mask."""


def adapted(before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[int, Any, Any]:
    """What becomes of a mask of these parts around its tensors, and of the call's options."""
    graph = Graph()
    query = graph.placeholder("query")
    query.meta["val"] = torch.empty(1, 2, 64, 8)
    parts = [graph.get_attr(name) for name in ("score", "mask")]
    mask = (*before, *BLOCKS, *after, parts[1])
    call = graph.call_function(
        torch.ops.higher_order.flex_attention,
        (query, query, query, parts[0], mask, 0.5, {"OUTPUT_LOGSUMEXP": True}, (), ()),
    )
    graph.output(call)
    owner = torch.nn.Module()
    owner.score, owner.mask = torch.nn.Identity(), torch.nn.Identity()
    module = GraphModule(owner, graph)
    count = adapt(module)
    (node,) = (node for node in module.graph.nodes if node.op == "call_function")
    return count, node.args[4][:-1], node.args[6]


def here(lengths: tuple[Any, ...], sizes: tuple[int, ...]) -> tuple[Any, ...]:
    return (*lengths, *BLOCKS, *[None] * (LENGTH - 2 - 8 - 3), *sizes)


def test_of_torch_2_6() -> None:
    count, mask, options = adapted((), (128, 128))
    assert (count, mask) == (1, here((64, 64), (128, 128)))
    assert options["OUTPUT_LOGSUMEXP"] is True
    assert options["OUTPUT_MAX"] is False


def test_sizes_that_would_have_to_be_turned_round_are_left() -> None:
    count, mask, _ = adapted((), (128, 64))
    assert (count, mask) == (0, (*BLOCKS, 128, 64))


@pytest.mark.parametrize("added", [(), (None,), (None, None, None, None)])
def test_of_later_ones(added: tuple[Any, ...]) -> None:
    count, mask, options = adapted((32, 48), (*added, 128, 64))
    assert count == (len(added) != LENGTH - 2 - 8 - 3)
    assert mask == here((32, 48), (128, 64))
    assert (options == {"OUTPUT_LOGSUMEXP": True}) == (count == 0)
