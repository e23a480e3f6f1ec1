"""Why a run has no graph is said in the same words wherever a person looks."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.dumps.nothing import nothing, nothing_text
from inspect_compile.child import exit_summary
from inspect_compile.child.recorder import Tally
from inspect_compile.commands import main
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import CacheLookup, Fact, Frame, Graph, Remark, Run
from inspect_compile.tui.models.run.pages import run_page

FRAME = Frame(graph="0/0", function="f", file="a.py", line=1, status="compiled")
FAILED = Frame(graph="0/0", function="f", file="a.py", line=1, status="failed", reason="ValueError: no such thing")
SKIPPED = replace(FRAME, status="skipped", reason="Unsupported: no such call\n  Explanation: …")
REFUSED = Remark(kind="missed", code="target-not-sent", message="graph 0/0 was not compiled: it is too strange")
HIT = CacheLookup(cache="fx_graph", outcome="hit")
REASONS = [
    ((), "torch.compile was never called"),
    ((FRAME,), "Dynamo compiled 1 frame, and no graph reached Inductor"),
    ((SKIPPED,), "Dynamo skipped f: no such call"),
    ((SKIPPED, replace(SKIPPED, function="g")), "Dynamo skipped f: no such call, and 1 more frame"),
    ((SKIPPED, FRAME), "and no graph reached Inductor (another backend"),
    ((replace(FRAME, status="no graph"),), "Dynamo looked at 1 frame, and no graph reached Inductor"),
    ((FRAME, HIT), "every graph came from torch's caches; run without --cache keep"),
    ((FRAME, REFUSED), REFUSED.message),
    ((FRAME, REFUSED, FAILED), "a compile failed: ValueError: no such thing, and Dynamo compiled 1 frame for another"),
    ((FAILED,), "a compile failed: ValueError: no such thing"),
]


def _dump(root: Path, *facts: Fact) -> Dump:
    writer = Writer(root)
    writer.run(
        Run(
            argv=("a.py",),
            cwd="/",
            pid=1,
            parent_pid=0,
            started="",
            status="finished",
            cache="keep",
            targets=("sm_90",),
            tables={},
        )
    )
    for fact in facts:
        writer.add(fact)
    writer.flush()
    return Dump(root)


@pytest.mark.parametrize(("facts", "reason"), REASONS)
def test_one_account(
    facts: tuple[Fact, ...],
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    dump = _dump(tmp_path / "d", *facts)
    tally = Tally()
    for fact in facts:
        tally.add(fact)

    assert reason in nothing_text(dump)
    assert reason in exit_summary.compose(tally, "d", saw_torch=True)[0]
    page = run_page(dump, has_program=False)
    assert reason in " ".join(line.plain for line in page)
    for words in ("summary", "kernels", "memory", "graphs", "roofline", "measured", "calls", "realize"):
        assert main(["show", str(dump.root), words]) == 0
        told = capsys.readouterr().out.count(reason.partition("; ")[0])
        assert told == 1 or (words == "summary" and told == 2), words
    for words in ("node relu", "kernel foo", "kernel foo --stage ptx"):
        assert main(["show", str(dump.root), *words.split()]) == 2
        assert reason in capsys.readouterr().err
    assert main(["name", str(dump.root), "triton_poi_fused_relu_0"]) == 1
    assert reason in capsys.readouterr().err
    if not facts:
        for words in ("dynamo", "guards", "time"):
            assert main(["show", str(dump.root), words]) == 0
            assert reason in capsys.readouterr().out
    assert main(["show", str(dump.root), "--target", "sm_90"]) == 2
    assert reason in capsys.readouterr().err


def test_what_a_target_told_counts(tmp_path: Path) -> None:
    outer = _dump(tmp_path / "d", FRAME)
    _dump(tmp_path / "d" / "target_sm_90", REFUSED)
    outer.refresh()

    assert REFUSED.message in nothing_text(outer)
    said = exit_summary.compose(Tally(), "d", saw_torch=True, refused=[REFUSED.message])
    assert REFUSED.message in said[0]
    assert said[0].startswith("inspect-compile: nothing to show: ")

    _dump(tmp_path / "e", FRAME)
    _dump(tmp_path / "e" / "target_sm_90", REFUSED, Graph(graph="g.0", kind="inference"))
    assert nothing(Dump(tmp_path / "e")) is None
    assert exit_summary.compose(Tally(), "d", saw_torch=True, targets=["sm_90"], refused=[REFUSED.message]) == [
        "inspect-compile: what was compiled for sm_90 in d; see: inspect-compile show d",
        f"inspect-compile: {REFUSED.message}",
    ]


def test_what_was_loaded_without_a_compile_asks_for_no_other_setting(tmp_path: Path) -> None:
    """Such a run has no `--cache keep` to leave out."""
    writer = Writer(tmp_path)
    writer.run(Run(argv=("a.py",), status="finished", cache="bypass", tables={}))
    writer.add(HIT)
    writer.flush()
    tally = Tally(keeps_caches=False)
    tally.add(HIT)

    assert nothing_text(Dump(tmp_path)) == "nothing was compiled: the program loaded what had been compiled before"
    assert "the program loaded what had been compiled before" in exit_summary.compose(tally, "d", saw_torch=True)[0]
