"""No reference of ours outlives a hook: what the program deletes is gone."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import gc, weakref
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 4)
    def forward(self, x):
        return torch.softmax(self.down(torch.relu(self.up(x))), -1)

net = Net()
compiled = torch.compile(net)
x = torch.randn(2, 8)
compiled(x).sum().backward()
alive = [weakref.ref(p) for p in net.parameters()] + [weakref.ref(x), weakref.ref(net)]
del net, compiled, x
torch._dynamo.reset()
gc.collect()
print([ref() is None for ref in alive])
"""


def test_parameters_die_with_the_model(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    watched = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    ours = subprocess.run([*watched, script], capture_output=True, text=True, check=True, timeout=300)

    assert ours.stdout == f"{[True] * 6}\n"
