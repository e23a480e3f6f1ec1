"""What is advised where a function was compiled again: by what has changed since the nearest earlier compile. That the
advice removes the recompiles is tried in `test_recompile_advice.py`.
"""

from pathlib import Path

import pytest
import torch
from torch._dynamo.testing import CompileCounter

from inspect_compile.analysis.findings.every import findings
from inspect_compile.facts import FailedGuard, Guard, Location, Recompile, ShapeGuard
from inspect_compile.graph import Graphs
from tests.handmade import made


def advice(root: Path, *changes: tuple[str, str, str], function: str = "step") -> str:
    failed = tuple(
        FailedGuard(compile_id="0/0", condition="…", what=what, before=before, after=after)
        for what, before, after in changes
    )
    row = Recompile(
        graph="0/1", function=function, file="/home/user/net.py", line=3, reasons=("0/0: …",), failed=failed
    )
    (found,) = [row for row in findings(Graphs(made(root, row))) if row.kind == "recompile"]
    return found.to_do


@pytest.mark.parametrize("values", [(4, 5, 6), (0.5, 0.25, 0.125)])
def test_numbers_are_dynamic_from_the_first_call_on_if_asked_for(
    tmp_path: Path, values: tuple[float, float, float]
) -> None:
    def compiles(*, dynamic: bool | None) -> int:
        torch._dynamo.reset()
        counted = CompileCounter()
        scaled = torch.compile(lambda x, n: x * n, backend=counted, dynamic=dynamic)
        for value in values:
            scaled(torch.ones(8), value)
        return int(counted.frame_count)

    to_do = advice(tmp_path, ("n", str(values[0]), str(values[1])))

    assert (compiles(dynamic=None), compiles(dynamic=True)) == (2, 1)
    assert "dynamic=True" in to_do
    assert "mark_dynamic" not in to_do


def test_a_number_that_a_global_keeps_is_to_be_changed_outside(tmp_path: Path) -> None:
    to_do = advice(tmp_path, ("G['log']['loss']", "0.0", "0.75"))

    assert "keep it in a tensor" in to_do
    assert ".item()" not in to_do


@pytest.mark.parametrize("what", ["len(caches[0])", "len(G['history'])"])
def test_a_length_is_no_size(tmp_path: Path, what: str) -> None:
    to_do = advice(tmp_path, (what, "1", "2"))

    assert "one tensor of a fixed size" in to_do
    assert "mark_dynamic" not in to_do


def test_a_list_that_is_no_longer_empty_has_another_length(tmp_path: Path) -> None:
    failed = FailedGuard(compile_id="0/0", condition="not caches[0]")
    row = Recompile(
        graph="0/1", function="step", file="net.py", line=3, reasons=("0/0: not caches[0]",), failed=(failed,)
    )
    (found,) = [row for row in findings(Graphs(made(tmp_path, row))) if row.kind == "recompile"]

    assert "changes its length" in found.to_do


@pytest.mark.parametrize(
    ("what", "before", "after", "word"),
    [
        ("requires_grad of h", "False", "True", "gradient"),
        ("mode", "'a'", "'b'", "compute what depends on it before the call"),
        ("stride of x in dimension 0", "320", "384", "x.contiguous()"),
        ("size of x in dimension 1", "320", "384", "mark_dynamic(x, 1)"),
        ("(24 + 24*(x.size()[1] // 256))", "768", "", "assumes this condition"),
    ],
)
def test_each_kind_of_change_has_its_own(tmp_path: Path, what: str, before: str, after: str, word: str) -> None:
    to_do = advice(tmp_path, (what, before, after))

    assert word in to_do
    assert ("mark_dynamic" in to_do) == ("mark_dynamic" in word)


def test_two_changes_have_both_kinds(tmp_path: Path) -> None:
    to_do = advice(tmp_path, ("width", "64", "96"), ("size of x in dimension 0", "8", "9"))

    assert to_do.count("dynamic=True") == to_do.count("mark_dynamic") == 1


def test_of_a_rest_the_line_of_the_break_is_named(tmp_path: Path) -> None:
    rest = "Net.torch_dynamo_resume_in_forward_at_42"

    computed = advice(tmp_path / "computed", ("size of ___stack0 in dimension 0", "8", "9"), function=rest)
    passed = advice(tmp_path / "passed", ("size of x in dimension 0", "8", "9"), function=rest)

    assert computed == "fix the graph break at net.py:42: its values then stay in the graph"
    assert passed.startswith("fix the graph break at net.py:42")
    assert "mark_dynamic" in passed


