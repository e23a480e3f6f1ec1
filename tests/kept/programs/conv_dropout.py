"""Training steps of a small convolutional network with batch norm, pooling and dropout."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Dropout(0.3),
    nn.Flatten(),
    nn.Linear(8 * 8 * 8, 5),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


@torch.compile
def loss_of(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(net(images), labels)


for _ in range(2):
    loss = loss_of(torch.randn(4, 3, 16, 16), torch.tensor([0, 1, 2, 3]))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(f"{net[1].running_mean.norm().item():.4f}")
