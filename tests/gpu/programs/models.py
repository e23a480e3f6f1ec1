"""Models of torch alone, with random weights, in inference and three steps of training: `models.py gpt2 bert convnet`."""

import sys

import torch
import torch.nn.functional as F
from torch import nn

WORDS, WIDTH, HEADS, LENGTH, BATCH = 8192, 512, 8, 256, 8


class Block(nn.Module):
    """A layer of a transformer: GPT-2's with the norm before, BERT's with the norm behind."""

    def __init__(self, is_causal):
        super().__init__()
        self.is_causal = is_causal
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def attend(self, x):
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
        return self.out(mixed.transpose(1, 2).flatten(-2))

    def forward(self, x):
        if self.is_causal:
            x = x + self.attend(self.norm1(x))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Transformer(nn.Module):
    def __init__(self, is_causal):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Block(is_causal) for _ in range(4))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(LENGTH, device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.words.weight.T


class Residual(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU())
        self.b = nn.Sequential(nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer))
        self.side = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        return F.relu(self.b(self.a(x)) + self.side(x))


def convnet():
    first = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks = [Residual(64, 64, 1), Residual(64, 128, 2), Residual(128, 256, 2)]
    return nn.Sequential(*first, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1000))


MODELS = {
    "gpt2": lambda: (Transformer(True), torch.randint(0, WORDS, (BATCH, LENGTH))),
    "bert": lambda: (Transformer(False), torch.randint(0, WORDS, (BATCH, LENGTH))),
    "convnet": lambda: (convnet(), torch.randn(32, 3, 128, 128)),
}

torch.manual_seed(0)
for name in sys.argv[1:]:
    model, given = (thing.cuda() for thing in MODELS[name]())
    with torch.no_grad():
        inferring = torch.compile(model.eval())
        for _ in range(3):
            inferring(given)
    training = torch.compile(model.train())
    for _ in range(3):
        model.zero_grad(set_to_none=True)
        training(given).float().square().mean().backward()
    torch.cuda.synchronize()
    print(name, "has run", flush=True)