def test_a_size_that_a_loop_needs_is_not_to_be_marked(tmp_path: Path) -> None:
    def looped(x: torch.Tensor) -> torch.Tensor:
        total = x.new_zeros(())
        for row in x.unbind(0):
            total = total + row.sum()
        return total

    torch._dynamo.reset()
    marked = torch.ones(5, 3)
    torch._dynamo.mark_dynamic(marked, 0)
    with pytest.raises(Exception, match="Constraints violated"):
        torch.compile(looped, backend="eager")(marked)

    size = FailedGuard(compile_id="0/0", condition="…", what="size of x in dimension 0", before="5", after="6")
    again = Recompile(graph="0/1", function="looped", file="net.py", line=3, reasons=("0/0: …",), failed=(size,))
    fixed = ShapeGuard(
        graph="0/1",
        what="specialization",
        expression="s77 == 6",
        sources=("s77 = L['x'].size()[0]",),
        reason="range_refined_to_singleton",
        where=Location("net.py", 5, "looped"),
    )
    (found,) = [row for row in findings(Graphs(made(tmp_path, again, fixed))) if row.kind == "recompile"]

    assert found.to_do.startswith("net.py:5 needs a changing size as a number")
    assert "pad" in found.to_do


def again(number: int, *failed: FailedGuard) -> Recompile:
    return Recompile(graph=f"0/{number}", function="step", file="net.py", line=3, reasons=("…",), failed=failed)


def changed(earlier: int, what: str, before: str, after: str, line: int = 0) -> FailedGuard:
    where = Location("net.py", line, "step") if line else None
    return FailedGuard(
        compile_id=f"0/{earlier}", condition=f"{what} == {before}", what=what, before=before, after=after, where=where
    )


def test_the_cause_is_what_recurs_against_the_newest_compile(tmp_path: Path) -> None:
    """torch also names what has changed since older compiles; that does not count."""
    rows = [
        again(1, changed(0, "cfg.n", "0", "1", 18)),
        again(2, changed(1, "name", "'b'", "'c'", 17), changed(0, "cfg.n", "0", "2", 18)),
        again(3, changed(2, "name", "'c'", "'d'", 17), changed(0, "cfg.n", "0", "3", 18)),
    ]
    (found,) = [row for row in findings(Graphs(made(tmp_path, *rows))) if row.kind == "recompile"]

    assert found.why == "name, in 2 of 3: 'b' → 'c' → 'd'; cfg.n, in 1 of 3: 0 → 1"
    assert found.to_do.startswith("Dynamo treats name as a constant")
    assert found.to_do.endswith("that leaves 1 of 3 recompiles: cfg.n")
    assert found.parts[0].where is not None
    assert found.parts[0].where.line == 17


def test_what_else_has_changed_is_found_in_the_guards(tmp_path: Path) -> None:
    """torch names the first guard that failed; `name` had changed as well."""
    names = [
        Guard(graph=f"0/{number}", kind="CONSTANT_MATCH", source="L['name']", code=(f"L['name'] == '{letter}'",))
        for number, letter in enumerate("abc")
    ]
    rows = [again(1, changed(0, "cfg.n", "0", "1")), again(2, changed(1, "name", "'b'", "'c'"))]
    (found,) = [row for row in findings(Graphs(made(tmp_path, *names, *rows))) if row.kind == "recompile"]

    assert found.why == "name, in 2 of 2: 'a' → 'b' → 'c'; cfg.n, in 1 of 2: 0 → 1"


def test_an_older_compile_that_differs_in_less_is_the_one_to_compare_with(tmp_path: Path) -> None:
    """Train and eval take turns; then the size changes."""
    flags = [
        Guard(graph=f"0/{number}", kind="CONSTANT_MATCH", source="L['train']", code=(f"L['train'] == {flag}",))
        for number, flag in enumerate((True, False, True))
    ]
    size = "size of x in dimension 0"
    rows = [
        again(1, changed(0, "train", "True", "False")),
        again(2, changed(1, size, "8", "9"), changed(0, size, "8", "9")),
    ]
    (found,) = [row for row in findings(Graphs(made(tmp_path, *flags, *rows))) if row.kind == "recompile"]

    assert found.why == "train, in 1 of 2: True → False; size of x in dimension 0, in 1 of 2: 8 → 9"
