"""A sheet for each question of the autotuning: what was measured, what won, and what a later decision overruled."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inspect_compile.analysis.kernels.autotuning import Autotuned, autotuned, of_kernel
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, Choice, Chosen, Fact, Kernel, Tuning
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.binaries import configurations
from tests.handmade import GRAPH, graph, kernel, made


def operation(number: int, name: str = "mm", **more: Any) -> Tuning:
    known = {"operation": f"op{number}", "nodes": ("mm",), "seconds": 1.5, **more}
    return Tuning(graph=GRAPH, number=number, about="operation", name=name, **known)


def of(name: str, number: int, **more: Any) -> Tuning:
    return Tuning(graph=GRAPH, number=number, about="kernel", name=name, **more)


def choice(tuning: int, label: str, milliseconds: float | None, **more: Any) -> Choice:
    known = {"kind": "extern", **more}
    return Choice(graph=GRAPH, tuning=tuning, label=label, milliseconds=milliseconds, **known)


def chosen(tuning: int, label: str, by: str = "time") -> Chosen:
    return Chosen(graph=GRAPH, tuning=tuning, label=label, by=by)


def binary(kernel: str, label: str, **more: Any) -> Binary:
    known = {"num_warps": 4, "registers": 32, "shared": 0, "spills": 0, "target": "sm_90", **more}
    return Binary(graph=GRAPH, kernel=kernel, label=label, **known)


def only(root: Path, *facts: Fact) -> Autotuned:
    (found,) = autotuned(CompiledGraph(made(root, graph(), *facts), GRAPH))
    return found


def test_the_margin_is_how_much_longer_the_next_best_takes(tmp_path: Path) -> None:
    found = only(
        tmp_path,
        operation(0),
        choice(0, "slow", 4.0),
        choice(0, "mm", 1.0),
        choice(0, "next", 1.5),
        choice(0, "broken", None, why="RuntimeError: no", source="measured"),
        choice(0, "left out", None, source="not measured"),
        chosen(0, "mm"),
    )

    assert [(row.label, row.times, row.is_winner) for row in found.choices] == [
        ("mm", 1.0, True),
        ("next", 1.5, False),
        ("slow", 4.0, False),
        ("broken", None, False),
        ("left out", None, False),
    ]
    assert (found.margin, found.spread, found.failed, found.source) == (1.5, 4.0, 1, "measured")
    assert (found.kernel, found.runs, found.seconds) == ("", None, 1.5)


def test_what_a_fusion_overruled_is_compared_with_the_fused_times(tmp_path: Path) -> None:
    found = only(
        tmp_path,
        operation(0),
        *(choice(0, name, time, kind="triton template") for name, time in (("a", 1.0), ("b", 1.1))),
        choice(0, "mm", 0.9),
        *(choice(0, name, time, kind="triton template", step="fused") for name, time in (("a", 2.0), ("b", 1.0))),
        chosen(0, "b", "fusion"),
    )

    assert (found.winner, found.by, found.margin) == ("b", "fusion", 2.0)
    assert [(row.label, row.step, row.times) for row in found.choices] == [
        ("b", "fused", 1.0),
        ("b", "", None),
        ("mm", "", None),
        ("a", "", None),
        ("a", "fused", 2.0),
    ]


def test_a_slower_winner_has_a_margin_below_one(tmp_path: Path) -> None:
    found = only(tmp_path, operation(0), choice(0, "a", 1.0), choice(0, "b", 2.0), chosen(0, "b", "scheduler"))
    assert (found.margin, found.spread) == (0.5, 0.5)


def test_templates_have_their_own_registers_and_a_kernels_configurations_those_of_its_binaries(tmp_path: Path) -> None:
    template = {"kind": "triton template", "registers": 168, "spills": 16, "shared": 98304}
    dump = made(
        tmp_path,
        graph(),
        operation(0),
        choice(0, "triton_mm_0", 1.0, **template),
        choice(0, "mm", 2.0),
        chosen(0, "triton_mm_0"),
        of("k", 1, seconds=1.0),
        choice(1, "1", 2.0, kind="configuration", step="sequential"),
        choice(1, "2", 1.0, kind="configuration", step="sequential"),
        chosen(1, "2", "sequential"),
        kernel("k", kind="triton"),
        binary("k", "1"),
        binary("k", "2", registers=40),
    )

    measured, combo = autotuned(CompiledGraph(dump, GRAPH))

    assert [(row.registers, row.spills, row.shared) for row in measured.choices] == [(168, 16, 98304), (None,) * 3]
    assert (measured.spilled, measured.margin) == (1, 2.0)
    assert [(row.label, row.registers) for row in combo.choices] == [("2", 40), ("1", 32)]
    assert (combo.winner, combo.by, combo.margin) == ("2", "sequential", 2.0)
    assert [row.choice for row in configurations(CompiledGraph(dump, GRAPH))] == ["slower", "chosen"]


def test_the_last_decision_counts(tmp_path: Path) -> None:
    found = only(
        tmp_path,
        of("k", 0, seconds=1.0),
        choice(0, "1", 2.0, kind="configuration"),
        chosen(0, "1"),
        of("k", 0, seconds=0.5),
        choice(0, "2", 1.0, kind="configuration", step="descent"),
        chosen(0, "2", "descent"),
        kernel("k", kind="triton"),
        binary("k", "1", spills=8),
        binary("k", "2"),
    )

    assert (found.winner, found.by, found.margin, found.seconds) == ("2", "descent", 2.0, 1.5)
    assert (found.kernel, found.runs, found.spilled) == ("k", True, 1)
    assert [(row.registers, row.spills, row.occupancy) for row in found.choices] == [(32, 0, 1.0), (32, 8, 1.0)]


def test_what_this_run_did_not_measure_is_said(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        *(kernel(name, kind="triton") for name in ("before", "never", "single")),
        binary("before", "1", is_remembered=True),
        binary("never", "1"),
        binary("never", "2"),
        binary("single", "1"),
    )

    before, never = autotuned(CompiledGraph(dump, GRAPH))

    assert (before.source, before.winner, before.by, before.number) == ("remembered", "1", "remembered", None)
    assert (never.source, never.winner) == ("not measured", "")
    assert {row.milliseconds for found in (before, never) for row in found.choices} == {None}


def calls(dump: Dump) -> list[Kernel]:
    return dump.rows(Kernel, GRAPH)


def test_the_winner_is_looked_for_in_the_generated_code(tmp_path: Path) -> None:
    template = "triton_tem_fused_mm_2"
    dump = made(
        tmp_path,
        graph(),
        *(operation(number) for number in range(5)),
        *(choice(number, "mm", 1.0) for number in range(4)),
        *(
            choice(number, "triton_mm_1", 2.0, kind="triton template", config={"BLOCK_M": 64, "num_warps": 4, "X": 1})
            for number in range(5)
        ),
        *(chosen(number, label) for number, label in enumerate(("mm", "mm", "triton_mm_1", "triton_mm_1"))),
        kernel("extern_kernels.mm", kind="extern", operations=("op0",)),
        kernel("extern_kernels.addmm_", kind="template", operations=("op1",)),
        kernel(template, kind="template", operations=("op2",), source="kernels/t/source.py"),
        kernel("triton_poi_3", kind="triton", operations=("op3",)),
    )
    source = dump.folder(GRAPH) / "kernels" / "t" / "source.py"
    source.parent.mkdir(parents=True)
    head = "\n@triton_heuristics.template(\n    num_stages=2,\n    num_warps=4,\n)\n@triton.jit\ndef f():\n"
    source.write_text(f"{head}    BLOCK_M : tl.constexpr = 64\n")

    assert [row.runs for row in autotuned(CompiledGraph(dump, GRAPH))] == [True, False, True, False, None]
    source.write_text(f"{head}    BLOCK_M : tl.constexpr = 32\n")
    assert [row.runs for row in autotuned(CompiledGraph(dump, GRAPH))][2] is False
    assert [row.operation for row in of_kernel(autotuned(CompiledGraph(dump, GRAPH)), calls(dump)[0])] == ["op0"]


def test_lies_change_nothing_but_themselves(tmp_path: Path) -> None:
    found = only(
        tmp_path,
        operation(0),
        choice(0, "zero", 0.0),
        choice(0, "less", -1.0),
        choice(0, "huge", 1e308),
        choice(7, "of no question", 1.0),
        chosen(0, "not there"),
    )
    assert (found.margin, found.winner, len(found.choices)) == (None, "not there", 3)


def test_kernels_of_a_branch_are_tuned_when_the_outermost_graph_is_loaded(tmp_path: Path) -> None:
    """Two of a cond's, one that was measured and one that could not be, and one that both branches share."""
    branches = f"{GRAPH}/true_graph_0", f"{GRAPH}/false_graph_0"
    dump = made(
        tmp_path,
        graph(),
        replace(kernel("triton_poi_sin_1", kind="triton"), graph=branches[0]),
        replace(kernel("triton_poi_cos_2", kind="triton"), graph=branches[1]),
        *(replace(kernel("triton_poi_mul_3", kind="triton"), graph=branch) for branch in branches),
        of("triton_poi_sin_1", 0),
        *(choice(0, label, time, kind="configuration") for label, time in (("a", 1.0), ("b", 2.0))),
        chosen(0, "a"),
        *(binary(f"triton_poi_{name}", label) for name in ("sin_1", "cos_2", "mul_3") for label in ("b", "a")),
    )

    found = autotuned(CompiledGraph(dump, GRAPH))

    assert [(row.graph, row.kernel, row.source, len(row.choices)) for row in found] == [
        (branches[0], "triton_poi_sin_1", "measured", 2),
        (branches[0], "triton_poi_mul_3", "not measured", 2),
        (branches[1], "triton_poi_cos_2", "not measured", 2),
        (branches[1], "triton_poi_mul_3", "not measured", 2),
    ]
    assert [row.registers for row in found[0].choices] == [32, 32]
    for row in dump.rows(Kernel, GRAPH):
        (only_one,) = of_kernel(found, row)
        assert only_one.graph == row.graph


def test_a_time_is_of_the_graph_that_it_was_measured_for(tmp_path: Path) -> None:
    """Of two kernels of one name, in the dump of a stranger's making say."""
    other = f"{GRAPH}/true_graph_0"
    dump = made(
        tmp_path,
        graph(),
        of("k", 0),
        choice(0, "a", 1.0, kind="configuration"),
        chosen(0, "a"),
        *(binary("k", "a"), replace(binary("k", "a"), graph=other)),
    )

    assert [(row.graph, row.milliseconds) for row in configurations(CompiledGraph(dump, GRAPH))] == [
        (GRAPH, 1.0),
        (other, None),
    ]
