"""Products of attention by torch.einsum: which tensors are its query, key and value, held against torch's own call."""

import math

import pytest
import torch

from inspect_compile.analysis.findings.attention import einsum
from inspect_compile.facts import DynamoNode, Tensor

SIZES = {"b": 2, "h": 3, "q": 4, "k": 5, "d": 6, "e": 7}


def fact(tensor: torch.Tensor) -> Tensor:
    return Tensor(dtype="float32", size=tuple(tensor.shape), stride=tensor.stride(), device="cpu")


def product(equation: str, result: torch.Tensor) -> DynamoNode:
    return DynamoNode(
        graph="0/0",
        stage="dynamo",
        index=0,
        name="einsum",
        op="call_function",
        target="torch.functional.einsum",
        arguments=f"'{equation}', %a, %b",
        values=(fact(result),),
    )


def operands(equation: str) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = equation.partition("->")[0].replace(" ", "").split(",")
    torch.manual_seed(0)
    return torch.randn([SIZES[one] for one in first]), torch.randn([SIZES[one] for one in second])


def as_told(tensor: torch.Tensor, told: Tensor) -> torch.Tensor:
    return tensor.as_strided([int(one) for one in told.size], [int(one) for one in told.stride])


@pytest.mark.parametrize(
    ("to_scores", "to_result"),
    [
        ("bqhd,bkhd->bhqk", "bhqk,bkhe->bqhe"),
        ("bhqd, bhkd -> bhqk", "bhqk, bhke -> bhqe"),
        ("bkhd,bqhd->bhqk", "bkhe,bhqk->bhqe"),
        ("bqd,bdk->bqk", "bqk,bek->bqe"),
    ],
)
def test_the_call_with_these_tensors_computes_the_same(to_scores: str, to_result: str) -> None:
    two, scores = operands(to_scores), torch.einsum(to_scores, *operands(to_scores))
    found = einsum.scores(product(to_scores, scores), (fact(two[0]), fact(two[1])))
    assert found is not None
    first, second = two if "q" in to_scores.partition(",")[0] else two[::-1]
    query, key = as_told(first, found[0]), as_told(second, found[1])
    weights = (scores / math.sqrt(SIZES["d"])).softmax(-1)

    is_second = "q" not in to_result.partition(",")[0]
    values = operands(to_result)[0 if is_second else 1]
    both = (values, weights) if is_second else (weights, values)
    result = torch.einsum(to_result, *both)
    value = einsum.value(product(to_result, result), (fact(both[0]), fact(both[1])), is_second=is_second)
    assert value is not None
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, as_told(values, value))
    order = to_result.replace(" ", "").partition("->")[2]
    torch.testing.assert_close(result, expected.permute([("bhqe" if "h" in order else "bqe").index(o) for o in order]))


@pytest.mark.parametrize("equation", ["bqd,bkd->bq", "bqhd,bkhd->bqk", "bqd,qkd->bqk", "qd,kd->qk"])
def test_other_products_are_none(equation: str) -> None:
    """Of a row alone, of two axes that are summed, of a batch that one has not, of none."""
    two = operands(equation)
    given = (fact(two[0]), fact(two[1]))
    assert einsum.scores(product(equation, torch.einsum(equation, *two)), given) is None


@pytest.mark.parametrize("equation", ["bhqk,bhde->bhqe", "bhqk,bkhd->bhqkd", "bhqk,bkd->bhqd"])
def test_other_readers_of_weights_weigh_nothing(equation: str) -> None:
    two = operands(equation)
    given = (fact(two[0]), fact(two[1]))
    assert einsum.value(product(equation, torch.einsum(equation, *two)), given, is_second=False) is None
