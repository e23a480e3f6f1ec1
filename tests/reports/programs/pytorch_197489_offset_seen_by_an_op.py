# after pytorch#197489: a clone of a slice is removed, and a custom op sees the slice's offset
import torch


@torch.library.custom_op("report197489::offset", mutates_args=())
def offset(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor(x.storage_offset())


@offset.register_fake
def _(x):
    return torch.empty((), dtype=torch.int64)


def step(x):
    return offset(x[2:].clone())


def inputs():
    return (torch.arange(8.0),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
