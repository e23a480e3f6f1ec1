"""A small model of the transformers package, with random weights: `inference`, or one step of `training`.

Nothing is downloaded: each model is made from its configuration.
"""

import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers import PreTrainedModel

WORDS, BATCH, LENGTH, PIXELS = 97, 2, 16, 32


def gpt2() -> PreTrainedModel:
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=WORDS, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=2, **NO_SPECIAL)
    )


def bert() -> PreTrainedModel:
    return transformers.BertForMaskedLM(
        transformers.BertConfig(
            vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
        )
    )


def llama() -> PreTrainedModel:
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=WORDS,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            intermediate_size=64,
            **NO_SPECIAL,
        )
    )


def mixtral() -> PreTrainedModel:
    return transformers.MixtralForCausalLM(
        transformers.MixtralConfig(
            vocab_size=WORDS,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            intermediate_size=64,
            num_local_experts=4,
            num_experts_per_tok=2,
            **NO_SPECIAL,
        )
    )


def t5() -> PreTrainedModel:
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=WORDS, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0
        )
    )


def vit() -> PreTrainedModel:
    return transformers.ViTForImageClassification(
        transformers.ViTConfig(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            image_size=PIXELS,
            patch_size=8,
        )
    )


def convnext() -> PreTrainedModel:
    return transformers.ConvNextForImageClassification(
        transformers.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2)
    )


NO_SPECIAL = {"bos_token_id": 1, "eos_token_id": 2}
OF_IMAGES = {"vit", "convnext"}
MODELS = {made.__name__: made for made in (gpt2, bert, llama, mixtral, t5, vit, convnext)}

name, kind = sys.argv[1:]
torch.manual_seed(0)
model = MODELS[name]()
if name in OF_IMAGES:
    given = {"pixel_values": torch.randn(BATCH, 3, PIXELS, PIXELS), "labels": torch.arange(BATCH) % 2}
else:
    words = torch.randint(3, WORDS, (BATCH, LENGTH))
    given = {"input_ids": words, "labels": words}

if kind == "inference":
    model.eval()
    with torch.no_grad():
        print(torch.compile(model)(**given).logits.square().mean())
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = torch.compile(model.train())
    compiled(**given).loss.backward()
    optimizer.step()
    print(sum(parameter.square().sum() for parameter in model.parameters()))
