"""A model of `transformers` with random weights, forward and backward: `model.py gpt2|bert|llama`."""

import sys

import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, LlamaConfig, LlamaModel

SMALL = {"vocab_size": 256, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
WIDTH = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
MODELS = {
    "gpt2": lambda: GPT2Model(GPT2Config(n_layer=2, n_embd=64, n_head=4, n_positions=64, **SMALL, use_cache=False)),
    "bert": lambda: BertModel(BertConfig(**WIDTH, **SMALL)),
    "llama": lambda: LlamaModel(LlamaConfig(**WIDTH, num_key_value_heads=2, **SMALL, use_cache=False)),
}

torch.manual_seed(0)
model = MODELS[sys.argv[1]]()
tokens = torch.randint(0, 256, (2, 32))
with torch.no_grad():
    torch.compile(model.eval())(tokens)
torch.compile(model.train())(tokens).last_hidden_state.square().sum().backward()
