"""BERT with random weights: `bert.py LAYERS DEVICE`."""

import sys

import torch
from measured import measure
from transformers import BertConfig, BertModel

layers, device = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(0)
config = BertConfig(
    num_hidden_layers=layers, hidden_size=64, intermediate_size=256, num_attention_heads=4, vocab_size=256
)
measure(BertModel(config).eval().to(device), torch.randint(0, 256, (2, 32), device=device))
