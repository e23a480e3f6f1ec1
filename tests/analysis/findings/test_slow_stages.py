"""Parts of compiling that take long and can be left out, from facts written down here."""

from pathlib import Path

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.facts import Fact, Pass, Timed
from inspect_compile.graph import Graphs
from inspect_compile.tables.overview.findings import cost_text
from tests.handmade import ended, graph, made, node

FRAME = "entire_frame_compile"
TUNING = "CachingAutotuner.coordinate_descent_tuning"


def compiled(seconds: float, *inside: tuple[str, float]) -> list[Timed]:
    found, at = [Timed(graph="0/0", name=FRAME, start=100.0, seconds=seconds)], 100.0
    for name, took in inside:
        found.append(Timed(graph="0/0", name=name, start=at, seconds=took))
        at += took
    return found


def ran(defined: str, seconds: float, index: int, kind: str = "pass") -> Pass:
    return Pass(
        graph="0/0", index=index, parent=None, stage="post_grad", kind=kind, name="post_grad_custom_pre_pass",
        defined=defined, seconds=seconds,
    )  # fmt: skip


def told(root: Path, *facts: Fact) -> list[Finding]:
    return [row for row in findings(Graphs(made(root, graph(), node("x"), ended(), *facts))) if row.seconds]


def test_autotuning_that_takes_a_fifth_of_compiling(tmp_path: Path) -> None:
    (found,) = told(tmp_path / "long", *compiled(20.0, (TUNING, 5.0)))
    assert (cost_text(found), found.why) == ("5 s of compiling", "5.0 of 20.0 s of compiling")
    assert "TORCHINDUCTOR_CACHE_DIR" in found.to_do
    assert told(tmp_path / "short", *compiled(30.0, (TUNING, 5.0))) == []
    assert told(tmp_path / "quick", *compiled(3.0, (TUNING, 0.9))) == []


def test_a_pass_of_the_program_and_none_of_torchs(tmp_path: Path) -> None:
    mine, own, torchs = "/train/passes.py:7", "/venv/lib/python3.11/site-packages/x/a.py:3", "torch/_inductor/fx.py:4"
    passes = [
        ran(f"remove_casts {mine}", 3.0, 0),
        ran(f"remove_casts {mine}", 2.0, 1),
        ran(f"other {own}", 5.0, 2),
        ran(f"pointless {torchs}", 5.0, 3),
        ran(f"a stage {mine}", 15.0, 4, "stage"),
        ran("", 5.0, 5),
    ]
    (found,) = told(tmp_path, *compiled(20.0), *passes)
    assert found.parts[0].where is not None
    assert (found.parts[0].where.file, found.parts[0].where.line) == ("/train/passes.py", 7)
    assert found.why == "as post_grad_custom_pre_pass, 2 times: 5.0 of 20.0 s of compiling"
