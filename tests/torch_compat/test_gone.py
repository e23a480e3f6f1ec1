"""A name that torch has given up costs what it was needed for, and never the program."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.dump import Dump
from inspect_compile.lowering.core import values
from inspect_compile.lowering.fusion import fusion
from inspect_compile.torch_compat import Frame, Name
from tests.running import inspected

LACKING = """
import sys
import torch
del sys.modules["torch.optim.optimizer"]._get_foreach_kernels_supported_devices
import torch._dynamo.convert_frame
print("went on")
"""


def test_one_that_is_needed_for_a_target(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LACKING)

    done = inspected(["script.py"], tmp_path, options=["--target", "sm_90"])

    assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr
    (note,) = Dump(tmp_path / "dump").run.notes
    assert note.startswith(
        "inspect_compile.lowering.intervention.cross_compile.program.retrace:install: not all graphs were compiled for "
        "the targets"
    )
    assert "_get_foreach_kernels_supported_devices" in note


def test_a_name_is_loaded_with_its_module() -> None:
    assert Name("xml.dom", "minidom", "").load().__name__ == "xml.dom.minidom"
    assert Name("xml.dom", "minidom.parse", "").load().__name__ == "parse"
    with pytest.raises(AttributeError):
        Name("xml.dom", "gone", "").load()
    with pytest.raises(ImportError):
        Name("xml.gone", "any", "").load()


HERE = Frame(__name__, "outer", ("first", "gone"), "")


def outer() -> list[dict[str, Any]]:
    first = 1
    return inner(first)


def inner(first: int) -> list[dict[str, Any]]:
    return list(values.frames_of(HERE))


def test_of_the_variables_of_a_frame_those_are_read_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Frame, "file", "test_gone.py")
    assert outer() == [{"first": 1}]
    assert inner(1) == []


def closure(first: int) -> Iterator[Any]:
    second: int
    yield lambda: (first, second)
    second = 2
    yield second


def test_of_the_variables_of_a_closure_those_are_read_that_are_set() -> None:
    frame = Frame("", "", ("first", "second", "third"), "")
    function = next(closure(1))
    assert values.enclosed(function, frame) == {"first": 1}
    assert values.enclosed(len, frame) == {}


@pytest.mark.parametrize(
    "local",
    [
        pytest.param({}, id="both times"),
        pytest.param({"ms1": 1.0, "ms2": 2.0}, id="what knows the names"),
        pytest.param({"ms1": 1.0, "ms2": 2.0, "log_fusion": lambda: None}, id="the names themselves"),
    ],
)
def test_a_benchmark_without_the_variables_that_name_its_pair_is_none(local: dict[str, Any]) -> None:
    assert fusion._pair_of(local) is None
