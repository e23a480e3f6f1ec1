# after pytorch#146213: a while_loop whose body never runs returns its argument, which is changed afterwards
import torch
from torch._higher_order_ops import while_loop


def step(count, a):
    seen = torch.sin(a.view(-1, 1))

    def condition(count, seen):
        return seen.sum().clip(0, 1) < 0

    def body(count, seen):
        return count - 1, seen + 1

    _, out = while_loop(condition, body, (count, seen))
    return out.sin_(), seen.cos_()


def inputs():
    torch.manual_seed(0)
    return torch.tensor(0), torch.randn(2, 2)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
