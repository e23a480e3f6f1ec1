"""A layer, a convolution and flex_attention, each chosen among candidates."""

import torch
from torch.nn.attention.flex_attention import flex_attention

torch.backends.cuda.matmul.fp32_precision = "tf32"
layer = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU()).half().eval()
convolution = torch.nn.Conv2d(16, 32, 3).half().eval()
heads = torch.zeros(1, 2, 256, 64).half()
with torch.no_grad():
    print(torch.compile(layer, mode="max-autotune")(torch.zeros(128, 512).half()).shape)
    print(torch.compile(convolution, mode="max-autotune")(torch.zeros(4, 16, 16, 16).half()).shape)
    print(torch.compile(flex_attention, mode="max-autotune")(heads, heads, heads).shape)
