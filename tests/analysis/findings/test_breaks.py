"""Graph breaks: what is left of a function belongs to the break that interrupted it, and one cause is told once."""

from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.frontend.breaks import found
from inspect_compile.dump import Dump
from inspect_compile.facts import Fact, FailedGuard, Frame, GraphBreak, Guard, Location, Recompile
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.overview.findings import BREAK, WORDS
from inspect_compile.tables.overview.findings import cost_text
from tests.conftest import DumpOf
from tests.handmade import made

HELPER, CALLS = Location("net.py", 5, "helper"), Location("net.py", 9, "forward")


def broken(compile_id: str, *stack: Location) -> GraphBreak:
    return GraphBreak(graph=compile_id, reason="print", where=stack[-1], stack=stack)


def frame(
    compile_id: str, function: str, line: int, seconds: float, caller: Location, status: str = "compiled"
) -> Frame:
    return Frame(
        graph=compile_id, function=function, file="net.py", line=line, status=status, seconds=seconds, caller=caller
    )


def told(root: Path, *facts: Fact) -> list[Finding]:
    return [row for row in findings(Graphs(made(root, *facts))) if row.kind == "graph-break"]


def test_the_rest_of_another_function_that_the_same_line_called_is_not_counted(tmp_path: Path) -> None:
    own = Location("net.py", 9, "forward")
    (one,) = told(
        tmp_path,
        broken("0/0", own),
        frame("0/0", "forward", 7, 8.0, at_main()),
        frame("1/0", "torch_dynamo_resume_in_other_at_30", 30, 4.0, own),
        frame("2/0", "Net.torch_dynamo_resume_in_forward_at_9", 9, 1.0, own),
    )

    assert one.seconds is None  # compiling the whole takes no less than its parts
    assert one.names == ("0/0", "2/0")


@pytest.mark.parametrize("rest", ["compiled", "no graph"])
def test_nothing_is_said_to_be_compiled_where_no_part_is(tmp_path: Path, rest: str) -> None:
    (row,) = told(
        tmp_path,
        broken("0/0", CALLS),
        frame("0/0", "forward", 7, 1.0, at_main(), "no graph"),
        frame("1/0", "torch_dynamo_resume_in_forward_at_9", 9, 1.0, CALLS, rest),
        frame("2/0", "other", 30, 1.0, at_main()),
    )

    is_compiled = rest == "compiled"
    assert (row.what == WORDS[BREAK].what, "cannot be fused" in row.each_call) == (is_compiled, is_compiled)


def test_a_line_with_two_breaks_has_two_rests(tmp_path: Path) -> None:
    other = Location("net.py", 9, "torch_dynamo_resume_in_forward_at_9")
    breaks = told(
        tmp_path,
        broken("0/0", CALLS, HELPER),
        broken("1/0", other),
        frame("0/0", "forward", 7, 8.0, at_main()),
        frame("1/0", "torch_dynamo_resume_in_forward_at_9", 9, 2.0, CALLS),
        frame("2/0", "torch_dynamo_resume_in_forward_at_9", 9, 1.0, CALLS),
    )

    assert {row.parts[0].where: row.names for row in breaks} == {HELPER: ("0/0", "1/0"), other: ("1/0", "2/0")}


def test_a_call_that_breaks_its_caller_and_what_it_calls_is_one_break(tmp_path: Path) -> None:
    facts = [
        broken("0/0", CALLS, HELPER),
        broken("1/0", HELPER),
        frame("0/0", "forward", 7, 8.0, at_main()),
        frame("1/0", "helper", 3, 4.0, CALLS),
        frame("2/0", "torch_dynamo_resume_in_helper_at_5", 5, 1.0, HELPER),
        frame("3/0", "torch_dynamo_resume_in_forward_at_9", 9, 2.0, CALLS),
    ]
    (one,) = told(tmp_path / "one", *facts)

    assert (one.count, one.names) == (1, ("0/0", "3/0", "2/0"))

    facts[3] = frame("1/0", "helper", 3, 4.0, Location("net.py", 40, "main"))
    (one,) = told(tmp_path / "called_elsewhere", *facts)

    assert (one.count, one.names) == (2, ("0/0", "3/0"))


def test_a_function_that_was_compiled_again_has_a_rest_for_each_compile(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        broken("0/0", CALLS),
        broken("0/1", CALLS),
        frame("0/0", "forward", 7, 8.0, at_main()),
        frame("0/1", "forward", 7, 8.0, at_main()),
        frame("1/0", "torch_dynamo_resume_in_forward_at_9", 9, 2.0, CALLS),
        frame("1/1", "torch_dynamo_resume_in_forward_at_9", 9, 1.0, CALLS),
        frame("1/2", "torch_dynamo_resume_in_forward_at_9", 9, 0.5, CALLS),
    )

    rows = list(found(dump, [], Costs(dump)))
    assert [row.names for row in rows] == [("0/0", "1/0"), ("0/1", "1/1", "1/2")]


