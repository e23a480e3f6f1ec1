# after pytorch#191821: a nested region reads a global that changes between its calls
import torch


class Holder:
    def __init__(self, hidden):
        self.hidden = hidden


holder = Holder(torch.tensor(0.0))


@torch.compiler.nested_compile_region
def region():
    return holder.hidden + 1


def step(hidden):
    global holder
    for _ in range(2):
        holder = Holder(hidden)
        hidden = region()
    return hidden


def inputs():
    return (torch.tensor(0.0),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
