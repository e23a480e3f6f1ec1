# after pytorch#141486: dynamic=False: a block mask is compiled for each length
import torch
from torch.nn.attention.flex_attention import create_block_mask


def window(b, h, q, k):
    return (q >= k) & (q - k < 64)


masks = torch.compile(create_block_mask, dynamic=False)
for length in (256, 192, 128):
    masks(window, None, None, length, length, device="cpu")
