# after pytorch#198031: the clone that keeps a custom op from reading what it writes is removed
import torch


@torch.library.custom_op("report198031::rotate_into", mutates_args=("dst",))
def rotate_into(src: torch.Tensor, dst: torch.Tensor) -> None:
    for at in range(src.shape[0]):
        dst[(at + 1) % src.shape[0]] = src[at]


def step(x):
    before = x.clone()
    rotate_into(before, x)
    return x * 2.0


def inputs():
    return (torch.arange(8.0),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
