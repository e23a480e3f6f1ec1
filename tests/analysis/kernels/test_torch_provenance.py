"""Our node mappings against those that torch makes when it is told to. torch is the witness."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.kernels.torch_provenance import node_mappings
from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph
from tests.conftest import SAMPLES, DumpOf

WITNESS = """
import json, runpy, sys
import torch._inductor.compile_fx as compile_fx
import torch._inductor.config as config
from torch._inductor import debug
config.trace.provenance_tracking_level = 1
config.fx_graph_cache = False
found, made = [], debug.dump_inductor_provenance_info
def heard():
    found.append(made())
    return found[-1]
debug.dump_inductor_provenance_info = compile_fx.dump_inductor_provenance_info = heard
runpy.run_path(sys.argv[1], run_name="__main__")
print(json.dumps([mapping for mapping in found if "preToPost" in mapping]))
"""


def torch_says(sample: str, folder: Path, inductor_cache: Path) -> list[dict[str, Any]]:
    """One mapping for each graph that torch maps: not for backward graphs."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", WITNESS, str(SAMPLES / f"{sample}.py")],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
        check=True,
        timeout=300,
    )
    mappings: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return mappings


@pytest.mark.parametrize("sample", ["conv_bias", pytest.param("attention_block", marks=pytest.mark.harmless)])
def test_the_same_as_torch(dump_of: DumpOf, tmp_path: Path, inductor_cache: Path, sample: str) -> None:
    dump = open_dump(dump_of(sample).dump)

    ours = [node_mappings(CompiledGraph(dump, found.graph)) for found in dump.outermost()]

    theirs = torch_says(sample, tmp_path, inductor_cache)
    assert [_sets(mapping) for mapping in ours] == [_sets(_narrowed(mapping, sample)) for mapping in theirs]
    assert all(mapping["cppCodeToPost"] for mapping in theirs)


ATTENTION = "_scaled_dot_product_flash_attention_for_cpu"
FALLBACKS = {"attention_block": {f"torch.ops.aten.{ATTENTION}.default:3": ATTENTION}}
"""Sample → the calls of fallback kernels → the node that each computes; torch lists those that flow into it as well."""


def _narrowed(mapping: dict[str, Any], sample: str) -> dict[str, Any]:
    """torch's mapping with the one node that each fallback kernel computes, which has to be among torch's."""
    computes = FALLBACKS.get(sample, {})
    for call, node in computes.items():
        assert node in mapping["cppCodeToPost"][call]
    kernels = {
        call: [computes[call]] if call in computes else nodes for call, nodes in mapping["cppCodeToPost"].items()
    }
    nodes: dict[str, list[str]] = {}
    for call, found in kernels.items():
        for name in found:
            nodes.setdefault(name, []).append(call)
    return {**mapping, "cppCodeToPost": kernels, "postToCppCode": nodes}


def _sets(mapping: dict[str, Any]) -> dict[str, Any]:
    """torch's lists come out of sets."""
    return {
        key: {name: sorted(found) for name, found in value.items()} if isinstance(value, dict) else value
        for key, value in mapping.items()
    }
