# after pytorch#120934: a learning rate that is a float, and changes at each step, reaches the recompile limit
import torch

weight = torch.ones(4, requires_grad=True)
weight.grad = torch.ones(4)


class Descent:
    def __init__(self):
        self.groups = [{"lr": 0.1, "params": [weight]}]

    @torch.compile
    def step(self):
        for group in self.groups:
            for one in group["params"]:
                one.data.add_(one.grad, alpha=-group["lr"])


descent = Descent()
for _ in range(12):
    descent.step()
    descent.groups[0]["lr"] *= 0.9
