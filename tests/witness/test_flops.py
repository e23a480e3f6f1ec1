"""FLOPs of matmuls, convolutions and attention against torch.utils.flop_counter, which counts the eager program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.lost import lost_nodes
from inspect_compile.dump import open_dump
from inspect_compile.facts import Lowering

PROGRAMS = Path(__file__).parent / "programs"
HEAVY = ("matmul", "convolution", "attention")


def _flops(program: str, tmp_path: Path, inductor_cache: Path) -> tuple[dict[str, int], list[Lowering]]:
    """(what the counter says of the eager program, by aten op; the rows of the compiled one)."""
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    script = str(PROGRAMS / program)
    done = subprocess.run([*command, script], capture_output=True, text=True, env=environment, check=True, timeout=300)
    counted: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counted, open_dump(tmp_path / "dump").rows(Lowering)


@pytest.mark.parametrize("program", ["conv_net.py", "attention_math.py"])
def test_inference_counts_what_eager_does(program: str, tmp_path: Path, inductor_cache: Path) -> None:
    counted, rows = _flops(program, tmp_path, inductor_cache)

    ours: dict[str, int] = {}
    for row in rows:
        if row.flops_kind in HEAVY:
            name = row.target.rsplit(".", 1)[0]
            ours[name] = ours.get(name, 0) + row.flops
    assert sum(ours.values()) == sum(counted.values())
    assert sum(counted.values()) > 0


def test_training_differs_by_named_nodes(tmp_path: Path, inductor_cache: Path) -> None:
    """Forward and backward: equal to eager but for the nodes that the compiler dropped, merged, repeated or split."""
    counted, rows = _flops("train.py", tmp_path, inductor_cache)

    heavy = [row for row in rows if row.flops_kind in HEAVY]
    by_graph = {graph: sum(row.flops for row in heavy if row.graph == graph) for graph in {row.graph for row in heavy}}
    assert len(by_graph) == 2
    assert sum(by_graph.values()) == sum(counted.values())


def test_the_difference_to_eager_is_named(tmp_path: Path, inductor_cache: Path) -> None:
    """A product that nobody reads, and one that is written twice: eager runs them, the compiled program does not."""
    counted, rows = _flops("dead_and_merged.py", tmp_path, inductor_cache)
    dump = open_dump(tmp_path / "dump")

    one = 2 * 16 * 32 * 32
    forward, backward = (graph.graph for graph in dump.graphs())
    products = [row for row in rows if row.flops_kind in HEAVY]
    heavy = {graph: sum(row.flops for row in products if row.graph == graph) for graph in (forward, backward)}
    # Three products forward, and two backward for each of the two that are read: the backward graph keeps its own.
    assert sum(counted.values()) == 7 * one
    assert heavy == {forward: one, backward: 4 * one}
    lost = {lost.node.name: lost.fate for lost in lost_nodes(dump, "0/0") if lost.node.target.endswith("matmul")}
    assert lost == {"unread": "dead", "again": "merged"}


def test_the_seed_convolution(tmp_path: Path, inductor_cache: Path) -> None:
    _, rows = _flops("conv_net.py", tmp_path, inductor_cache)

    assert [row.flops for row in rows if row.flops_kind == "convolution"] == [12_355_200]
