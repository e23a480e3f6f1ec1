"""A function that is compiled before it is called, written, read and called: `ahead_function.py FILE`."""

import sys

import torch

FILE = sys.argv[1]
torch._dynamo.config.enable_aot_compile = True  # torch 2.11 asks for it


def doubled(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).sin().sum(-1)


def main() -> None:
    x = torch.ones(4, 8)
    torch.compile(doubled, fullgraph=True).aot_compile(((x,), {})).save_compiled_function(FILE)
    with open(FILE, "rb") as file:
        read = torch.compiler.load_compiled_function(file)
    print(read(x).sum().item())


main()
