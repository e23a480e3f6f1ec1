"""What was compared at no level, from the rows of a check."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.numerics.coverage import Uncompared, uncompared_in
from inspect_compile.dump import Dump
from inspect_compile.facts import Checked, Fact, NumericsCall, NumericsRequest, Run
from inspect_compile.facts.numerics import ALL_RESULTS, BEGUN, LOADED, NOT_ASKED, PACKAGED
from inspect_compile.knowledge.numerics.levels import (
    ALL_PASSES,
    AOT,
    BEFORE_PASSES,
    CALL,
    COMPILED,
    DYNAMO_GRAPH,
    EXPORTED,
    FUNCTION,
    LOWERED_GRAPH,
    PACKAGE,
)
from inspect_compile.knowledge.numerics.verdicts import GENERATOR_STATE
from tests.handmade import GRAPH, graph, made

ROW = Checked(graph=GRAPH, call=1, index=-1, buffer="result 0", node="add", is_equal=True)
LAUNCH = replace(ROW, index=0, kernel="cpp_fused_0", line=101, buffer="buf1")
WHOLE = replace(ROW, level=COMPILED, against=LOWERED_GRAPH)
PASSES = replace(ROW, level=ALL_PASSES, against=BEFORE_PASSES)
DYNAMO = replace(ROW, level=AOT, against=DYNAMO_GRAPH)
BEGINS = NumericsCall(graph=GRAPH, call=1, stage=BEGUN)
ENDS = NumericsCall(graph=GRAPH, call=1, launches=1, results=1)
IS_LOADED = NumericsCall(graph=GRAPH, stage=LOADED)
FINISHED = Run(status="finished", argv=("net.py",), numerics=NumericsRequest())


def lost(row: Checked, reason: str = "no reason") -> Checked:
    """The row, if it was not compared."""
    return replace(row, reason=reason, is_equal=False)


def found(root: Path, *facts: Fact, run: Run = FINISHED) -> list[tuple[str, str, str]]:
    """Which result, beside which level, and why."""
    rows: list[Uncompared] = uncompared_in([Dump(made(root, graph(), *facts, run=run).root)])
    return [(row.what, row.step, row.reason) for row in rows]


def test_all_is_compared(tmp_path: Path) -> None:
    assert found(tmp_path, IS_LOADED, BEGINS, LAUNCH, WHOLE, PASSES, DYNAMO, ENDS) == []


def test_a_graph_that_is_never_called_needs_nothing(tmp_path: Path) -> None:
    assert found(tmp_path, IS_LOADED) == []


def test_a_launch_without_a_reference_is_covered_by_the_result(tmp_path: Path) -> None:
    assert found(tmp_path, IS_LOADED, BEGINS, lost(LAUNCH), WHOLE, PASSES, DYNAMO, ENDS) == []


@pytest.mark.parametrize(
    ("launch", "end", "is_covered"),
    [
        (LAUNCH, ENDS, True),
        (lost(LAUNCH), ENDS, False),
        (replace(LAUNCH, unforced=("buf0",)), ENDS, False),
        (LAUNCH, replace(ENDS, launches=2), False),
        (LAUNCH, replace(ENDS, reason="K: ValueError"), False),
    ],
)
def test_a_result_without_a_reference_is_covered_by_all_launches(
    launch: Checked, end: NumericsCall, is_covered: bool, tmp_path: Path
) -> None:
    told = found(tmp_path, IS_LOADED, BEGINS, launch, lost(WHOLE), PASSES, DYNAMO, end)

    assert told == ([] if is_covered else [("result 0", LOWERED_GRAPH, "no reason")])


def test_what_an_attention_saves_of_a_generator_needs_none(tmp_path: Path) -> None:
    """Llama's training on a GPU, without a dropout."""
    states = [lost(replace(row, buffer="result 1"), GENERATOR_STATE) for row in (WHOLE, PASSES, LAUNCH)]
    assert found(tmp_path, IS_LOADED, BEGINS, LAUNCH, WHOLE, PASSES, DYNAMO, *states, ENDS) == []


