"""FLOPs of matmuls, convolutions and attention against torch.utils.flop_counter, which counts the eager program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.cost.launch_origins import BY
from inspect_compile.analysis.cost.rollup import Costs, Item
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Lowering
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.indexing import index_text
from tests.harmless.test_models import MODELS, program
from tests.lost import lost_nodes

PROGRAMS = Path(__file__).parent / "programs"
SAMPLES = Path(__file__).parents[2] / "samples"
HARMLESS = Path(__file__).parents[1] / "harmless" / "programs"
CUSTOM = {"transformers.grouped_mm_fallback", "transformers.grouped_mm_fallback_backward"}
"""Operators of mixtral's that are its own: neither we nor torch's counter know what they compute."""
LIBRARIES = {
    *("aten._fft_r2c", "aten._fft_c2r", "aten._fft_c2c", "aten._int_mm", "with_effects"),
    *("aten._linalg_solve_ex", "aten.linalg_cholesky_ex", "aten.linalg_solve_triangular", "aten.linalg_lu_solve"),
}
"""Operators for which torch has no formula either, and for which we have no rule."""
HEAVY = ("matmul", "convolution", "attention")


def _flops(program: str, tmp_path: Path, inductor_cache: Path) -> tuple[dict[str, int], list[Lowering]]:
    """(what the counter says of the eager program, by aten op; the rows of the compiled one)."""
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    script = str(PROGRAMS / program)
    done = subprocess.run([*command, script], capture_output=True, text=True, env=environment, check=True, timeout=300)
    counted: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counted, open_dump(tmp_path / "dump").rows(Lowering)


@pytest.mark.parametrize("program", ["conv_net.py", pytest.param("attention_math.py", marks=pytest.mark.harmless)])
def test_inference_counts_what_eager_does(program: str, tmp_path: Path, inductor_cache: Path) -> None:
    counted, rows = _flops(program, tmp_path, inductor_cache)

    ours: dict[str, int] = {}
    for row in rows:
        if row.flops_kind in HEAVY:
            name = row.target.rsplit(".", 1)[0]
            ours[name] = ours.get(name, 0) + row.flops
    assert sum(ours.values()) == sum(counted.values())
    assert sum(counted.values()) > 0
    if program == "conv_net.py":
        assert [row.flops for row in rows if row.flops_kind == "convolution"] == [12_355_200]


@pytest.mark.harmless
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


@pytest.mark.harmless
def test_what_the_backward_computes_again_is_told(tmp_path: Path, inductor_cache: Path) -> None:
    """Eager runs the checkpointed forward again too."""
    counted, _ = _flops("checkpointed.py", tmp_path, inductor_cache)
    dump = open_dump(tmp_path / "dump")
    forward, backward = (Costs(CompiledGraph(dump, graph.graph)) for graph in dump.graphs())
    heavy = {
        costs.graph: sum(item.row.flops for item in costs.items if item.row.flops_kind in HEAVY)
        for costs in (forward, backward)
    }
    assert sum(heavy.values()) == sum(counted.values())
    both = 2 * 16 * 32 * 64 + 2 * 16 * 64 * 64
    (product,) = [row.recomputed for row in backward.by("op") if row.name == "aten.addmm"]
    assert product == heavy[forward.graph] == both
    assert sum(row.recomputed for row in backward.by("kernel") if row.heavy) == both
    assert all(row.recomputed == 0 for by in BY for row in forward.by(by))


@pytest.mark.harmless
@pytest.mark.parametrize(
    "sample",
    ["conv_bias", "softmax_mlp", "training_step", "attention_block", "dynamic_shapes", "graph_breaks", "two_models"],
)
def test_samples_count_what_eager_does(sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    """But `torch.cond` and flex attention, which torch's counter cannot count eager."""
    _check(tmp_path, inductor_cache, SAMPLES / f"{sample}.py", "--device", "cpu")


@pytest.mark.harmless
@pytest.mark.parametrize("kind", ["inference", "training"])
@pytest.mark.parametrize("model", MODELS)
def test_models_count_what_eager_does(model: str, kind: str, tmp_path: Path, inductor_cache: Path) -> None:
    _check(tmp_path, inductor_cache, HARMLESS / program(model), model, kind)


def _check(cwd: Path, inductor_cache: Path, *words: object) -> None:
    """Equal to the counter but for what was computed again: in the backward's graph, or inside of fused attention.

    And by kernel, by module and by line as by operator.
    """
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(cwd / "dump")]
    script = [str(PROGRAMS / "counted.py"), *map(str, words)]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = subprocess.run([*command, *script], capture_output=True, text=True, env=environment, check=True, timeout=600)
    told = json.loads(done.stdout.splitlines()[-1])
    dump = open_dump(cwd / "dump")
    graphs = sorted(dump.outermost(), key=lambda graph: int(graph.graph.rpartition(".")[2]))
    ours, again = 0, 0
    for graph, sizes in zip(graphs, told["calls"], strict=True):
        costs = Costs(CompiledGraph(dump, graph.graph))
        products = {by: sum(row.heavy for row in costs.by(by) if by != "module" or not row.name) for by in BY}
        assert len(set(products.values())) == 1, products
        for item in costs.items:
            if item.row.flops_kind in HEAVY:
                for symbols in sizes:
                    flops = _at(item.row, symbols)
                    ours += flops
                    again += flops if item.is_recomputed else 0
                    again += flops if _runs_branch_again(item, graphs[0].graph, dump) else 0
                    is_attention = item.row.flops_kind == "attention" and "_backward" in item.row.target
                    again += flops // 5 if is_attention else 0  # the scores; heads are as deep as their values
    assert ours - again == sum(told["eager"].values())
    assert _without_rule(dump) <= CUSTOM | LIBRARIES


def _runs_branch_again(item: Item, forward: str, dump: Dump) -> bool:
    """Is it of a branch of the forward? The backward of a `torch.cond` computes it again, in a nested graph."""
    own, _, nested = item.row.graph.partition("/")
    branches = {(row.node, row.target) for row in dump.rows(Lowering, forward) if row.graph.startswith(f"{forward}/")}
    return own != forward and bool(nested) and (item.row.node, item.row.target) in branches


def _without_rule(dump: Dump) -> set[str]:
    """Operators that have no count."""
    found = (graph_flops(CompiledGraph(dump, graph.graph)).uncounted for graph in dump.outermost())
    return {name for reasons in found for names in reasons.values() for name in names}


def _at(row: Lowering, symbols: dict[str, int]) -> int:
    """FLOPs of a node at the sizes of one call."""
    if not row.flops_text or not symbols:
        return row.flops
    names: dict[str, index_text.Sum] = {name: {(): value} for name, value in symbols.items()}
    found = index_text.number(index_text.value(index_text.parse(row.flops_text), names))
    assert found is not None
    return found
