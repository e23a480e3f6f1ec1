"""Loops of whole models as people write them, for `tune`: `model_loops.py NAME cpu|cuda [STEPS]`.

Models of the transformers package with random weights, of a size that one GPU trains in tens of milliseconds (small
ones on a CPU), with torch's defaults; some in bfloat16 by autocast, as most are trained. Prints the median of a step.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from torch import Tensor, nn

NAME, DEVICE = sys.argv[1], sys.argv[2]
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
IS_LARGE = DEVICE == "cuda"
WORDS, WIDTH, LAYERS = (8000, 512, 6) if IS_LARGE else (200, 64, 2)
BATCH, LENGTH, PIXELS = (8, 256, 224) if IS_LARGE else (2, 32, 32)
SIZE = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 8, "intermediate_size": 4 * WIDTH}


def words(batch: int = BATCH, length: int = LENGTH) -> Tensor:
    return torch.randint(3, WORDS, (batch, length), device=DEVICE)


def images(batch: int = BATCH) -> Tensor:
    return torch.randn(batch, 3, PIXELS, PIXELS, device=DEVICE)


def trained(model: nn.Module, in_bfloat16: bool = False, **inputs: Tensor) -> Callable[[], object]:
    """A step of training."""
    model = model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    compiled = torch.compile(model)

    def step() -> None:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=in_bfloat16):
            loss = compiled(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def inferred(model: nn.Module, **inputs: Tensor) -> Callable[[], object]:
    """A call without gradients."""
    model = torch.compile(model.to(DEVICE).eval())

    def step() -> None:
        with torch.no_grad():
            model(**inputs)

    return step


def gpt2() -> nn.Module:
    config = transformers.GPT2Config(
        vocab_size=WORDS, n_positions=LENGTH, n_embd=WIDTH, n_layer=LAYERS, n_head=8, resid_pdrop=0, embd_pdrop=0,
        attn_pdrop=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config)


def llama() -> nn.Module:
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=WORDS, num_key_value_heads=4, bos_token_id=1, eos_token_id=2, **SIZE)
    )


def qwen3_moe() -> nn.Module:
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": WIDTH}
    size = {**SIZE, "num_hidden_layers": 2, "num_key_value_heads": 4, "head_dim": WIDTH // 8}
    config = transformers.Qwen3MoeConfig(vocab_size=WORDS, bos_token_id=1, eos_token_id=2, **size, **experts)
    return transformers.Qwen3MoeForCausalLM(config)


def bert() -> nn.Module:
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=WORDS, **SIZE, **still))


def t5() -> nn.Module:
    config = transformers.T5Config(
        vocab_size=WORDS, d_model=WIDTH, d_kv=WIDTH // 8, d_ff=4 * WIDTH, num_layers=LAYERS // 2, num_heads=8,
        dropout_rate=0.0, decoder_start_token_id=0,
    )  # fmt: skip
    return transformers.T5ForConditionalGeneration(config)


def vit() -> nn.Module:
    return transformers.ViTForImageClassification(
        transformers.ViTConfig(image_size=PIXELS, patch_size=16 if IS_LARGE else 8, num_labels=10, **SIZE)
    )


def convnext() -> nn.Module:
    sizes = [96, 192, 384] if IS_LARGE else [8, 16, 32]
    return transformers.ConvNextForImageClassification(
        transformers.ConvNextConfig(hidden_sizes=sizes, depths=[2, 2, 2], num_stages=3, num_labels=10)
    )


def swin() -> nn.Module:
    config = transformers.SwinConfig(
        image_size=PIXELS, patch_size=4, embed_dim=96 if IS_LARGE else 16, depths=[2, 2], num_heads=[2, 4],
        window_size=7 if IS_LARGE else 4, num_labels=10, drop_path_rate=0.0,
    )  # fmt: skip
    return transformers.SwinForImageClassification(config)


def resnet() -> nn.Module:
    widths = [64, 128, 256, 512] if IS_LARGE else [8, 16, 32, 64]
    return transformers.ResNetForImageClassification(
        transformers.ResNetConfig(
            embedding_size=widths[0], hidden_sizes=widths, depths=[2, 2, 2, 2], layer_type="basic", num_labels=10
        )
    )


def labels() -> Tensor:
    return torch.randint(0, 10, (BATCH,), device=DEVICE)


PROGRAMS: dict[str, Callable[[], Callable[[], object]]] = {
    "gpt2_training": lambda: trained(gpt2(), input_ids=(x := words()), labels=x),
    "gpt2_bfloat16": lambda: trained(gpt2(), True, input_ids=(x := words()), labels=x),
    "llama_training": lambda: trained(llama(), True, input_ids=(x := words()), labels=x),
    "llama_inference": lambda: inferred(llama(), input_ids=words(1), use_cache=False),
    "qwen3_moe_inference": lambda: inferred(qwen3_moe(), input_ids=words(1), use_cache=False),
    "bert_training": lambda: trained(bert(), input_ids=(x := words()), labels=x),
    "bert_inference": lambda: inferred(bert(), input_ids=words(1, 32)),
    "t5_training": lambda: trained(t5(), input_ids=words(), labels=words()),
    "vit_training": lambda: trained(vit(), True, pixel_values=images(), labels=labels()),
    "vit_inference": lambda: inferred(vit(), pixel_values=images(1)),
    "convnext_training": lambda: trained(convnext(), pixel_values=images(), labels=labels()),
    "swin_training": lambda: trained(swin(), pixel_values=images(), labels=labels()),
    "resnet_training": lambda: trained(resnet(), pixel_values=images(4 * BATCH), labels=labels().repeat(4)),
    "resnet_inference": lambda: inferred(resnet(), pixel_values=images(1)),
}


def finished() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


torch.manual_seed(0)
step = PROGRAMS[NAME]()
times = []
for number in range(STEPS):
    if number % 20 == 0:
        finished()
        began = time.perf_counter()
    step()
    if number % 20 == 19:
        finished()
        times.append((time.perf_counter() - began) / 20)
print(f"{NAME}: {1e6 * statistics.median(times[len(times) // 4 :]):.1f} us a step")
