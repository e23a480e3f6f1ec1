"""Operators that a GPU has and the CPU has not, in eager and compiled code: python made_up.py WHAT."""

import sys

import torch
from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention

what = sys.argv[1]
if what != "cpu":
    torch.set_default_device("cuda")
aten = torch.ops.aten


def attended(query, key, value):
    return aten._scaled_dot_product_flash_attention(query, key, value, 0.0, True)[0].relu()


def heads(**options):
    return [torch.randn(2, 4, 64, 32, **options) for _ in range(3)]


match what:
    case "attention":
        for call in (attended, torch.compile(attended)):
            query, key, value = heads(dtype=torch.bfloat16, requires_grad=True)
            result = call(query, key, value)
            result.sum().backward()
            print(tuple(result.shape), result.dtype, query.grad.stride())
        print("none" if result.max().item() == 0 else "some")
    case "experts":
        rows = torch.randn(64, 128).to(torch.float8_e4m3fn)
        weights = torch.randn(4, 96, 128).to(torch.float8_e4m3fn).transpose(-2, -1)
        ends = torch.tensor([16, 32, 48, 64], dtype=torch.int32)

        @torch.compile
        def multiplied(rows, weights, scales, by_expert, ends):
            return torch._scaled_grouped_mm(rows, weights, scales, by_expert, offs=ends, out_dtype=torch.bfloat16) * 2

        print(multiplied(rows, weights, torch.rand(64), torch.rand(4, 96), ends).shape)
    case "blocks":
        rows, columns = torch.randn(256, 256).to(torch.float8_e4m3fn), torch.randn(512, 256).to(torch.float8_e4m3fn).t()
        one, other = torch.rand(2, 256).t(), torch.rand(2, 512)
        print(torch.compile(torch._scaled_mm)(rows, columns, one, other, out_dtype=torch.bfloat16).shape)
        torch._scaled_mm(rows, columns, torch.rand(3, 1), torch.rand(1, 5), out_dtype=torch.bfloat16)
    case "own":
        library = torch.library.Library("of_a_gpu", "DEF")
        library.define("doubled(Tensor x, Tensor(a!) into) -> Tensor")
        library.impl("doubled", lambda x, into: x * 2, "CUDA")
        torch.library.register_fake("of_a_gpu::doubled", lambda x, into: x.new_empty((2, *x.shape)), lib=library)
        library.define("halved(Tensor x) -> Tensor")
        into = torch.ones(3)
        print(tuple(torch.ops.of_a_gpu.doubled(torch.ones(5), into).shape), into.tolist())
        torch.ops.of_a_gpu.halved(torch.ones(5))
    case "flex":
        query, key, value = heads(requires_grad=True)
        mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 64, 64)
        results = [flex_attention(query, key, value, block_mask=mask)]
        attend = torch.compile(flex_attention)
        results.append(attend(query, key, value, block_mask=mask))
        results[1].sum().backward()
        print(torch.allclose(*results, atol=1e-5), query.grad.abs().sum().item() > 0)
        _, aux = attend(query, key, value, return_aux=AuxRequest(max_scores=True))
        print(aux.max_scores.shape)
    case "cpu":
        attended(*heads())
