"""Compiles a few graphs, and holds each text of ours against the one that torch makes of the same object."""

import json
import sys
from collections import Counter
from typing import Any

import torch
from torch._inductor import config, ir
from torch._inductor.graph import GraphLowering
from torch._inductor.loop_body import LoopBodyBlock
from torch._inductor.scheduler import Scheduler

from inspect_compile.lowering.ir.body_text import quick_body
from inspect_compile.lowering.ir.ir_printer import Printer
from inspect_compile.lowering.schedule.schedule_text import Rendered, schedule_text

config.fx_graph_cache = False
ir.IRNode.get_stack_traces = lambda self: ()  # type: ignore[method-assign, assignment, return-value]
seen: Counter[str] = Counter()
printer, rendered = Printer(), Rendered()


def same(what: str, ours: str | None, theirs: str) -> None:
    """Count a text that is torch's, show one that is not."""
    seen[what] += 1
    if ours != theirs:
        seen[f"other {what}"] += 1
        print(f"{what}: ours\n{ours}\nand torch's\n{theirs}", file=sys.stderr)


def values_in(value: Any) -> list[Any]:
    """The value, and what is below its views and boxes, the innermost last."""
    found = []
    while value is not None and len(found) < 20:
        found.append(value)
        value = getattr(value, "data", None)
    return found


run_node, schedule = GraphLowering.run_node, Scheduler._init


def watched_node(self: Any, node: Any) -> Any:
    """torch's own, and then the texts of what came out."""
    result = run_node(self, node)
    for one in result if isinstance(result, (tuple, list)) else (result,):
        below = values_in(one)
        if below and isinstance(below[-1], ir.Loops):
            same("loops", printer.loops.text(below[-1]), below[-1].inner_fn_str())
        if below and not any(isinstance(inner, ir.OperationBuffer) for inner in below):
            same("value", printer.text(one), str(one))
    return result


def watched_schedule(self: Any, *arguments: Any) -> None:
    """torch's own, and then the texts of the scheduler's nodes."""
    schedule(self, *arguments)
    same("schedule", schedule_text(self.nodes, rendered), "".join(f"{node.debug_str()}\n\n\n" for node in self.nodes))
    for node in self.nodes:
        for member in node.get_nodes():
            for block in values_in(getattr(member, "_body", None))[:1]:
                root: LoopBodyBlock = block.root_block
                if (quick := quick_body(root.graph, "body")) is not None:
                    same("body", quick, root.debug_str("body"))


GraphLowering.run_node, Scheduler._init = watched_node, watched_schedule  # type: ignore[method-assign]


class Net(torch.nn.Module):
    """Chains, broadcasts, views of values that are virtual, indices out of memory, reductions, a concatenation."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(64, 32)
        self.norm, self.up, self.down = torch.nn.LayerNorm(32), torch.nn.Linear(32, 64), torch.nn.Linear(64, 32)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens in, a distribution out."""
        x = self.table(tokens) + self.table.weight[: tokens.shape[1]]
        x = x + self.down(torch.nn.functional.gelu(self.up(self.norm(x)), approximate="tanh"))
        x = torch.cat([x, x.flip(-1) * 2], -1)
        x = torch.where(x > x.mean(-1, keepdim=True), x.transpose(0, 1).transpose(0, 1), -x)
        return torch.softmax(x.reshape(-1, 64).float().clamp(-3, 3), -1)


torch.manual_seed(0)
net = Net()
torch.compile(net)(torch.randint(0, 64, (4, 16))).square().sum().backward()
torch._dynamo.reset()
torch.compile(lambda x, y: (x.cumsum(0).sin() / y + 1).sum(1), dynamic=True)(torch.randn(8, 6), torch.randn(8, 6))
print(json.dumps(seen | {f"quick {kind.__name__}": is_same for kind, is_same in rendered.is_same.items()}))
