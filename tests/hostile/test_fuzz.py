"""Dumps with faults in them, and dumps made up from the types of the facts, looked at through every view."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile import dumps
from tests.hostile.watch import look

SHORT = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)
LONG = settings(SHORT, derandomize=False)


def _look_at(files: dumps.Files) -> None:
    with tempfile.TemporaryDirectory() as folder:
        look(dumps.write(Path(folder) / "dump", files))


@settings(SHORT, max_examples=60)
@given(dumps.made_up())
def test_facts_that_no_compile_ever_gave(files: dumps.Files) -> None:
    _look_at(files)


@pytest.mark.parametrize(("name", "examples"), zip(dumps.RECORDED, (12, 12, 10, 3), strict=True))
def test_a_recorded_dump_with_faults(name: str, examples: int) -> None:
    settings(SHORT, max_examples=examples)(given(dumps.damaged(name))(_look_at))()


@pytest.mark.harmless
@pytest.mark.parametrize("strategy", [dumps.made_up(), *map(dumps.damaged, dumps.RECORDED)])
def test_many_more(strategy: st.SearchStrategy[dumps.Files]) -> None:
    settings(LONG, max_examples=500)(given(strategy)(_look_at))()


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("name", dumps.RECORDED)
def test_no_text_steers_the_terminal(tmp_path: Path, name: str, everything: bool) -> None:
    said = look(dumps.write(tmp_path / "dump", dumps.steering(name, everything=everything)))

    if not everything:
        assert "[bold red]m[/]".replace("/", "|") in said["show nodes --json"], "it is text, and shown as such"
        assert "[bold red]m[|]" in said["tui fx"]
