"""One product of four gathered factors, summed and added into its places, in two orders.

Output[b, w, out[p]] += Scale[p] * One[b, u, first[p]] * Two[b, v, second[p]] * Weight[u, v, w, third[p]]

torch up to 2.11 computes a product that is broadcast at once when it reads as much as one that several nodes use; newer
ones only where numbers must not change from one compile to the next.
"""

import torch

BATCH, WIDTH, INPUTS, PATHS = 8, 4, 9, 16
OPTIONS = {"deterministic": True}
device = "cuda" if torch.cuda.is_available() else "cpu"


@torch.compile(options=OPTIONS)
def wide_first(one, two, weight, scale, first, second, third, out):
    left = one.index_select(2, first)[:, :, None, None, :]
    right = two.index_select(2, second)[:, None, :, None, :]
    product = weight.index_select(3, third)[None] * scale * left * right
    return torch.zeros(BATCH, WIDTH, INPUTS, device=device).index_add(2, out, product.sum((1, 2)))


@torch.compile(options=OPTIONS)
def narrow_first(one, two, weight, scale, first, second, third, out):
    left = one.index_select(2, first)[:, :, None, :]
    right = two.index_select(2, second)[:, None, :, :]
    product = (scale * left * right)[:, :, :, None, :] * weight.index_select(3, third)[None]
    return torch.zeros(BATCH, WIDTH, INPUTS, device=device).index_add(2, out, product.sum((1, 2)))


one, two = torch.randn(2, BATCH, WIDTH, INPUTS, device=device)
weight = torch.randn(WIDTH, WIDTH, WIDTH, INPUTS, device=device)
indices = torch.randint(INPUTS, (4, PATHS), device=device)
arguments = (one, two, weight, torch.randn(PATHS, device=device), *indices)
print(torch.allclose(wide_first(*arguments), narrow_first(*arguments), atol=1e-4))
