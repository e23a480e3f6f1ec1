"""GPT-2 with random weights: `gpt2.py LAYERS DEVICE`."""

import sys

import torch
from measured import measure
from transformers import GPT2Config, GPT2Model

layers, device = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(0)
config = GPT2Config(
    n_layer=layers, n_embd=64, n_head=4, vocab_size=256, n_positions=64, bos_token_id=0, eos_token_id=0, use_cache=False
)
measure(GPT2Model(config).eval().to(device), torch.randint(0, 256, (2, 32), device=device))
