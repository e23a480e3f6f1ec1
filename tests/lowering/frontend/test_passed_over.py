"""Where torch walks the stack for the line of a condition on sizes, it finds the program's and none of a hook's."""

from pathlib import Path

from tests.running import inspected, plain

PROGRAM = """
import torch

class Conditional(torch.nn.Module):
    def forward(self, x, y):
        n = x.item()
        return y * n if n > 2 else y[: n + 1]

for failure in torch.export.draft_export(Conditional(), (torch.tensor(5), torch.ones(8)))._report.failures:
    print(failure.failure_type, [frame["loc"] for frame in failure.data["stack"]], failure.data["frame_locals"])
"""


def test_the_line_is_the_programs(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    alone, watched = plain([script], tmp_path), inspected([script], tmp_path)

    assert "return y * n if n > 2 else y[: n + 1]" in alone.stdout
    assert (watched.returncode, watched.stdout) == (0, alone.stdout)
