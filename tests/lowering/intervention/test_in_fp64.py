"""Operators that have a form of ours in fp64, beside torch's own of a CPU."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import Graph

from inspect_compile.lowering.intervention.numerics.graphs.in_fp64 import called_in_fp64, in_fp64

KERNELS = ("flash", "efficient", "cudnn")


def inputs(*, bias: bool) -> dict[str, Any]:
    """What an attention is given, and its gradient. Its saved numbers are no use: none may be read."""
    generator = torch.Generator().manual_seed(0)
    made = {
        name: torch.randn(2, 3, size, 8, dtype=torch.float64, generator=generator)
        for name, size in (("query", 7), ("key", 7), ("value", 7), ("grad_out", 7))
    }
    if bias:
        made["attn_bias"] = torch.randn(2, 3, 7, 7, dtype=torch.float64, generator=generator)
    return {**made, "grad_out_": made["grad_out"], "scale": 0.3}


def of_kernel(kernel: str, given: dict[str, Any], own: list[Any], **more: Any) -> Any:
    """The gradients in fp64 of that kernel's backward."""
    target = getattr(torch.ops.aten, f"_scaled_dot_product_{kernel}_attention_backward").default
    all_of_them: dict[str, Any] = {"dropout_p": 0.0, "is_causal": False, "grad_input_mask": [True] * 4, **given, **more}
    names = [one.name for one in target._schema.arguments]
    args = [all_of_them.get(name) for name in names if name != "scale"]
    node = Graph().call_function(target, tuple(None if isinstance(one, Tensor) else one for one in args))
    return in_fp64(node, own)(*args, scale=given["scale"])


def of_cpu(given: dict[str, Any], *, is_causal: bool) -> tuple[Tensor, ...]:
    """torch's own backward of a CPU."""
    three = [given[name] for name in ("query", "key", "value")]
    options = {"attn_mask": given.get("attn_bias"), "scale": given["scale"]}
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*three, 0.0, is_causal, **options)
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    found: tuple[Tensor, ...] = backward(given["grad_out"], *three, *forward, 0.0, is_causal, **options)
    return found


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_backward_of_a_gpus_attention_is_that_of_a_cpus(kernel: str, is_causal: bool) -> None:
    given = inputs(bias=False)
    query, key, value, *bias = of_kernel(
        kernel, given, [None] * (4 if kernel == "efficient" else 3), is_causal=is_causal
    )

    assert bias in ([], [None])
    for one, other in zip((query, key, value), of_cpu(given, is_causal=is_causal), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_gpus_attention_that_is_called_is_that_of_a_cpu(kernel: str) -> None:
    """cuDNN's own takes numbers in fp64 for twice as many in a half type, and gives something."""
    target = getattr(torch.ops.aten, f"_scaled_dot_product_{kernel}_attention").default
    given = {**inputs(bias=False), "compute_log_sumexp": False}
    names = [one.name for one in target._schema.arguments if not one.kwarg_only]
    args = [given.get(name, target._schema.arguments[at].default_value) for at, name in enumerate(names)]

    result, *others = called_in_fp64(target, args, {"scale": given["scale"]}, ("of eager", 1, 2))

    three = [given[name] for name in ("query", "key", "value")]
    wanted = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*three, scale=given["scale"])[0]
    torch.testing.assert_close(result, wanted, rtol=1e-12, atol=1e-12)
    assert others == [1, 2]
    backward = getattr(torch.ops.aten, f"_scaled_dot_product_{kernel}_attention_backward").default
    with pytest.raises(NotImplementedError):
        called_in_fp64(backward, args, {}, None)


def test_a_bias_has_a_gradient_if_it_was_asked_for() -> None:
    given = inputs(bias=True)
    nothing = torch.empty(0)
    mask = [True, True, False, True]
    *found, bias = of_kernel("efficient", given, [None, None, nothing, None], grad_input_mask=mask)
    query, key, _ = of_cpu(given, is_causal=False)

    torch.testing.assert_close(found[0], query, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(found[1], key, rtol=1e-12, atol=1e-12)
    assert found[2] is nothing
    assert bias.shape == given["attn_bias"].shape
    # Each row of a softmax sums to 1: so does each row of its gradient, to 0.
    assert bias.sum(-1).abs().max() < 1e-12 < bias.abs().max()


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_dropout_has_no_form(kernel: str) -> None:
    """Its random numbers are in the state of a GPU's generator."""
    with pytest.raises((RuntimeError, NotImplementedError)):
        of_kernel(kernel, inputs(bias=False), [None, None, None], dropout_p=0.1)
