"""`%%inspect` in a kernel of Jupyter: what it shows, and that a cell runs as it does without it."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="of the extra `test`")
nbclient = pytest.importorskip("nbclient", reason="of the extra `test`")
pytest.importorskip("ipykernel", reason="of the extra `test`")

HEAD = """
import torch
@torch.compile
def f(x, y):
    return torch.relu(x @ y).sum(-1)
a, b = torch.ones(8, 16), torch.ones(16, 8)
"""
FAILS = "def g(x):\n    print('before')\n    return x / 0\n\n\ng(1)\n"
OBJECTS = """\
print(len(first.graphs()), len(second.graphs()), len(nothing.graphs()))
print(len(first.findings()), first.table('kernels').to_pandas().shape[0] == len(first.table('kernels')))
print(_)
"""
CELLS = (
    HEAD,
    "%load_ext inspect_compile",
    "%%inspect first -o one\nf(a, b)",
    "%%inspect\n" + FAILS,
    "%%inspect nothing\nprint('no torch here')\n6 * 7",
    "%%inspect second --recompile -o two\nr = f(a, b)\nr.shape",
    OBJECTS,
    "%load_ext inspect_compile\n%reload_ext inspect_compile",
    "%%inspect --no-such",
    "%%inspect -o one\n1",
    "%%time\n%%inspect fourth\n2",
    "%%inspect third -o three --recompile\nimport asyncio\nawait asyncio.sleep(0)\nf(a, b).sum().item()",
    "import inspect_compile\nwith inspect_compile.capture('four', recompile=True) as dump:\n    f(a, b)\ndump",
    "# alone\n" + FAILS,
    "!echo still here",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """What each cell put out."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client = nbclient.NotebookClient(
        notebook, timeout=240, allow_errors=True, resources={"metadata": {"path": str(folder)}}, kernel_name="python3"
    )
    client.execute()
    return [cell.outputs for cell in notebook.cells]


def cell(start: str) -> int:
    """The number of the only cell that begins with `start`."""
    (found,) = (number for number, text in enumerate(CELLS) if text.startswith(start))
    return found


def html(shown: Sequence[Any]) -> str:
    return "".join(one.data.get("text/html", "") for one in shown if one.output_type == "display_data")


def texts(shown: Sequence[Any]) -> str:
    return "".join(one.text for one in shown if one.output_type == "stream")


def test_a_cell_shows_what_it_compiled(outputs: list[list[Any]]) -> None:
    shown = outputs[cell("%%inspect first")]
    page = html(shown)
    assert 'class="inspect-compile"' in page
    assert "1 graph" in page
    assert "data:image/svg+xml;base64," in page
    assert len(page) < 200_000
    (value,) = (one for one in shown if one.output_type == "execute_result")
    assert "tensor" in value.data["text/plain"]


def test_a_cell_that_fails_fails_as_without_it(outputs: list[list[Any]]) -> None:
    """The same traceback, but for the first line of the cell."""
    recorded, plain = outputs[cell("%%inspect\ndef g")], outputs[cell("# alone")]
    assert texts(recorded) == texts(plain) == "before\n"
    traces = []
    for shown in (recorded, plain):
        (error,) = (one for one in shown if one.output_type == "error")
        assert error.ename == "ZeroDivisionError"
        lines = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback)).splitlines()
        traces.append([re.sub(r"In\[\d+\]", "In", line) for line in lines if not re.search("inspect|alone", line)])
    assert traces[0] == traces[1]
    assert len(traces[0]) > 10
    assert "nothing is recorded" in html(recorded)


def test_a_cell_that_compiles_nothing_says_why(outputs: list[list[Any]]) -> None:
    shown = outputs[cell("%%inspect nothing")]
    assert texts(shown) == "no torch here\n"
    assert [one.data["text/plain"] for one in shown if one.output_type == "execute_result"] == ["42"]
    assert "everything in it was compiled before" in html(shown)


def test_recordings_are_objects(outputs: list[list[Any]]) -> None:
    lines = texts(outputs[cell("print(len(first")]).splitlines()
    assert lines[0] == "1 1 0"
    assert lines[1].endswith("True")
    assert lines[2] == "torch.Size([8])"


def test_loading_it_again_changes_nothing(outputs: list[list[Any]]) -> None:
    assert not [one for one in outputs[cell("%load_ext inspect_compile\n%reload")] if one.output_type == "error"]
    assert html(outputs[cell("%%inspect third")]).count('class="inspect-compile"') == 1


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("%%inspect --no-such", "unrecognized arguments: --no-such"),
        ("%%inspect -o one", "name a new directory"),
    ],
)
def test_what_is_refused_is_told_in_a_line(outputs: list[list[Any]], start: str, told: str) -> None:
    shown = outputs[cell(start)]
    assert told in texts(shown)
    assert not [one for one in shown if one.output_type == "execute_result"]


def test_it_goes_with_other_magics(outputs: list[list[Any]]) -> None:
    shown = outputs[cell("%%time")]
    assert "Wall time" in texts(shown)
    assert "everything in it was compiled before" in html(shown)


def test_await_works(outputs: list[list[Any]]) -> None:
    shown = outputs[cell("%%inspect third")]
    assert [one.data["text/plain"] for one in shown if one.output_type == "execute_result"] == ["1024.0"]
    assert "1 graph" in html(shown)


def test_capture_shows_itself(outputs: list[list[Any]]) -> None:
    (shown,) = (one for one in outputs[cell("import inspect_compile")] if one.output_type == "execute_result")
    assert 'class="inspect-compile"' in shown.data["text/html"]
    assert re.fullmatch(r"Recording\('.*four'\)", shown.data["text/plain"])


def test_the_kernel_lives(outputs: list[list[Any]]) -> None:
    assert texts(outputs[-1]).strip() == "still here"
    assert all(isinstance(one, list) for one in outputs)
    assert Path.cwd().joinpath("one").exists() is False
