"""Nodes that patterns and passes make without a line: of torch's own, and of a pass that copies none, as releases do."""

import sys

import torch
import torch._inductor.config
import torch.nn.functional as F
from torch import nn


def no_line_for_addmm(graph):
    """What torch 2.11 does for mm and add, whatever the release."""
    for add in list(graph.nodes):
        if add.target is torch.ops.aten.add.Tensor and add.args[0].target is torch.ops.aten.mm.default:
            mm, other = add.args
            with graph.inserting_before(add):
                twice = graph.call_function(torch.ops.aten.mul.Tensor, (other, 1.0))
                made = graph.call_function(torch.ops.aten.addmm.default, (twice, *mm.args))
            twice.meta["val"], made.meta["val"] = other.meta["val"], add.meta["val"]
            add.replace_all_uses_with(made)
            graph.erase_node(add)
            graph.erase_node(mm)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(32, 16)
        self.inner = nn.Linear(16, 16, bias=False)

    def forward(self, tokens, target):
        x = self.words(tokens)
        h = self.inner(x)
        y = h + x  # the sum
        turned = y.clone()
        turned[:, :8] = -y[:, 8:]  # a part
        return F.cross_entropy(turned @ self.words.weight.T, target)  # the loss


if sys.argv[1:] == ["custom"]:
    torch._inductor.config.post_grad_custom_pre_pass = no_line_for_addmm
tokens = torch.randint(0, 32, (8,))
torch.compile(Net())(tokens, tokens).backward()
