# after pytorch#153389: a custom op changes two views of one tensor, another one reads slices of them
import torch


@torch.library.custom_op("report153389::bump_both", mutates_args=("a", "b"))
def bump_both(a: torch.Tensor, b: torch.Tensor) -> None:
    a.add_(1)
    b.add_(2)


@torch.library.custom_op("report153389::add_into", mutates_args=("out",))
def add_into(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(a + b + 2)


def step(a, b, out):
    bump_both(a, b)
    add_into(a[0:2], b[0:2], out)
    return out


def inputs():
    torch.manual_seed(0)
    base = torch.randn(2, 3)
    return base[0], base[1], torch.zeros(2)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
