# after pytorch#197893: what is divided by 1.0 is the input itself, in eager it is a new tensor
import torch


def step(logits, temperature):
    return logits / temperature


def inputs():
    return torch.arange(4.0), 1.0


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        logits, temperature = inputs()
        run(logits, temperature).clamp_(max=1.0)
        print(logits)
