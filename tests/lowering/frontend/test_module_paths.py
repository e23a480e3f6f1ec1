"""Which module of a model a frame belongs to, also where its code is a library's."""

import json
import os
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame
from tests.running import inspected

LIBRARY = """
import torch

def scaled(x):
    return x * 2

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.mlp(x)
        torch._dynamo.graph_break()
        return x + 1

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Block() for _ in range(3))
        self.scaled = torch.compile(scaled, backend="eager")

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.scaled(x)

def compiled():
    model = Model()
    model.layers[0].compile(backend="eager")
    model.layers[1] = torch.compile(model.layers[1], backend="eager")
    return model
"""
PROGRAM = """
import torch, library
model = library.compiled()
model(torch.ones(2, 4))
whole = torch.compile(library.Model(), backend="eager")
whole(torch.ones(3, 4))
"""


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    library = folder / "site-packages" / "library"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text(LIBRARY)
    (folder / "serve.py").write_text(PROGRAM)
    path = os.pathsep.join(filter(None, (str(library.parent), os.environ.get("PYTHONPATH"))))
    result = inspected(["serve.py"], folder, options=["--level", "facts"], environment={"PYTHONPATH": path})
    assert result.returncode == 0, result.stderr
    return folder / "dump"


def test_a_frame_has_the_path_of_its_module(dump: Path) -> None:
    found = {(row.function.rpartition(".")[2], row.module) for row in Dump(dump).rows(Frame)}
    names = {function for function, _ in found}
    rest = next(name for name in names if name.startswith("torch_dynamo_resume_in_forward"))
    assert {("forward", "layers.0"), ("forward", "layers.1"), (rest, "layers.0")} <= found
    assert ("scaled", "") in found  # the outermost module calls it
    assert ("forward", "") in found  # the whole model


@pytest.mark.parametrize("table", ["compiles", "dynamo"])
def test_rows_begin_with_the_module(dump: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", str(dump), table])
    shown = capsys.readouterr().out
    assert "layers.0 · " in shown or "layers.* · " in shown
    if table == "compiles":
        assert shown.index("serve.py:4") < shown.index("layers.0 · Block.forward")


def test_the_time_of_a_compile_has_module_and_own_line(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", str(dump), "time", "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    compiles = {(row["module"], row["place"], row["about"]) for row in rows if row.get("kind") == "compile"}
    assert ("layers.0", "serve.py:4", "Block.forward") in compiles
    (block,) = (row for row in rows if row["fact"] == "region" and row["function"] == "Block.forward")
    assert (block["module"], block["led_by"]) == ("layers.*", "serve.py:4")
