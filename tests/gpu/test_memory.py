"""On a machine with a CUDA device: the replay of each graph's memory, and what the caching allocator was asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph
from tests.graph.memory.test_plan import HELD

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

NEAR = 0.02


@pytest.mark.parametrize("model", ["gpt2", "bert", "convnet"])
def test_the_peak_is_what_the_allocator_was_asked_for(model: str, tmp_path: Path) -> None:
    """Without what cuBLAS and cuDNN take for themselves while one of their operators runs."""
    dump, found = tmp_path / "dump", tmp_path / "held.json"
    script = Path(__file__).parent / "programs" / "models.py"
    command = [sys.executable, str(HELD), str(dump), str(found), str(script), model]
    subprocess.run(command, check=True, timeout=300, env=dict(os.environ))
    held = {row["code"]: row["calls"][-1] for row in json.loads(found.read_text())["graphs"]}
    graphs = open_dump(dump).outermost()
    assert {graph.kind for graph in graphs} == {"inference", "forward", "backward"}
    told: list[str] = []
    far: list[str] = []
    for graph in graphs:
        code = open_dump(dump).text(graph.graph, "output_code.py")
        ours, real = CompiledGraph(open_dump(dump), graph.graph).memory.peak, held[code or ""]
        told.append(f"{model} {graph.graph}: {ours:,} B, held {real['peak']:,} B, with workspaces {real['seen']:,} B")
        if abs(ours - real["peak"]) > NEAR * real["peak"]:
            far.append(told[-1])
    sys.stdout.write("\n".join([*told, ""]))
    assert far == []
