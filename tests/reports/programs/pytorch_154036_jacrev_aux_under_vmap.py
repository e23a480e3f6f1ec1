# after pytorch#154036: vmap of jacrev with aux
import torch


def step(x):
    def one(x):
        jacobian, _ = torch.func.jacrev(lambda x: (x.sin(), x), has_aux=True)(x)
        return jacobian

    return torch.vmap(one)(x)


def inputs():
    torch.manual_seed(0)
    return (torch.randn(8, dtype=torch.float64),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
