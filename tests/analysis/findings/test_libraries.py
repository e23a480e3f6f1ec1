"""What a library does: the modules that run its lines are named, and advice is about the user's call of it."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.line_costs import line_costs
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, Location
from inspect_compile.graph import Graphs
from inspect_compile.tables.text import lines_text, place_text
from tests.conftest import run_once
from tests.running import inspected

OPERATORS = """
import torch
def linear(x, weight):
    return torch.nn.functional.linear(x, weight)
def noisy(x):
    x = x * 2
    print(end="")
    return x + 1
"""
MODEL = """
import torch
from oplib import operators
class Projection(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(8))
    def forward(self, x):
        return operators.linear(x, self.weight)
class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = Projection(), Projection()
    def forward(self, x):
        return self.down(self.up(x).relu())
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
PROGRAM = """
import torch
from oplib import model, operators
with torch.no_grad():
    torch.compile(model.Model())(torch.ones(4, 8))
torch.compile(lambda x: operators.noisy(x) * 3, backend="eager")(torch.ones(3))
"""


@pytest.fixture(scope="module")
def dump(shared_folder: Path) -> Dump:
    folder = shared_folder / "libraries"

    def run(folder: Path):  # type: ignore[no-untyped-def]
        package = folder / "site-packages" / "oplib"
        package.mkdir(parents=True)
        for name, text in (("__init__", ""), ("operators", OPERATORS), ("model", MODEL)):
            (package / f"{name}.py").write_text(text)
        (folder / "script.py").write_text(PROGRAM)
        return inspected(["script.py"], folder, environment={"PYTHONPATH": str(package.parent)})

    done = run_once(folder, run)
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


def test_a_librarys_line_is_told_with_the_module_that_ran_it(dump: Dump) -> None:
    products = [place for row in dump.rows(Kernel) if row.name == "extern_kernels.mm" for place in row.lines]

    assert [where.module for where in products] == ["layers.0.up", "layers.0.down", "layers.1.up", "layers.1.down"]
    assert lines_text(products) == "script.py:5 ← layers.*.up · operators.py:4  layers.*.down · operators.py:4"


def test_a_row_of_a_librarys_lines_names_the_modules_of_all_its_calls(dump: Dump) -> None:
    rows = [row for row in line_costs(Graphs(dump)) if row.is_inner]

    assert {one.module for one in rows[0].lines} == {"layers.0.up", "layers.0.down", "layers.1.up", "layers.1.down"}


def test_without_a_line_of_the_users_the_module_leads() -> None:
    line = Location("/venv/lib/python3.11/site-packages/vllm/_custom_ops.py", 3318, module="layers.0.qkv_proj")

    assert place_text(line) == "layers.0.qkv_proj · _custom_ops.py:3318"


def test_advice_on_a_break_in_a_library_is_about_the_call_of_it(dump: Dump) -> None:
    (row,) = [row for row in findings(Graphs(dump)) if row.kind == "graph-break"]

    assert "the line is in oplib, which script.py:6 calls" in row.instead
    assert row.to_do.startswith("If you are attempting to call a logging function")
    assert "Avoid" not in row.to_do