def test_the_break_of_an_optimizers_step_is_none_that_somebody_can_mend(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)

    assert len(dump.rows(GraphBreak)) == 2
    assert [row for row in findings(Graphs(dump)) if row.kind == "graph-break"] == []


def at_main() -> Location:
    return Location("net.py", 40, "main")


def test_a_rest_that_is_compiled_again_is_mended_at_the_break(tmp_path: Path) -> None:
    failed = FailedGuard(
        compile_id="1/0", condition="…", what="size of ___stack0 in dimension 0", before="8", after="9", where=CALLS
    )
    rest = "torch_dynamo_resume_in_forward_at_9"
    again = Recompile(graph="1/1", function=rest, file="net.py", line=9, reasons=("1/0: …",), failed=(failed,))
    (one,) = [row for row in findings(Graphs(made(tmp_path, again))) if row.kind == "recompile"]

    assert one.parts[0].operator == "the rest of forward"
    assert "___stack" not in one.why
    assert "fix the graph break" in one.to_do


def test_two_breaks_of_one_line_with_one_reason_are_one(tmp_path: Path) -> None:
    other = Location("net.py", 9, "torch_dynamo_resume_in_forward_at_9")
    (one,) = told(
        tmp_path,
        broken("0/0", CALLS),
        broken("1/0", other),
        frame("0/0", "forward", 7, 8.0, at_main()),
        frame("1/0", "torch_dynamo_resume_in_forward_at_9", 9, 2.0, CALLS),
        frame("2/0", "torch_dynamo_resume_in_forward_at_9", 9, 1.0, CALLS),
    )

    assert (one.count, one.names) == (2, ("0/0", "1/0"))


def test_what_a_call_loses_is_told_and_no_time(tmp_path: Path) -> None:
    rest = "torch_dynamo_resume_in_forward_at_9"
    guards = [Guard(graph="1/0", source=f"L['x{n}']", kind="TENSOR_MATCH", code=("…",)) for n in range(3)]
    (one,) = told(
        tmp_path,
        msgspec.structs.replace(broken("0/0", CALLS), explanation="Tensor.item() with capture_scalar_outputs=False"),
        frame("0/0", "forward", 7, 8.0, at_main()),
        frame("1/0", rest, 9, 2.0, CALLS),
        *guards,
    )

    assert one.each_call == (
        "Python runs the line; on a GPU the host would wait for it;"
        " the operations before and after it cannot be fused, and their values pass through memory;"
        " 3 guards of the resume function are checked"
    )
    assert cost_text(one) == ""


def test_of_a_function_in_c_torchs_two_guesses_are_not_told(tmp_path: Path) -> None:
    row = msgspec.structs.replace(
        broken("0/0", CALLS),
        explanation="Dynamo does not know how to trace the builtin `<unknown module>.Random.random.` This function is"
        " either a Python builtin (e.g. _warnings.warn) or a third-party C/C++ Python extension",
        hints=(
            "If it is a Python builtin, please file an issue on GitHub",
            "If it is a third-party extension, wrap it",
        ),
    )

    (one,) = told(tmp_path, row)

    assert "outside the compiled function" in one.to_do
    assert not one.is_torchs


def test_the_operators_that_lead_to_a_condition_are_not_told(tmp_path: Path) -> None:
    words = "Dynamo does not support tracing dynamic control flow."
    row = msgspec.structs.replace(
        broken("0/0", CALLS),
        explanation=f"{words} The branch condition involves a tensor computed as follows: # File net.py …",
    )

    (one,) = told(tmp_path, row)

    assert one.why == words


@pytest.mark.parametrize(
    ("operator", "code", "better"),
    [
        ("nonzero", "focal = focal[valid].mean()", "torch.where"),
        ("nonzero", "rows = torch.nonzero(x)", ""),
        ("_local_scalar_dense", "top, left = corner.tolist()", "torch.arange"),
        ("_local_scalar_dense", "log(loss.item())", ""),
    ],
)
def test_what_needs_no_size_or_number_is_told_beside_torchs_setting(
    tmp_path: Path, operator: str, code: str, better: str
) -> None:
    row = msgspec.structs.replace(
        broken("0/0", msgspec.structs.replace(CALLS, code=code)),
        explanation=f"Operator `aten.{operator}.default`'s output shape depends on input Tensor data.",
        hints=("Enable tracing of it with a setting.",),
    )

    (one,) = told(tmp_path, row)

    assert one.is_torchs
    assert better in one.instead
    assert bool(one.instead) == bool(better)


def test_a_compiler_that_fails_is_no_advice_to_file_an_issue(tmp_path: Path) -> None:
    row = msgspec.structs.replace(broken("0/0", CALLS), hints=("Report an issue to the backend compiler repo.",))

    (one,) = told(tmp_path, row)

    assert "issue" not in one.to_do
    assert not one.is_torchs
