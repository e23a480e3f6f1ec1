"""A recurrent cell that the program calls in a loop, unrolled by Dynamo; forward and backward."""

import torch

torch.manual_seed(0)
cell = torch.nn.GRUCell(12, 20)
head = torch.nn.Linear(20, 3)


@torch.compile
def unrolled(steps: torch.Tensor) -> torch.Tensor:
    state = steps.new_zeros(steps.shape[1], 20)
    for step in steps:
        state = cell(step, state)
    return head(state)


loss = unrolled(torch.randn(5, 4, 12)).square().mean()
loss.backward()
print(f"{loss.item():.4f} {cell.weight_hh.grad.norm().item():.4f}")
