# after pytorch#97083: a view is changed in place before and after a branch on its value
import torch


def step(x):
    a = x.clone()[0:1]
    b = a.squeeze()
    a[0] = 0
    if a[0] < 1e5:
        a[0] += 1
    a[0] += 2
    return b


def inputs():
    return (torch.tensor([1.0, 2.0]),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
