"""What a CPU has in another form than a GPU: `nothing_lost.py checkpoint|selective|optimizer|norm`, all on "cuda"."""

import sys
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

torch.set_default_device("cuda")


def checkpointed() -> None:
    """Two layers of attention, with dropout, computed again in the backward."""
    layers = [torch.nn.Linear(64, 64) for _ in range(2)]

    def attended(x: torch.Tensor, layer: torch.nn.Module) -> torch.Tensor:
        heads = layer(x).view(2, 16, 4, 16).transpose(1, 2)
        out = F.scaled_dot_product_attention(heads, heads, heads, dropout_p=0.1)
        return x + F.dropout(out.transpose(1, 2).reshape(2, 16, 64), 0.1)

    def model(x: torch.Tensor) -> torch.Tensor:
        for layer in layers:
            x = checkpoint(attended, x, layer, use_reentrant=False)
        return x

    torch.compile(model)(torch.randn(2, 16, 64)).sum().backward()


def selected() -> None:
    """Products are saved, everything else is computed again; without `saved` in the arguments nothing is saved."""
    aten = torch.ops.aten
    saved = {aten.mm.default, aten.addmm.default} if "saved" in sys.argv else set()
    layers = [torch.nn.Linear(64, 64) for _ in range(2)]

    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op in saved else CheckpointPolicy.MUST_RECOMPUTE

    def inner(x: torch.Tensor) -> torch.Tensor:
        return layers[1](layers[0](x).sin()).cos()

    def model(x: torch.Tensor) -> torch.Tensor:
        contexts = partial(create_selective_checkpoint_contexts, policy)
        return checkpoint(inner, x, use_reentrant=False, context_fn=contexts)

    torch.compile(model)(torch.randn(8, 64)).sum().backward()


def optimized() -> None:
    """A step of AdamW, all parameters at once."""
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    step = torch.compile(optimizer.step)
    for _ in range(2):
        model(torch.randn(4, 64)).sum().backward()
        step()


def normed() -> None:
    """A norm that only a GPU has a kernel for, forward and backward."""
    model = torch.nn.Sequential(torch.nn.RMSNorm(256), torch.nn.Linear(256, 256))
    torch.compile(model)(torch.randn(64, 256)).sum().backward()


{"checkpoint": checkpointed, "selective": selected, "optimizer": optimized, "norm": normed}[sys.argv[1]]()
