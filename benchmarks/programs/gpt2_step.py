"""One step of GPT-2 with random weights on the CPU, forward and backward: `gpt2_step.py LAYERS`."""

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(
    n_layer=int(sys.argv[1]), n_embd=64, n_head=4, vocab_size=256, n_positions=64, bos_token_id=0, eos_token_id=0
)
model = torch.compile(GPT2LMHeadModel(config))
tokens = torch.randint(0, 256, (2, 32))
model(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()
