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


def mamba2() -> PreTrainedModel:
    return transformers.Mamba2ForCausalLM(
        transformers.Mamba2Config(
            vocab_size=WORDS,
            hidden_size=32,
            state_size=16,
            num_hidden_layers=2,
            num_heads=4,
            head_dim=16,
            n_groups=2,
            chunk_size=8,
            **NO_SPECIAL,
        )
    )


def whisper() -> PreTrainedModel:
    return transformers.WhisperForConditionalGeneration(
        transformers.WhisperConfig(
            vocab_size=WORDS,
            num_mel_bins=8,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            max_source_positions=LENGTH,
            max_target_positions=LENGTH,
            pad_token_id=0,
            decoder_start_token_id=1,
            **NO_SPECIAL,
        )
    )


def swin() -> PreTrainedModel:
    return transformers.SwinForImageClassification(
        transformers.SwinConfig(
            image_size=PIXELS, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4
        )
    )


def segformer() -> PreTrainedModel:
    return transformers.SegformerForSemanticSegmentation(
        transformers.SegformerConfig(
            num_encoder_blocks=2,
            depths=[1, 1],
            sr_ratios=[2, 1],
            hidden_sizes=[16, 32],
            patch_sizes=[7, 3],
            strides=[4, 2],
            num_attention_heads=[1, 2],
            mlp_ratios=[2, 2],
            decoder_hidden_size=16,
        )
    )


def detr() -> PreTrainedModel:
    return transformers.DetrForObjectDetection(
        transformers.DetrConfig(
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            backbone_config=transformers.ResNetConfig(
                embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", out_features=["stage2"]
            ),
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            num_queries=5,
        )
    )


def rwkv() -> PreTrainedModel:
    return transformers.RwkvForCausalLM(
        transformers.RwkvConfig(
            vocab_size=WORDS, context_length=LENGTH, hidden_size=32, num_hidden_layers=2, **NO_SPECIAL
        )
    )


def deberta() -> PreTrainedModel:
    return transformers.DebertaV2ForMaskedLM(
        transformers.DebertaV2Config(
            vocab_size=WORDS,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            position_buckets=8,
        )
    )


NO_SPECIAL = {"bos_token_id": 1, "eos_token_id": 2}
OF_IMAGES = {"vit", "convnext", "swin"}
MODELS = {
    made.__name__: made
    for made in (
        gpt2,
        bert,
        llama,
        mixtral,
        t5,
        vit,
        convnext,
        mamba2,
        whisper,
        swin,
        segformer,
        detr,
        rwkv,
        deberta,
    )
}

name, kind = sys.argv[1:]
torch.manual_seed(0)
model = MODELS[name]()
words = torch.randint(3, WORDS, (BATCH, LENGTH))
if name in OF_IMAGES:
    given = {"pixel_values": torch.randn(BATCH, 3, PIXELS, PIXELS), "labels": torch.arange(BATCH) % 2}
elif name == "segformer":
    labels = torch.randint(0, 2, (BATCH, PIXELS, PIXELS))
    given = {"pixel_values": torch.randn(BATCH, 3, PIXELS, PIXELS), "labels": labels}
elif name == "detr":  # matching boxes to labels asks for scipy
    given = {"pixel_values": torch.randn(BATCH, 3, PIXELS, PIXELS)}
elif name == "whisper":
    given = {"input_features": torch.randn(BATCH, 8, 2 * LENGTH), "labels": words}
else:
    given = {"input_ids": words, "labels": words}

if kind == "inference":
    model.eval()
    with torch.no_grad():
        print(torch.compile(model)(**given).logits.square().mean())
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = torch.compile(model.train())
    found = compiled(**given)
    loss = found.logits.square().mean() if found.loss is None else found.loss
    if hasattr(found, "pred_boxes"):  # a head without a gradient runs backward with zeros compiled, and not at all eager
        loss = loss + found.pred_boxes.square().mean()
    loss.backward()
    optimizer.step()
    print(sum(parameter.square().sum() for parameter in model.parameters()))
