"""Attention that no fused kernel of a CPU computes, for a reason each; with the argument `mended`, changed as advised."""

import sys

import torch
from torch.nn import Module, Parameter
from torch.nn.functional import dropout, pad
from torch.nn.functional import scaled_dot_product_attention as attention

IS_MENDED = "mended" in sys.argv
SCALE = 16**-0.5


def three_axes(q, k, v):
    if IS_MENDED:
        return attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1)).squeeze(1)
    return attention(q, k, v)  # axes


def head_last(q, k, v):
    if IS_MENDED:
        return attention(q.mT.contiguous(), k.mT.contiguous(), v.mT.contiguous())
    return attention(q.mT, k.mT, v.mT)  # layout


def with_dropout(q, k, v):
    return attention(q, k, v, dropout_p=0.0 if IS_MENDED else 0.1)  # dropout


def grouped(q, k, v):
    q = q.expand(-1, 2, -1, -1)
    return attention(q, k, v, enable_gqa=IS_MENDED)  # heads


def masked(q, k, v, mask):
    return attention(q, k, v, attn_mask=mask.unsqueeze(1) if IS_MENDED else mask)  # mask


def sizes(q, k, v):
    if IS_MENDED:
        return attention(q, k, pad(v[..., :8], (0, 8)), scale=SCALE)[..., :8]
    return attention(q, k, v[..., :8])  # sizes


def by_hand(q, k, v):
    if IS_MENDED:
        return attention(q, k, v, attn_mask=q[..., :1] - k[..., :1].mT, scale=SCALE)
    weights = (q @ k.mT * SCALE + (q[..., :1] - k[..., :1].mT)).softmax(-1)
    return weights @ v  # by hand


def by_einsum(q, k, v):
    mask = q[..., :1] - k[..., :1].mT
    if IS_MENDED:
        return attention(q, k, v, attn_mask=mask, scale=SCALE)
    rows, columns, values = (one.transpose(1, 2) for one in (q, k, v))
    weights = (torch.einsum("bqhd,bkhd->bhqk", rows, columns) * SCALE + mask).softmax(-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, values).transpose(1, 2)  # by einsum


def fused(q, k, v):
    return attention(q, k, v)  # fused


def copied(q, k, v):
    return attention(q.mT.contiguous(), k.mT.contiguous(), v.mT.contiguous())  # copied


def kept(q, k, v):
    weights = (q @ k.mT * SCALE * 1.5).softmax(-1)
    return weights @ v, weights  # weights kept


def capped(q, k, v):
    return (q @ k.mT * SCALE).tanh().softmax(-1) @ v  # capped


def dropped(q, k, v):
    return dropout((q @ k.mT * SCALE).softmax(-1), 0.1, training=True) @ v  # dropped


class Learnt(Module):
    def __init__(self):
        super().__init__()
        self.table = Parameter(torch.zeros(128, 128))

    def forward(self, q, k, v):
        called = attention(q, k, v, attn_mask=self.table)  # learnt
        written = ((q + 1) @ k.mT * SCALE + self.table).softmax(-1) @ v  # learnt by hand
        return called + written


@torch.compile
def all_of_them(q, k, v, mask):
    flat = [one.flatten(0, 1) for one in (q, k, v)]
    turned = [one.mT.contiguous() for one in (q, k, v)]
    return (
        three_axes(*flat),
        head_last(*turned),
        with_dropout(q + 1, k, v),
        grouped(q, k, v),
        masked(q + 2, k, v, mask),
        sizes(q + 3, k, v),
        by_hand(q + 4, k, v),
        by_einsum(q + 9, k, v),
        fused(q + 5, k, v),
        copied(*[one + 1 for one in turned]),
        *kept(q + 6, k, v),
        capped(q + 7, k, v),
        dropped(q + 8, k, v),
    )


shape = (2, 1, 128, 16)
given = [torch.randn(shape) for _ in range(3)]
all_of_them(*given, torch.zeros(2, 128, 128))
if not IS_MENDED:
    torch.compile(Learnt())(*given)
