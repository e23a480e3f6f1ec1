"""A recorded dump without what differs from run to run, for golden files."""

import json
import os
import platform
import re
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, paths
from inspect_compile.dump.wholeness import table_sizes

GOLDEN_TORCH = "2.13."
"""The golden files hold for this torch: another one lowers the same program in its own way."""
GOLDEN_VECTORS = "avx2"
"""And for kernels with these instructions; see `--vectors`."""

of_golden_code = pytest.mark.skipif(
    not version("torch").startswith(GOLDEN_TORCH)
    or os.environ["ATEN_CPU_CAPABILITY"] != GOLDEN_VECTORS
    or platform.machine() not in ("x86_64", "AMD64"),
    reason=f"golden files are of torch {GOLDEN_TORCH}x, and of kernels with {GOLDEN_VECTORS}",
)

_CHANGES = (
    (re.compile(r'"seconds":[0-9.eE-]+'), '"seconds":0.25'),
    (re.compile(r'"guard_seconds":[0-9.eE-]+'), '"guard_seconds":0.0001'),
    (re.compile(r'"(file|cwd)":"[^"]*/(samples)'), r'"\1":"\2'),
    (re.compile(r"(torch/[\w/]+\.py):\d+"), r"\1:1"),
    (re.compile(r'(?<=[ "])/[^ "]*/\w\w/c(\w{51})\.py:\d+'), "/cache/code.py:1"),  # named after its content
    (re.compile(r'"stored":(true|false),"key":"\w+"'), '"stored":false,"key":"fkey"'),  # by what was compiled before
    (re.compile(r'"outcome":"(hit|miss)","key":"\w+"'), '"outcome":"miss","key":"ckey"'),
    (re.compile(r"\b\d{9,}\b"), "1"),  # ids of Python objects, in guards
)

_STABLE = {
    "metrics": frozenset({"cache_size", "co_name", "graph_input_count", "graph_node_count", "graph_op_count"}),
    "settings": frozenset({"cse", "max_fusion_size", "recompile_limit", "static_weight_shapes"}),
}
"""Of torch's counts and settings, those that do not depend on the machine."""


def _fixed(table: str, line: str) -> str:
    """A row of what torch tells itself, with what is the same on every machine."""
    row = json.loads(line)
    if table == "artifacts":
        row["text"] = row["text"].partition("\n")[0]
    else:
        row["values"] = {name: value for name, value in row["values"].items() if name in _STABLE[table]}
        row.pop("changed", None)
    return json.dumps(row)


def normalised(recorded: Path, root: Path) -> Dump:
    """A copy of the dump `recorded` at `root`, with fixed times and without line numbers of torch, paths and probes."""
    shutil.copytree(recorded, root)
    for path in root.rglob("*.jsonl"):
        text = path.read_text(encoding="utf-8")
        for pattern, replacement in _CHANGES:
            text = pattern.sub(replacement, text)
        path.write_text(text, encoding="utf-8")
    for table in ("artifacts", *_STABLE):
        path = root / paths.table(table, None)
        if path.is_file():
            lines = [_fixed(table, line) for line in path.read_text(encoding="utf-8").splitlines()]
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for derived in (root / paths.FINISHED, root / "probes.jsonl", root / "times.jsonl"):
        derived.unlink(missing_ok=True)
    run = re.sub(r'"seconds": [0-9.]+', '"seconds": 0.25', (root / paths.RUN).read_text(encoding="utf-8"))
    run = re.sub(r'"(torch)": "[^"]+"', rf'"\1": "{GOLDEN_TORCH}0"', run)
    fixed = json.loads(re.sub(r'"[^"]*/(\w+\.py)"', r'"\1"', run))
    fixed["tables"] = table_sizes(root)
    (root / paths.RUN).write_text(json.dumps(fixed), encoding="utf-8")
    return Dump(root)
