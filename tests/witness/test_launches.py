"""Launches and extern calls are what torch's profiler sees on the CPU, in the same order."""

import json
import re
import sys
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "profiled.py"


def by_profiler(kernel: str) -> str:
    """`extern_kernels.addmm`, `torch.ops.aten.sort.stable`: as the profiler calls them."""
    if found := re.fullmatch(r"(?:extern_kernels|torch\.ops\.aten)\.(\w+?)_?(?:\.\w+)*", kernel):
        return f"aten::{found[1]}"
    return kernel


@pytest.mark.skipif(sys.platform != "linux", reason="torch marks kernels for the profiler on Linux alone")
def test_launches_are_what_the_profiler_sees(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = inspected([PROGRAM], tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    told = [[re.sub(r"^graph_\d+_", "", name) for name in json.loads(line)] for line in done.stdout.splitlines()]
    dump = Dump(tmp_path / "dump")

    assert [graph.kind for graph in dump.graphs()] == ["forward", "backward"]
    assert told == [
        [by_profiler(launch.kernel.name) for launch in CompiledGraph(dump, graph.graph).launches]
        for graph in dump.graphs()
    ]
    assert {name.partition("::")[0] for names in told for name in names if "::" in name} == {"aten"}
    assert all(sum(name.startswith("cpp_fused") for name in names) > 1 for names in told)
