"""Where torch walks the stack for the line of a condition on sizes, it finds the program's and none of a hook's; the
stacks that it logs are those of a run alone.
"""

import json
from pathlib import Path
from typing import Any

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


COMPILES = """
import torch
from torch.utils._traceback import CapturedTraceback

def at(*_):
    print("".join(CapturedTraceback.extract().format()))
    print(*CapturedTraceback.format_all([CapturedTraceback.extract(skip=2)])[0])

def backend(graph, inputs):
    at()
    return graph

@torch.compile(dynamic=True, backend=backend)
def f(x, y):
    z = torch.relu(x) @ y if x.size(0) > 3 else x
    torch._dynamo.graph_break()
    return z.sum() * x.size(0)

f(torch.ones(8, 8), torch.ones(8, 8))
f(torch.ones(2, 2), torch.ones(2, 2))
"""


def logged_stacks(log: Path) -> list[tuple[str, Any]]:
    """(entry, stack) of a log of torch's, in which names of files are numbers."""
    files: dict[int, str] = {}
    found: list[tuple[str, Any]] = []

    def look(where: str, value: Any) -> None:
        match value:
            case [{"filename": _, "line": _, "name": _}, *_]:
                found.append((where, [(files[one["filename"]], one["line"], one["name"]) for one in value]))
            case dict():
                for key, item in value.items():
                    look(f"{where}.{key}", item)

    for line in log.read_text().splitlines():
        if line.startswith("V") and "{" in line:
            entry = json.loads(line[line.index("{") :])
            if "str" in entry:
                files[entry["str"][1]] = entry["str"][0]
            look("", entry)
    return found


def test_logged_stacks_are_those_of_a_run_alone(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(COMPILES)

    alone = plain([script], tmp_path, environment={"TORCH_TRACE": str(tmp_path / "alone")})
    watched = inspected([script], tmp_path, environment={"TORCH_TRACE": str(tmp_path / "watched")})

    assert (watched.returncode, watched.stdout) == (0, alone.stdout)
    stacks, same = (
        logged_stacks(next((tmp_path / folder).glob("dedicated_log_torch_trace_*.log")))
        for folder in ("alone", "watched")
    )
    assert len({where for where, _ in stacks}) > 3
    assert same == stacks
