"""Reads standard input before, between and after compiles, to its end."""

import sys

import torch

compiled = torch.compile(lambda x: x * 2 + 1)
print("first", input())
for line in sys.stdin:
    print("got", compiled(torch.full((2,), float(line))).tolist())
print("rest", repr(sys.stdin.read()))
