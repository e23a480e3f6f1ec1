"""vLLM's cache: the graph that it cut, as it prints it, and the caches of Inductor and Triton below it."""

from pathlib import Path

import torch
from torch.fx.passes.split_module import split_module

from inspect_compile.dump import Dump
from inspect_compile.facts import Artifact, Node, OriginRecords
from inspect_compile.origins.importing import is_readable, read_into
from tests.running import COMMAND, run


class Layers(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x) + 1
        z = torch.softmax(y, -1)
        return z.sum(-1) * 2


def cache(folder: Path) -> Path:
    """The files of vLLM for a model that is cut before and behind its softmax."""
    traced = torch.fx.symbolic_trace(Layers())
    pieces = {"relu": 0, "add": 0, "softmax": 1}
    cut = split_module(traced, traced, lambda node: pieces.get(node.name, 2), keep_original_order=True)
    text = cut.print_readable(print_output=False).replace("<lambda>", "GraphModule")
    model = folder / "torch_compile_cache" / "1517964802" / "rank_0_0" / "backbone"
    model.mkdir(parents=True)
    (model / "computation_graph.py").write_text(f"from __future__ import annotations\nimport torch\n{text}")
    (model / "vllm_compile_cache.py").write_text("{(None, 0, 'inductor'): ('key', 'path')}")
    (model / "cache_key_factors.json").write_text('{"env": {}, "compiler": "inductor"}')
    (model / "artifact_compile_range_1_2048_subgraph_0").write_bytes(b"\x80\x04pickled")
    return folder / "torch_compile_cache"


def test_the_graph_and_its_pieces(tmp_path: Path) -> None:
    folder = cache(tmp_path)
    dump = read_into(folder, tmp_path / "dump")

    assert dump.run.origin == "cache of vLLM"
    pieces = [graph.graph for graph in dump.graphs()]
    assert pieces == ["backbone", "backbone/submod_0", "backbone/submod_1", "backbone/submod_2"]
    called = [
        [node.target for node in dump.rows(Node) if node.graph == piece and node.op != "placeholder"]
        for piece in pieces
    ]
    assert called[0] == ["submod_0", "submod_1", "submod_2", "output"]
    assert [targets[0] for targets in called[1:]] == ["torch.relu", "torch.softmax", "sum"]
    assert [row.name for row in dump.rows(Artifact)] == ["cache_key_factors.json", "vllm_compile_cache.py"]
    assert {row.what: (row.count, row.became) for row in dump.rows(OriginRecords)} == {
        "compiled piece": (1, "counted"),
        "graph that vLLM cut into pieces": (1, "graphs, nodes"),
        "text": (2, "artifacts"),
    }
    shown = run([*COMMAND, "show", folder, "kernels"], tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path / "kept")})
    assert "kernels: not known, since a cache of vLLM does not hold it" in shown.stdout


def test_the_caches_below_it_are_parts(tmp_path: Path) -> None:
    folder = cache(tmp_path)
    shard = folder / "1517964802" / "inductor_cache" / "aa"
    shard.mkdir(parents=True)
    (shard / f"c{'a' * 51}.py").write_text("# AOT ID: ['0_inference']\n")
    dump = read_into(folder, tmp_path / "dump")

    assert sorted(Dump(part).run.origin for part in dump.other_processes) == ["cache of Inductor", "cache of vLLM"]
    shown = " ".join(run([*COMMAND, "show", dump.root], tmp_path).stdout.split())
    assert "backbone, cache of vLLM 1 graph show" in shown
    assert "inductor_cache, cache of Inductor 1 graph, 0 kernels show" in shown


def test_a_forward_that_was_compiled_ahead_of_time(tmp_path: Path) -> None:
    """The layout of vLLM 0.32: a pickle, which is counted and not opened, and Inductor's cache beside it."""
    key = tmp_path / "torch_compile_cache" / "torch_aot_compile" / "7b51"
    (key / "rank_0_0").mkdir(parents=True)
    (key / "rank_0_0" / "model").write_bytes(b"\x80\x04pickled")
    shard = key / "inductor_cache" / "aa"
    shard.mkdir(parents=True)
    (shard / f"c{'a' * 51}.py").write_text("# AOT ID: ['0_inference']\n")
    dump = read_into(tmp_path / "torch_compile_cache", tmp_path / "dump")

    parts = {(part := Dump(path)).run.origin: part for path in dump.other_processes}
    assert sorted(parts) == ["cache of Inductor", "cache of vLLM"]
    counts = {row.what: (row.count, row.became) for row in parts["cache of vLLM"].rows(OriginRecords)}
    assert counts == {"forward compiled ahead of time, a pickle": (1, "counted")}
    told = " ".join(run([*COMMAND, "show", parts["cache of vLLM"].root], tmp_path).stdout.split())
    assert "cache of vLLM" in told


def test_another_file_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "computation_graph.py").write_text("import torch\n")
    assert not is_readable(tmp_path)