def test_each_step_needs_a_comparison(tmp_path: Path) -> None:
    missing = found(tmp_path / "a", IS_LOADED, BEGINS, LAUNCH, WHOLE, ENDS)
    random = found(tmp_path / "b", IS_LOADED, BEGINS, LAUNCH, WHOLE, lost(PASSES, "random"), DYNAMO, ENDS)

    assert [step for _, step, _ in missing] == [BEFORE_PASSES, DYNAMO_GRAPH]
    assert random == [("result 0", BEFORE_PASSES, "random")]


def test_each_step_needs_a_comparison_of_each_changed_input(tmp_path: Path) -> None:
    changed = [replace(row, buffer="arg0_1") for row in (WHOLE, PASSES, DYNAMO)]
    facts = (IS_LOADED, BEGINS, LAUNCH, WHOLE, PASSES, DYNAMO)
    nothing = lost(replace(DYNAMO, buffer=ALL_RESULTS), "it could not be run")

    assert found(tmp_path / "a", *facts, *changed, ENDS) == []
    missing = found(tmp_path / "b", *facts, *changed[:2], ENDS)
    assert [(what, step) for what, step, _ in missing] == [("arg0_1", DYNAMO_GRAPH)]
    assert found(tmp_path / "c", *facts[:5], *changed[:2], nothing, ENDS) == [
        (ALL_RESULTS, DYNAMO_GRAPH, "it could not be run")
    ]


def test_the_functions_of_the_program_span_all_steps(tmp_path: Path) -> None:
    function = replace(ROW, level=CALL, against=FUNCTION)
    facts = (IS_LOADED, BEGINS, lost(WHOLE), lost(PASSES), lost(DYNAMO), ENDS)

    assert found(tmp_path / "a", *facts, function) == []
    assert len(found(tmp_path / "b", *facts, lost(function))) == 3
    failed = replace(ENDS, reason="it raised", against=FUNCTION)
    assert found(tmp_path / "c", IS_LOADED, BEGINS, LAUNCH, WHOLE, PASSES, DYNAMO, ENDS, failed) == [
        ("", FUNCTION, "it raised")
    ]


def test_calls_that_were_not_checked(tmp_path: Path) -> None:
    refused = replace(ENDS, launches=0, results=0, reason="an input is a DTensor")
    later = NumericsCall(graph=GRAPH, call=1, stage=NOT_ASKED)

    assert found(tmp_path / "a", IS_LOADED, BEGINS, refused) == [("", "", "an input is a DTensor")]
    assert found(tmp_path / "b", IS_LOADED, BEGINS) == [("", "", "its check did not end")]
    assert found(tmp_path / "c", IS_LOADED, later) == [("", "", "its calls were not among those to be checked")]
    assert found(tmp_path / "d") == [("", "", "its code was not loaded where it could be checked")]
    only = replace(FINISHED, numerics=NumericsRequest(graphs=("backward",)))
    assert found(tmp_path / "e", run=only) == []


def test_packages(tmp_path: Path) -> None:
    packaged = NumericsCall(graph=GRAPH, stage=PACKAGED)
    row = replace(ROW, level=PACKAGE, against=EXPORTED)
    end = replace(ENDS, launches=0, reason="its launches are not compared")

    assert len(found(tmp_path / "a", packaged)) == 1
    assert found(tmp_path / "b", packaged, BEGINS, row, end) == []
    assert ("result 0", EXPORTED, "no reason") in found(tmp_path / "c", packaged, BEGINS, lost(row), end)


def test_a_program_that_did_not_end_well(tmp_path: Path) -> None:
    facts = (IS_LOADED, BEGINS, LAUNCH, WHOLE, PASSES, DYNAMO, ENDS)
    killed = replace(FINISHED, status="killed", exit_code=137)
    raised = replace(FINISHED, status="raised", exception="ValueError: no", exit_code=1)

    assert found(tmp_path / "a", *facts, run=killed) == [("", "", "the program was killed (exit status 137)")]
    assert found(tmp_path / "b", *facts, run=raised) == [("", "", "the program ended with ValueError: no")]
