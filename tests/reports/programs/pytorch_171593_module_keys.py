# after pytorch#171593: ten instances of one class reach the recompile limit: the last ones run eagerly
import torch


class Head(torch.nn.Module):
    def __init__(self, key):
        super().__init__()
        self.key = key

    def forward(self, batch):
        return batch[self.key] * 2


heads = [torch.compile(Head(f"feature_{at}")) for at in range(10)]
batch = {f"feature_{at}": torch.ones(4) for at in range(10)}
for head in heads:
    head(batch)
