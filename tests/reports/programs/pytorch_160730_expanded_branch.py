# after pytorch#160730: a branch on the mean of an expanded tensor, in half precision
import torch

torch._dynamo.config.capture_scalar_outputs = True


def step(x):
    wide = torch.tan(x).expand(7, 5, 1)
    return torch.sin(wide * 0.5 if wide.mean().item() > 0.5 else wide * 1.5)


def inputs():
    torch.manual_seed(0)
    return ((torch.rand(7, 5, 1) * 1.2).half(),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
