# after pytorch#192905: a nested region is used again for a layer that takes the other branch
import torch


class Layer:
    def __init__(self, flag):
        self.flag = flag


@torch.compiler.nested_compile_region
def inner(layer, x):
    return x.sin() if layer.flag else x.cos()


@torch.compiler.nested_compile_region
def outer(layer, x):
    return inner(layer, x) + 1.0


layers = [Layer(True), Layer(False), Layer(True)]


def step(x):
    return sum(outer(layer, x) for layer in layers)


def inputs():
    torch.manual_seed(0)
    return (torch.randn(8),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
