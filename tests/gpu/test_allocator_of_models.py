"""On a machine with a CUDA device: the memory of many models' graphs, and what the caching allocator was asked for.

`pytest -s -n0 -m harmless tests/gpu/test_allocator_of_models.py` prints a line for each graph: what is told of its peak
and its end, the same for what the run let go of, what was really held, the ratio, and the peak with what operators took
and freed.
"""

import json
import os
import subprocess
import sys
from operator import itemgetter
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.memory.uncounted import uncounted
from inspect_compile.dump import open_dump, paths
from inspect_compile.graph import CompiledGraph
from tests.graph.memory.test_plan import HELD, told
from tests.harmless.test_models import KINDS, MODELS, program

pytestmark = [
    pytest.mark.harmless,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

NEAR = 0.01
ENLARGED = Path(__file__).parent / "programs" / "enlarged.py"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_peak_and_end_are_what_the_allocator_was_asked_for(model: str, kind: str, tmp_path: Path) -> None:
    """Without what an operator takes and frees before it returns; what cuBLAS keeps was there before."""
    dump, found = tmp_path / "dump", tmp_path / "held.json"
    command = [sys.executable, str(HELD), str(dump), str(found), str(ENLARGED), program(model), model, kind]
    subprocess.run(command, check=True, timeout=600, env=dict(os.environ))
    held = {row["code"]: row["calls"] for row in json.loads(found.read_text())["graphs"]}
    recorded = open_dump(dump)
    far: list[str] = []
    seen = 0
    for graph in recorded.outermost():
        calls = held.get(recorded.text(graph.graph, f"{paths.OUTPUT_CODE}.py") or "")
        if not calls:
            continue
        seen += 1
        call = max(calls, key=itemgetter("peak"))
        compiled = CompiledGraph(recorded, graph.graph)
        said = compiled.memory
        peak, end = told(recorded, graph.graph, call)
        line = (
            f"{model} {kind} {graph.graph}: told {said.peak:,} B, for what was let go {peak:,} B, "
            f"held {call['peak']:,} B, ratio {peak / max(call['peak'], 1):.4f}; "
            f"end {said.end:,}, {end:,}, {call['end']:,} B; "
            f"with what operators take {call['seen']:,} B; in blocks {uncounted(compiled).in_blocks}"
        )
        sys.stdout.write(f"{line}\n")
        scale = NEAR * max(call["peak"], abs(call["end"]))
        if abs(peak - call["peak"]) > NEAR * call["peak"] or abs(end - call["end"]) > scale:
            far.append(line)
    assert seen
    assert far == []
