"""A small model of a family that the tests have not, with random weights: `NAME inference`, or a step of `training`.

Nothing is downloaded. `unet_last` and `resnet_last` have their channels last and compute in bfloat16 by autocast, as
most vision models on a GPU do.
"""

import contextlib
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WORDS, BATCH, LENGTH, PIXELS, WIDTH = 96, 2, 16, 32, 32


def _transformer(kind: str, config: object) -> nn.Module:
    import transformers

    return getattr(transformers, kind)(config)


def _small() -> dict[str, object]:
    return {
        "vocab_size": WORDS,
        "hidden_size": WIDTH,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }


def gemma3() -> nn.Module:
    from transformers import Gemma3TextConfig

    layers = ["sliding_attention", "full_attention"]
    return _transformer("Gemma3ForCausalLM", Gemma3TextConfig(**_small(), sliding_window=8, layer_types=layers))


def t5gemma() -> nn.Module:
    from transformers import T5GemmaConfig

    layers = ["sliding_attention", "full_attention"]
    half = {**_small(), "sliding_window": 8, "layer_types": layers, "query_pre_attn_scalar": 8}
    decoder = {**half, "cross_attention_hidden_size": WIDTH}
    both = T5GemmaConfig(encoder=half, decoder=decoder, dropout_rate=0.0)
    return _transformer("T5GemmaForConditionalGeneration", both)


def qwen3_moe() -> nn.Module:
    from transformers import Qwen3MoeConfig

    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    return _transformer("Qwen3MoeForCausalLM", Qwen3MoeConfig(**_small(), **experts))


def falcon() -> nn.Module:
    from transformers import FalconConfig

    size = {"vocab_size": WORDS, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4}
    return _transformer("FalconForCausalLM", FalconConfig(**size, bos_token_id=1, eos_token_id=2))


def xlnet() -> nn.Module:
    from transformers import XLNetConfig

    return _transformer(
        "XLNetLMHeadModel", XLNetConfig(vocab_size=WORDS, d_model=WIDTH, n_layer=2, n_head=4, d_inner=64)
    )


def hubert() -> nn.Module:
    from transformers import HubertConfig

    size = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    heard = {"conv_dim": (16, 16), "conv_stride": (5, 2), "conv_kernel": (10, 3), "num_conv_pos_embeddings": 16}
    quiet = {"mask_time_prob": 0.0, "layerdrop": 0.0, "num_conv_pos_embedding_groups": 4}
    return _transformer("HubertModel", HubertConfig(vocab_size=WORDS, **size, **heard, **quiet))


class DLRM(nn.Module):
    """Numbers and tables of words, each with each."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(50, 16, mode="sum") for _ in range(3))
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(16 + 6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.register_buffer("pairs", torch.tril_indices(4, 4, offset=-1))

    def forward(self, numbers: Tensor, words: Tensor) -> Tensor:
        dense = self.bottom(numbers)
        found = [table(words[place]) for place, table in enumerate(self.tables)]
        rows = torch.stack([dense, *found], 1)
        each = torch.bmm(rows, rows.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return self.top(torch.cat((dense, each), 1)).sigmoid()


class GAT(nn.Module):
    """Two layers of attention over the edges of a graph, in plain torch."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 4 * 8), nn.Linear(4 * 8, 4 * 8)
        self.source = nn.Parameter(torch.randn(2, 4, 8) / 8)
        self.target = nn.Parameter(torch.randn(2, 4, 8) / 8)
        self.made = nn.Linear(4 * 8, 4)

    def attend(self, h: Tensor, edges: Tensor, layer: int) -> Tensor:
        h = h.unflatten(-1, (4, 8))
        source, target = edges
        score = (h * self.source[layer]).sum(-1)[source] + (h * self.target[layer]).sum(-1)[target]
        score = F.leaky_relu(score, 0.2)
        where = target[:, None].expand_as(score)
        most = torch.full((len(h), 4), -1e9, device=h.device).scatter_reduce(0, where, score.detach(), "amax")
        weight = (score - most[target]).exp()
        total = torch.zeros(len(h), 4, device=h.device).index_add(0, target, weight)
        share = weight / (total[target] + 1e-9)
        return torch.zeros_like(h).index_add(0, target, h[source] * share[..., None]).flatten(1)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        h = F.elu(self.attend(self.first(x), edges, 0))
        return self.made(self.attend(self.second(h), edges, 1)).log_softmax(-1)


class DiTBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH, elementwise_affine=False)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU("tanh"), nn.Linear(4 * WIDTH, WIDTH))
        self.modulate = nn.Linear(WIDTH, 6 * WIDTH)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        a, b, c, d, e, f = self.modulate(F.silu(time))[:, None].chunk(6, -1)
        h = self.norm(x) * (1 + a) + b
        q, k, v = (part.view(BATCH, -1, 4, 8).transpose(1, 2) for part in self.qkv(h).chunk(3, -1))
        x = x + c * self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + f * self.mlp(self.norm(x) * (1 + d) + e)


class DiT(nn.Module):
    """A diffusion transformer: patches of an image, and the time that modulates each norm."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(4, WIDTH, 2, stride=2)
        self.places = nn.Parameter(torch.randn(1, 64, WIDTH) / 8)
        self.time = nn.Sequential(nn.Linear(16, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.blocks = nn.ModuleList(DiTBlock() for _ in range(2))
        self.made = nn.Linear(WIDTH, 16)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        rates = torch.exp(-torch.arange(8, device=x.device) / 2)
        angles = step[:, None] * rates
        time = self.time(torch.cat((angles.cos(), angles.sin()), -1))
        h = self.patches(x).flatten(2).transpose(1, 2) + self.places
        for block in self.blocks:
            h = block(h, time)
        return F.pixel_shuffle(self.made(h).transpose(1, 2).reshape(BATCH, 16, 8, 8), 2)


class Block(nn.Module):
    def __init__(self, given: int, made: int, stride: int = 1) -> None:
        super().__init__()
        self.first = nn.Conv2d(given, made, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(made, made, 3, 1, 1, bias=False)
        self.side = nn.Conv2d(given, made, 1, stride, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(made) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        h = self.norms[1](self.second(F.relu(self.norms[0](self.first(x)))))
        return F.relu(h + self.norms[2](self.side(x)))


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        first = [nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        self.layers = nn.Sequential(*first, Block(16, 16), Block(16, 32, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.made = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.made(self.layers(x))


class UNet(nn.Module):
    """Down and up, with a depthwise and a dilated convolution, a norm of groups and a transposed convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.given, self.deep = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.shrink, self.wide = nn.Conv2d(16, 32, 3, 2, 1), nn.Conv2d(32, 32, 3, padding=2, dilation=2)
        self.norm, self.grow = nn.GroupNorm(4, 32), nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.up, self.last = nn.Conv2d(32, 16, 3, padding=1), nn.Conv2d(16, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = F.silu(self.deep(self.given(x)))
        low = F.silu(self.norm(self.wide(self.shrink(kept))))
        return self.last(F.silu(self.up(torch.cat((self.grow(low), kept), 1))))


def inputs(name: str) -> dict[str, Tensor]:
    if name == "dlrm":
        return {"numbers": torch.randn(8, 13), "words": torch.randint(0, 50, (3, 8, 4))}
    if name == "gat":
        return {"x": torch.randn(12, 8), "edges": torch.randint(0, 12, (2, 40))}
    if name == "dit":
        return {"x": torch.randn(BATCH, 4, 16, 16), "step": torch.arange(1.0, BATCH + 1)}
    if name == "hubert":
        return {"input_values": torch.randn(BATCH, 400)}
    if name in LAST:
        return {"x": torch.randn(BATCH, 3, PIXELS, PIXELS).to(memory_format=torch.channels_last)}
    words = torch.randint(3, WORDS, (BATCH, LENGTH))
    return {"input_ids": words, "labels": words}


MODELS = {
    "gemma3": gemma3,
    "t5gemma": t5gemma,
    "qwen3_moe": qwen3_moe,
    "falcon": falcon,
    "xlnet": xlnet,
    "hubert": hubert,
    "dlrm": DLRM,
    "gat": GAT,
    "dit": DiT,
    "resnet_last": ResNet,
    "unet_last": UNet,
}
LAST = ("resnet_last", "unet_last")


def main() -> None:
    name, kind = sys.argv[1:]
    torch.manual_seed(0)
    model, given = MODELS[name](), inputs(name)
    if name in LAST:
        model = model.to(memory_format=torch.channels_last)
    device = next(model.parameters()).device.type
    low = torch.autocast(device, torch.bfloat16) if name in LAST else contextlib.nullcontext()
    compiled = torch.compile(model.train(kind == "training"))
    with torch.set_grad_enabled(kind == "training"), low:
        found = compiled(**given)
    made = getattr(found, "loss", None)
    if made is None or kind == "inference":
        result = found if isinstance(found, Tensor) else found[0] if name == "hubert" else found.logits
        loss = result.float().square().mean()
    else:
        loss = made
    if kind == "training":
        loss.backward()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        loss = sum(gradient.float().square().sum() for gradient in gradients)
    print(float(loss) > 0)


if __name__ == "__main__":
    main()
