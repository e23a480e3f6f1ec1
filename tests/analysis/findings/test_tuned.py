"""What was tried on a program, among its findings."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings import tuned
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Run, TriedChange, Tuned
from inspect_compile.facts.trials import Change, Place, Repeated
from inspect_compile.knowledge.overview.findings import LAUNCH_BOUND, MISSED_FUSION, OPTIMIZER
from inspect_compile.tables.overview.findings import sure_text

FUSED = Change("keyword", "AdamW", True, "fused", (Place("train.py", 19),))
STEP = Repeated("optimizer step", "AdamW", Place("train.py", 26))


def dump_of(folder: Path, *rows: TriedChange) -> Dump:
    writer = Writer(folder)
    writer.run(Run(started="2026-01-01T00:00:00", argv=("train.py",)))
    for row in (Tuned(graph="", step=STEP, device="cpu", seconds=0.01, noise=0.02, runs=4, steps=90), *rows):
        writer.add(row)
    writer.flush()
    return Dump(folder)


def promise(kind: str, knob: str = "") -> Finding:
    return Finding(kind=kind, graph="", what="", knob=knob)


def test_what_helps_is_a_finding_with_its_measured_share(tmp_path: Path) -> None:
    row = TriedChange(
        graph="", words="AdamW(fused=True)", changes=(FUSED,), outcome="kept", gain=0.3, plus_minus=0.02, pairs=4
    )
    dump = dump_of(tmp_path, row)
    (found,) = tuned.found(dump, [], Costs(dump))
    assert found.seconds == pytest.approx(0.003)
    assert (found.share, found.to_do) == (0.3, "AdamW(fused=True)")
    assert sure_text(found) == "measured: 4 runs with it, each beside one without it"


@pytest.mark.parametrize(
    ("outcome", "is_answered"),
    [("kept", True), ("no gain", True), ("precision", True), ("failed", False), ("changes the numbers", False)],
)
def test_a_promise_that_was_tried_is_not_made_again(outcome: str, is_answered: bool, tmp_path: Path) -> None:
    row = TriedChange(graph="", words="AdamW(fused=True)", changes=(FUSED,), outcome=outcome, promised_by=OPTIMIZER)
    answered = tuned.answered(dump_of(tmp_path, row))
    assert answered(promise(OPTIMIZER)) is is_answered
    assert not answered(promise(LAUNCH_BOUND))


def test_a_setting_that_brought_nothing_is_not_proposed_again(tmp_path: Path) -> None:
    setting = Change("setting", "torch._inductor.config.combo_kernels", True)
    row = TriedChange(graph="", words="", changes=(setting,), outcome="no gain")
    answered = tuned.answered(dump_of(tmp_path, row))
    assert answered(promise(MISSED_FUSION, "combo_kernels"))
    assert not answered(promise(MISSED_FUSION, "max_fusion_size"))
