"""In which order changes are tried: what their runs would measure is given, for here is no GPU."""

import math
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.compare.paired import Numbers
from inspect_compile.facts import TriedChange
from inspect_compile.facts.trials import Answer, Change, Place, Repeated, Window
from inspect_compile.knowledge.tuning import Candidate
from inspect_compile.launch.tune import search
from inspect_compile.launch.tune.trials import Ran, Trials

HERE = (Place("a.py", 1),)
FUSED = Candidate((Change("keyword", "AdamW", True, "fused", HERE),), predicted=0.4)
GRAPHS = Candidate((Change("keyword", "torch.compile", "reduce-overhead", "mode", HERE),))
OTHERS = tuple(Candidate((Change("setting", f"torch._inductor.config.{name}", True),)) for name in ("a", "b", "c", "d"))
STEP = Repeated("optimizer step", "AdamW", HERE[0], since_compile=9999, seconds=0.01)


class Given(Trials):
    """A program that waits for the host: one of two changes helps alone, the other one only on top of it."""

    def __init__(self, alone: Candidate) -> None:
        self._alone = alone

    def run(self, trials: Any, **asked: Any) -> list[Ran]:
        return [Ran(self._answer(one.get("changes", ())), "", 1.0, Path()) for one in trials]

    def _answer(self, changes: tuple[Change, ...]) -> Answer:
        has = {one for one in (FUSED, GRAPHS) if one.changes[0] in changes}
        seconds = 0.4 if len(has) == 2 else 0.7 if has == {self._alone} else 1.0
        return Answer(windows=tuple(Window(turn, seconds) for turn in range(6)))


@pytest.mark.parametrize(("first", "then"), [(FUSED, GRAPHS), (GRAPHS, FUSED)])
def test_what_helps_once_something_is_kept_comes_right_behind_it(
    first: Candidate, then: Candidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "at_once", lambda _: 2)
    monkeypatch.setattr(search, "numbers", lambda *_: Numbers("equal"))
    rows: list[TriedChange] = []
    tried = search.Search(Given(first), STEP, search.Windows(6, 1, 1), Answer(), math.inf, rows.append)

    tried.begin(None)
    tried.search([FUSED, GRAPHS, *OTHERS], with_precision=False)

    assert [(row.words, row.outcome) for row in rows[:4]] == [
        (then.words, "no gain"),
        (first.words, "kept"),
        (OTHERS[0].words, "no gain"),  # it was tried beside the next one
        (then.words, "kept"),
    ]
    assert {row.words for row in rows[4:]} == {one.words for one in OTHERS}
    together = tried.together()
    assert together is not None
    assert together.part == pytest.approx(0.6)
