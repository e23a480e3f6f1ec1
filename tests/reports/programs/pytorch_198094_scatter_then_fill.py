# after pytorch#198094: a scatter of an input is returned, and the input is filled afterwards
import torch


def step(buffer, row):
    changed = torch.select_scatter(buffer, row, 0, 1)
    buffer.fill_(7.0)
    return changed


def inputs():
    torch.manual_seed(0)
    return torch.rand(5, 8), torch.rand(8)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
