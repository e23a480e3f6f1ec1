"""The files that TORCH_COMPILE_DEBUG=1 writes stand in the dump under the same names, with the same content."""

import os
import re
import sys
from pathlib import Path

import pytest

from inspect_compile.dump import open_dump
from tests.conftest import DumpOf, run_sample

SAME = ("fx_graph_readable.py", "fx_graph_transformed.py", "ir_pre_fusion.txt", "ir_post_fusion.txt")


def _without_comments(code: str) -> str:
    """torch's switch names other nodes in the comments of the code: why we never set it."""
    return "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("#"))


def _without_settings(runnable: str) -> str:
    """fx_graph_runnable.py without the lines that tell the environment and the configuration of its run."""
    settings = re.compile(r"^(os\.environ\[|torch\._\w+\.config\.)")
    return "\n".join(line for line in runnable.splitlines() if line.strip() and not settings.match(line))


@pytest.mark.parametrize("sample", ["conv_bias", pytest.param("training_step", marks=pytest.mark.harmless)])
def test_files_are_torchs_own(dump_of: DumpOf, sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    # A graph that torch's caches serve leaves its folder empty there.
    environment = {
        **os.environ,
        "TORCH_COMPILE_DEBUG": "1",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    run_sample([sys.executable], sample, (), tmp_path, inductor_cache, environment)
    dump = open_dump(dump_of(sample).dump)
    graphs = [graph.graph for graph in dump.graphs() if graph.parent is None]
    folders = {
        path.name: path for path in tmp_path.glob("torch_compile_debug/run_*/torchinductor/*.*") if path.is_dir()
    }

    assert sorted(folders) == sorted(graphs)
    for graph, folder in folders.items():
        for name in SAME:
            assert dump.text(graph, name) == (folder / name).read_text(), f"{graph}/{name}"
        code, runnable = dump.text(graph, "output_code.py"), dump.text(graph, "fx_graph_runnable.py")
        assert code is not None
        assert runnable is not None
        assert _without_comments(code) == _without_comments((folder / "output_code.py").read_text())
        assert _without_settings(runnable) == _without_settings((folder / "fx_graph_runnable.py").read_text())
