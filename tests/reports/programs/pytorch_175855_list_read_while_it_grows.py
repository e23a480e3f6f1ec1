# after pytorch#175855: a list grows while it is read
import torch


def step(x):
    values = [x.sum()]
    total = torch.zeros(())
    for one in values:
        if len(values) < 3:
            values.append(one + 1)
        total = total + one
    return total


def inputs():
    return (torch.ones(1),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
