"""What people asked of torch, "why are these not fused?", rebuilt small: the dump holds the cause."""

from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.fusion.outcome import GraphFusion, fusion
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, Operation, Realize
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.graph.indexing.difference import differences
from inspect_compile.knowledge.fusion.reasons import by_code
from tests.running import inspected

Capture = pytest.CaptureFixture[str]
PROGRAMS = Path(__file__).parent / "programs"
TARGET = "sm_90"


def for_gpu(folder: Path, program: str, *words: str) -> Dump:
    folder.mkdir(exist_ok=True)
    done = inspected([PROGRAMS / f"{program}.py", *words], folder, options=["--target", TARGET])
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump" / f"target_{TARGET}")


def of_graphs(dump: Dump) -> list[GraphFusion]:
    return [fusion(CompiledGraph(dump, graph.graph)) for graph in dump.outermost()]


def told(dump: Dump, a: str, b: str, capsys: Capture) -> str:
    """What `why` says of two operations, in one line."""
    (graph, *_) = (graph.graph for graph in dump.outermost())
    assert main(["why", str(dump.root), a, b, "--graph", graph]) == 0
    return " ".join(capsys.readouterr().out.split())


def before_fusion(dump: Dump, graph: str) -> dict[str, Operation]:
    return {row.name: row for row in dump.rows(Operation, graph) if row.phase == "pre_fusion"}


def kernels(dump: Dump, graph: str | None = None) -> int:
    return sum(kernel.kind == "triton" for kernel in dump.rows(Kernel, graph))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device beside the CPU")
def test_a_number_on_the_cpu_beside_tensors_on_the_gpu(tmp_path: Path, capsys: Capture) -> None:
    done = inspected([PROGRAMS / "two_devices.py"], tmp_path)
    assert done.stdout == "cuda cpu\n"

    dump = Dump(tmp_path / "dump")
    (refused,) = {
        (row.a, row.b, row.code, row.reason)
        for row in candidates(CompiledGraph(dump, dump.outermost()[0].graph))
        if row.verdict == "refused"
    }
    assert refused[2:] == ("device-mismatch", "device mismatch (cpu vs cuda:0)")
    assert "Not fused: they run on different devices" in told(dump, *refused[:2], capsys)
    assert {row.device for row in before_fusion(dump, dump.graphs()[0].graph).values()} == {"cpu", "cuda:0"}


@pytest.mark.targets
def test_three_reductions_of_one_tensor_are_split_in_two_stages(tmp_path: Path, capsys: Capture) -> None:
    split = for_gpu(tmp_path / "split", "three_reductions")
    (found,) = of_graphs(split)
    assert kernels(split) == 3
    assert {miss.code for miss in found.misses} == {"reduction-numel-mismatch"}
    assert len(found.misses) == 3  # the first stage, of all three, beside the second stage of each
    operations = before_fusion(split, found.misses[0].graph)
    for miss in found.misses:
        first, second = (operations[name.split("_")[0]] for name in (miss.a, miss.b))
        assert (int(first.numel), int(second.numel)) == (int(second.rnumel), 1)
    reason = by_code("reduction-numel-mismatch")
    assert reason is not None
    assert reason.knob == "triton.cooperative_reductions"
    story = told(split, found.misses[0].a, found.misses[0].b, capsys)
    assert "Setting: triton.cooperative_reductions What a setting does:" in story

    whole = for_gpu(tmp_path / "whole", "three_reductions", "cooperative")
    assert kernels(whole) == 1
    assert of_graphs(whole)[0].misses == []


@pytest.mark.targets
def test_a_mean_that_is_unrolled_shares_no_data_with_what_it_depends_on(tmp_path: Path, capsys: Capture) -> None:
    dump = for_gpu(tmp_path, "small_loss")

    assert kernels(dump) == 2
    (graph,) = (graph.graph for graph in dump.outermost())
    operations = before_fusion(dump, graph)
    attempts = [row for row in candidates(CompiledGraph(dump, graph)) if row.b == max(operations)]
    assert {(row.verdict, row.code, row.shared_bytes) for row in attempts} == {("refused", "no-shared-data", 0)}
    first, second = operations[attempts[0].a], operations[attempts[0].b]
    assert first.name in second.predecessors
    (written,) = first.buffers
    assert {read.index for read in second.reads if read.buffer == written} == {"0", "1", "2"}
    (differs,) = [found for found in differences(first.writes, second.reads) if found.buffer == written]
    assert (differs.kind, differs.words) == ("sizes", "a different number of elements: 3 against 1")
    story = told(dump, first.name, second.name, capsys)
    assert "Not fused: both use arg1_1, but not the same number of its elements." in story
    assert f"{first.name} hands {second.name} {written}, and both read arg1_1: " in story
    assert "torch's score 0 B" in story
    assert differs.words in story


@pytest.mark.targets
def test_a_product_that_is_broadcast_after_four_reads_is_computed_at_once(tmp_path: Path, capsys: Capture) -> None:
    """Whether it is depends on the order of the factors."""
    dump = for_gpu(tmp_path, "order_of_factors")

    wide, narrow = (graph.graph for graph in dump.outermost())
    assert (kernels(dump, wide), kernels(dump, narrow)) == (2, 3)
    made = {
        graph: [row for row in dump.rows(Realize, graph) if row.realized and row.caller.startswith("expand ")]
        for graph in (wide, narrow)
    }
    assert made[wide] == []
    (product,) = made[narrow]
    operations = before_fusion(dump, narrow)
    (maker,) = [row for row in operations.values() if product.buffer in row.buffers]
    (reader,) = [row for row in operations.values() if product.buffer in {read.buffer for read in row.reads}]
    assert len({read.buffer for read in maker.reads}) == 5  # realize_reads_threshold is 4
    tried = [row for row in candidates(CompiledGraph(dump, narrow)) if row.a == maker.name]
    assert {(row.verdict, row.code) for row in tried} == {("refused", "no-shared-data")}
    (differs,) = [found for found in differences(maker.writes, reader.reads) if found.buffer == product.buffer]
    assert differs.kind == "broadcast"
    assert main(["why", str(dump.root), maker.name, reader.name, "--graph", narrow]) == 0
    assert "repeated (broadcast) in one of the two" in " ".join(capsys.readouterr().out.split())
