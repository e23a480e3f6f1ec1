# after pytorch#195327: a while_loop whose condition changes a captured tensor that was changed before
import torch
from torch._higher_order_ops import while_loop


def step(state, limit):
    with torch.inference_mode():
        state.add_(1)

        def condition(i):
            state.add_(1)
            return i < limit

        def body(i):
            return (i + 1,)

        (last,) = while_loop(condition, body, (torch.zeros((), dtype=torch.int64),))
        return state.clone(), last


def inputs():
    return torch.zeros(3), torch.tensor(3)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
