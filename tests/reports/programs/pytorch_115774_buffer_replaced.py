# after pytorch#115774: a buffer is written, and replaced between two calls
import torch


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.tensor([0.0, 0.0])

    def forward(self, x, at):
        self.kept[at] = x
        return self.kept.clone()


def step(cache, x, at):
    return cache(x, at)


def inputs():
    return [(Cache(), torch.tensor([2.0]), torch.tensor([0])), (Cache(), torch.tensor([1.0]), torch.tensor([1]))]


if __name__ == "__main__":
    compiled = torch.compile(step)
    for args in inputs():
        print(compiled(*args))
