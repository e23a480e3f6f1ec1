"""Dumps with faults in them, and dumps made up from the types of the facts, looked at through every view."""

import shutil
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hostile import dumps
from tests.hostile.views import said
from tests.hostile.watch import STEERS, look

SHORT = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)
LONG = settings(SHORT, derandomize=False)


def _look_at(files: dumps.Files) -> None:
    with tempfile.TemporaryDirectory() as folder:
        look(dumps.write(Path(folder) / "dump", files))


@settings(SHORT, max_examples=25)
@given(dumps.made_up())
def test_facts_that_no_compile_ever_gave(files: dumps.Files) -> None:
    _look_at(files)


@pytest.mark.parametrize(("name", "examples"), zip(dumps.RECORDED, (5, 5, 4, 2), strict=True))
def test_a_recorded_dump_with_faults(name: str, examples: int) -> None:
    settings(SHORT, max_examples=examples)(given(dumps.damaged(name))(_look_at))()


@pytest.mark.harmless
@pytest.mark.parametrize("strategy", [dumps.made_up(), *map(dumps.damaged, dumps.RECORDED)])
def test_many_more(strategy: st.SearchStrategy[dumps.Files]) -> None:
    settings(LONG, max_examples=500)(given(strategy)(_look_at))()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", dumps.RECORDED[:3])
def test_a_drawing_holds_text_and_shapes_only(tmp_path: Path, name: str) -> None:
    root = dumps.write(tmp_path / "dump", dumps.steering(name, everything=False))

    assert said("draw", root, "--phase", "after", "-o", tmp_path / "drawn.svg").status == 0

    text = (tmp_path / "drawn.svg").read_text()
    assert STEERS.search(text) is None
    kinds = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()}
    assert kinds <= {"svg", "style", "rect", "g", "title", "text", "path", "polygon", "polyline", "ellipse"}
    assert "[bold red]m[|]" in text


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("name", dumps.RECORDED)
def test_no_text_steers_the_terminal(tmp_path: Path, name: str, everything: bool) -> None:
    found = look(dumps.write(tmp_path / "dump", dumps.steering(name, everything=everything)))

    if not everything:
        assert "[bold red]m[|]" in found["show nodes --json"], "it is text, and shown as such"
        assert "[bold red]m[|]" in found["tui fx"]
