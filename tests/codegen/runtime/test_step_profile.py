"""`run --measure` profiles some steps by itself, and leaves a program alone that profiles itself."""

import subprocess
from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.runtime.step_of_dump import recorded_account
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Hook, StepsProfiled
from inspect_compile.graph import Graphs
from tests.private_names import astray
from tests.running import inspected, plain

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "steps.py"


def measured(folder: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], Dump, StepsProfiled]:
    done = inspected([PROGRAM, *arguments], folder, options=["--measure"])
    assert done.returncode == 0, done.stderr
    dump = Dump(folder / "dump")
    assert astray(dump.rows(Hook)) == {}
    (found,) = dump.rows(StepsProfiled)
    return done, dump, found


def test_steps_in_which_nothing_is_compiled_are_timed_and_profiled(tmp_path: Path) -> None:
    done, dump, found = measured(tmp_path, "40")

    alone = plain([PROGRAM, "40"], tmp_path)
    assert done.stdout == alone.stdout
    assert "profiler" not in done.stderr
    assert (found.calls, len(found.each), found.profiled_calls, found.why_not) == (8, 8, 16, "")
    account = recorded_account(dump)
    assert account is not None
    assert (account.step.by, account.step.steps, account.step.plain_steps) == ("Optimizer.step#SGD.step", 15, 8)
    assert sum(row.seconds for row in account.rows) == pytest.approx(account.step.seconds)
    assert "optimizer" in {row.kind for row in account.rows}
    assert "optimizer" in {row.kind for row in findings(Graphs(dump))}
    assert (dump.root / paths.STEPS_TRACE).stat().st_size < 100_000


@pytest.mark.parametrize(
    ("arguments", "why_not"),
    [
        (("3",), "after the last compile compiled functions were called 2 times only"),
        (("20", "profile"), "the program uses torch.profiler itself"),  # while ours runs
    ],
)
def test_what_keeps_steps_from_being_profiled_is_said(tmp_path: Path, arguments: tuple[str, ...], why_not: str) -> None:
    done, dump, found = measured(tmp_path, *arguments)

    assert found == StepsProfiled(why_not=why_not)
    assert recorded_account(dump) is None
    assert ("3 steps in my profile" in done.stdout) == ("profile" in arguments)


def test_operators_outside_of_graphs_have_the_line_that_calls_them(tmp_path: Path) -> None:
    """As the program's own tracer sees it, which stays where it is."""
    program = PROGRAM.with_name("eager_lines.py")
    done = inspected([program, "40"], tmp_path, options=["--measure"])
    dump = Dump(tmp_path / "dump")
    assert (done.returncode, done.stdout) == (0, plain([program, "40"], tmp_path).stdout)
    assert astray(dump.rows(Hook)) == {}
    account = recorded_account(dump)
    assert account is not None
    lines = {text.rpartition("# ")[2]: number for number, text in enumerate(program.read_text().splitlines(), 1)}
    named = {number: name for name, number in lines.items()}
    eager = [row for row in account.rows if row.kind == "eager operators" and row.what.startswith("aten::")]
    found = {(row.what, named.get(row.line.line, "") if row.line else None) for row in eager}
    assert {
        ("aten::mul_", "loop"),
        ("aten::add_", "loop"),
        ("aten::matmul", "product"),
        ("aten::mul", "scale"),
        ("aten::mul", "read"),
        ("aten::sum", "read"),
        ("aten::mean", "read"),
        ("aten::item", "read"),
    } <= found
    assert all(row.line is None or Path(row.line.file).name == program.name for row in account.rows)
    counts = {row.what: row.count for row in eager if row.line and row.line.line == lines["loop"]}
    assert counts == {"aten::mul_": 4, "aten::add_": 4}


def test_a_profile_of_the_programs_own_ends_the_look_at_lines_and_keeps_ours(tmp_path: Path) -> None:
    _, dump, found = measured(tmp_path, "31", "profile")
    assert (found.profiled_calls, found.why_not) == (16, "")
    assert recorded_account(dump) is not None
