"""Which probes a dump lacks: those that failed, and those of functions that the run's torch should have had."""

from pathlib import Path

import pytest

from inspect_compile.analysis.dumps.hooks import disabled
from inspect_compile.facts import Hook, Run
from tests.handmade import made


@pytest.mark.parametrize(
    ("torch", "missed"),
    [
        ("2.11.0+cu130", ["gone"]),
        ("2.13.0", ["gone", "new"]),
        ("2.16.0a0+git1", ["gone", "new"]),
        ("", ["gone", "new"]),
    ],
)
def test_what_a_torch_was_too_old_for_is_not_missed(tmp_path: Path, torch: str, missed: list[str]) -> None:
    hooks = (
        Hook(probe="one", target="gone", state="missing", since="2.11"),
        Hook(probe="one", target="new", state="missing", since="2.13"),
        Hook(probe="two", target="there", state="closed"),
    )
    versions = {"torch": torch} if torch else {}
    dump = made(tmp_path, *hooks, run=Run(status="finished", argv=("net.py",), versions=versions))
    assert sorted(row.target for row in disabled(dump)) == missed
