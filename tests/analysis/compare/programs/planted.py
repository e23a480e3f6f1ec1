"""Compiles one program again and again, each time with one planted change, and records each into a dump of its own.

usage: planted.py FOLDER NAME…
"""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import inspect_compile
import torch
from torch._inductor import config, decomposition

MODEL = '''\
import torch
import torch.nn.functional as F


def helper(h):
    return h * 2


def step(x, w, v, b):
    h = F.layer_norm(x, (64,))
    h = h @ w
    h = F.gelu(h + b)
    h = h @ v
    y = torch.softmax(h, -1)
    z = helper(h).sin().sum(0)
    t = (h + 1).t().contiguous()
    return y, z, t * 3
'''

SIZES = ((128, 64), (64, 96), (96, 64), (96,))


def edited(old: str, new: str) -> str:
    """The program with one text in the place of another."""
    assert MODEL.count(old) == 1
    return MODEL.replace(old, new)


def other_sine(graph: torch.fx.Graph) -> None:
    """A pass that changes one operator."""
    for node in graph.nodes:
        if node.target is torch.ops.aten.sin.default:
            node.target = torch.ops.aten.cos.default


TEXTS = {
    "edited": edited("F.gelu(h + b)", "F.relu(h + b)"),
    "other_code": edited("F.gelu(h + b)", "F.relu(h + b)"),
    "edited_and_taken_back": edited("F.gelu(h + b)", "F.relu(h + b)"),
    "moved": edited("def step", "HALF = 0.5  # moves every line\n\n\ndef step"),
    "added": edited("    y = torch", "    h = h * 0.5\n    y = torch"),
    "removed": edited("    h = F.gelu(h + b)\n", ""),
    "in_helper": edited("return h * 2", "return h * 3"),
    "reordered": edited(
        "    y = torch.softmax(h, -1)\n    z = helper(h).sin().sum(0)\n",
        "    z = helper(h).sin().sum(0)\n    y = torch.softmax(h, -1)\n",
    ),
    "broken": edited("    y = torch", "    torch._dynamo.graph_break()\n    y = torch"),
}
TEXTS |= {
    "edited_and_fusion": TEXTS["edited"],
    "helper_and_pass": TEXTS["in_helper"],
    "helper_and_fusion": TEXTS["in_helper"],
    "added_and_vectors": TEXTS["added"],
    "broken_and_edited": TEXTS["broken"].replace("F.gelu(h + b)", "F.relu(h + b)"),
    "broken_and_later": TEXTS["broken"].replace("return h * 2", "return h * 3"),
}
"""Name of a change → the program; without one, MODEL."""

CONFIGS: dict[str, dict[str, Any]] = {
    "max_fusion_size": {"max_fusion_size": 1},
    "realized": {"realize_reads_threshold": 0, "realize_opcount_threshold": 1},
    "pass": {"post_grad_custom_post_pass": other_sine},
    "joint_pass": {"joint_custom_post_pass": other_sine},
    "no_vectors": {"cpp.simdlen": 1},
    "other_code": {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"},
}
CONFIGS |= {
    "edited_and_fusion": CONFIGS["max_fusion_size"],
    "helper_and_fusion": CONFIGS["max_fusion_size"],
    "helper_and_pass": CONFIGS["pass"],
    "added_and_vectors": CONFIGS["no_vectors"],
}
TRAINED = ("training", "less_memory")
DTYPES = {"dtype": torch.bfloat16}


def loaded(path: Path) -> ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(step: Callable[..., Any], dtype: torch.dtype, *, trains: bool) -> None:
    """Compile it and run it once."""
    tensors = [torch.ones(size, dtype=dtype, requires_grad=trains) for size in SIZES]
    with torch.set_grad_enabled(trains):
        results = torch.compile(step)(*tensors)
    if trains:
        sum(result.sum() for result in results).backward()


def record(folder: Path, name: str) -> None:
    """One dump."""
    place = folder / "programs" / name
    place.mkdir(parents=True)
    (place / "model.py").write_text(TEXTS.get(name, MODEL))
    module = loaded(place / "model.py")
    changed = dict(CONFIGS.get(name, {}))
    kept = dict(decomposition.decompositions)
    if name == "decomposition":
        decomposition.decompositions.pop(torch.ops.aten.gelu.default)
        decomposition.fast_random_decomps.cache_clear()
    if name == "edited_and_taken_back":
        kept_size, config.max_fusion_size = config.max_fusion_size, 1
        config.max_fusion_size = kept_size
    if name == "less_memory":
        torch._functorch.config.activation_memory_budget = 0.0
    torch._dynamo.reset()
    try:
        with config.patch(changed), inspect_compile.capture(folder / name, level="texts"):
            compiled(module.step, DTYPES.get(name, torch.float32), trains=name in TRAINED)
    finally:
        decomposition.decompositions.update(kept)
        decomposition.fast_random_decomps.cache_clear()
        torch._functorch.config.activation_memory_budget = 1.0


if __name__ == "__main__":
    for chosen in sys.argv[2:]:
        record(Path(sys.argv[1]), chosen)
