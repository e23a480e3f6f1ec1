# after pytorch#153044: the backward of what was compiled under autocast runs in bfloat16, in eager it does not
import torch


def around():
    return torch.amp.autocast("cpu", dtype=torch.bfloat16)


def step(x, weight):
    with torch.amp.autocast("cpu", enabled=False):
        return (x.float() @ weight.T).square()


def inputs():
    torch.manual_seed(0)
    return torch.randn(4, 64), torch.randn(64, 64, requires_grad=True)


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        x, weight = inputs()
        with around():
            out = run(x, weight)
        out.sum().backward()
        print(weight.grad[0, :4])
