"""A folder of vLLM's cache of compiles: the graph that it cut into pieces, and what its key is made of.

The code of the pieces lies in the caches of Inductor and Triton beside it, or in files of vLLM's own: pickles.
Source: `VllmBackend` of vllm/compilation/backends.py, since vLLM 0.8.
"""

from itertools import islice
from pathlib import Path
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.dump.files import text_inside
from inspect_compile.dump.writer import Writer
from inspect_compile.facts import Graph
from inspect_compile.knowledge.origins import VLLM_CACHE
from inspect_compile.origins.counted_files import Counted, finish, kept_text, main_device
from inspect_compile.origins.fx_text import nodes_of

_GRAPH: Final = "computation_graph.py"
_HEAD: Final = "from __future__ import annotations\nimport torch\nclass "
_TEXTS: Final = ("cache_key_factors.json", "vllm_compile_cache.py", "transformed_code.py")
"""Kept as they are: what the key of the cache is made of, which piece was compiled for which sizes, and the bytecode
that Python runs in the place of the model's forward.
"""
_MOST_FILES: Final = 100_000
_ARTIFACT: Final = "artifact_"
_AHEAD, _RANK, _WHOLE = "torch_aot_compile", "rank_", "model"
"""Where a forward that is compiled ahead of time lies: torch_aot_compile/KEY/rank_0_0/model."""
_GRAPHS, _KEPT, _PIECE = "graph that vLLM cut into pieces", "text", "compiled piece"
_FORWARD: Final = "forward compiled ahead of time, a pickle"
_BECAME: Final = {_GRAPHS: "graphs, nodes", _KEPT: "artifacts"}


def is_vllm_cache(path: Path) -> bool:
    """Whether the folder `path` is that of one model, or part of one, in vLLM's cache."""
    return path.is_dir() and (_is_ahead(path) or (text_inside(path, path / _GRAPH) or "").startswith(_HEAD))


def _is_ahead(path: Path) -> bool:
    is_there = path.name.startswith(_RANK) and path.parent.parent.name == _AHEAD
    return is_there and (path / _WHOLE).is_file() and not (path / _WHOLE).is_symlink()


def read_vllm_cache(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of vLLM's own files. Raises DumpError and OSError."""
    root.mkdir(parents=True)
    writer, counted = Writer(root), Counted()
    if _is_ahead(path):
        counted.add(_FORWARD, (path / _WHOLE).stat().st_size)
        finish(writer, counted.facts(_BECAME), VLLM_CACHE, path.name, {}, main_device(()))
        return
    graph = path.name if path.name.isidentifier() else "model"
    text = text_inside(path, path / _GRAPH) or ""
    counted.add(_GRAPHS, len(text))
    nodes = nodes_of(graph, "aot", text)
    devices = dict.fromkeys(value.device for node in nodes for value in node.values if value.device)
    inputs = sum(node.op == "placeholder" and node.graph == graph for node in nodes)
    writer.add(Graph(graph=graph, kind="inference", name=graph, inputs=inputs, device=", ".join(sorted(devices))))
    for piece in dict.fromkeys(node.graph for node in nodes if node.graph != graph):
        name = piece.rpartition("/")[2]
        inside = sum(node.op == "placeholder" and node.graph == piece for node in nodes)
        writer.add(Graph(graph=piece, kind="subgraph", parent=piece.rpartition("/")[0], name=name, inputs=inside))
    for node in nodes:
        writer.add(node)
    writer.text(f"{paths.graph_folder(graph)}/{paths.FX_READABLE}", text)
    for name in _TEXTS:
        kept = text_inside(path, path / name)
        if kept:
            counted.add(_KEPT, len(kept))
            writer.add(kept_text(name, kept))
    for file in islice(path.iterdir(), _MOST_FILES):
        if file.name.startswith(_ARTIFACT) and file.is_file():
            counted.add(_PIECE, file.stat().st_size)
    finish(writer, counted.facts(_BECAME), VLLM_CACHE, path.name, {}, main_device(devices))
