"""One step of training of a mixture of experts, as transformers computes one by default: tokens are counted, sorted by
their experts and multiplied group by group; the graph breaks before and after.
"""

import torch
from torch import Tensor, nn

TOKENS, WIDTH, EXPERTS = 32, 16, 4
grouped_mm = getattr(nn.functional, "grouped_mm", None) or torch._grouped_mm


class Experts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, 2 * WIDTH) / 4)
        self.down = nn.Parameter(torch.randn(EXPERTS, 2 * WIDTH, WIDTH) / 8)

    def forward(self, tokens: Tensor) -> Tensor:
        weight, expert = self.router(tokens).softmax(-1).max(-1)
        torch._dynamo.graph_break()
        order = expert.argsort(stable=True)
        counted = torch.histc(expert.int(), bins=EXPERTS, min=0, max=EXPERTS - 1)
        ends = counted.cumsum(0).to(torch.int32)
        inner = grouped_mm(tokens[order], self.up, offs=ends).relu()
        found = grouped_mm(inner, self.down, offs=ends)
        torch._dynamo.graph_break()
        return torch.zeros_like(tokens).index_add(0, order, found * weight[order, None])


torch.manual_seed(0)
model = Experts().to("cuda", torch.bfloat16)
tokens = torch.randn(TOKENS, WIDTH).to("cuda", torch.bfloat16)
alone = torch.autograd.grad(model(tokens).float().square().mean(), list(model.parameters()))
torch.compile(model)(tokens).float().square().mean().backward()
for name, parameter in model.named_parameters():
    print(name, parameter.grad.dtype)
print(all(torch.equal(one, parameter.grad) for one, parameter in zip(alone, model.parameters(), strict=True)))
