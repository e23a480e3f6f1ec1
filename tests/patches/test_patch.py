"""Changes as a diff: `git apply` takes it, and nothing else of a file is different."""

import subprocess
from pathlib import Path

import pytest

from inspect_compile.facts.trials import COMPILE, Change, Place
from inspect_compile.patches import patch

MODE = "reduce-overhead"


def patched(folder: Path, text: str, *changes: Change) -> str:
    """The text with the changes, by the diff; everything must have found its place."""
    script = folder / "train.py"
    script.write_text(text)
    found = patch(changes, script, folder)
    assert not found.by_hand
    (folder / "tune.patch").write_text(found.diff)
    subprocess.run(["git", "apply", "tune.patch"], cwd=folder, check=True)
    after = script.read_text()
    assert found.lines == len(set(after.splitlines()) - set(text.splitlines()))
    return after


def compile_at(folder: Path, *lines: int) -> Change:
    places = tuple(Place(str(folder / "train.py"), line) for line in lines)
    return Change("keyword", COMPILE, MODE, "mode", places)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("@torch.compile\ndef f(x):  # a comment\n    return x\n", '@torch.compile(mode="reduce-overhead")'),
        ("@compile( dynamic=True )\ndef f(x): return x\n", '@compile( dynamic=True, mode="reduce-overhead" )'),
        ("g = torch.compile(f)\n", 'g = torch.compile(f, mode="reduce-overhead")'),
        ("g = torch.compile(f, mode=None)\n", 'g = torch.compile(f, mode="reduce-overhead")'),
        ("model.compile()\n", 'model.compile(mode="reduce-overhead")'),
    ],
)
def test_an_argument_of_a_call(before: str, after: str, tmp_path: Path) -> None:
    found = patched(tmp_path, before, compile_at(tmp_path, 1))
    assert found == before.replace(before.splitlines()[0], after)


def test_a_call_of_several_lines_keeps_its_layout(tmp_path: Path) -> None:
    text = "g = torch.compile(\n    f,\n    dynamic=True,\n)\n"
    after = patched(tmp_path, text, compile_at(tmp_path, 1))
    assert after == 'g = torch.compile(\n    f,\n    dynamic=True,\n    mode="reduce-overhead",\n)\n'


def test_two_calls_on_one_line_are_left_to_a_person(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("a, b = torch.compile(f), torch.compile(g)\n")
    found = patch([compile_at(tmp_path, 1)], tmp_path / "train.py", tmp_path)
    assert found.by_hand == ("train.py:1: mode='reduce-overhead'",)
    assert not found.diff


def test_calls_are_told_apart_by_their_columns(tmp_path: Path) -> None:
    text = "é, b = torch.compile(f), torch.compile(g)\n"
    second = Change("keyword", COMPILE, MODE, "mode", (Place(str(tmp_path / "train.py"), 1, 26),))
    assert text.encode()[26:].startswith(b"torch.compile(g)")
    assert patched(tmp_path, text, second) == 'é, b = torch.compile(f), torch.compile(g, mode="reduce-overhead")\n'


def test_a_class_that_is_called_by_another_name(tmp_path: Path) -> None:
    text = "optimizer = kind(model.parameters(), lr=1e-3)\n"
    fused = Change("keyword", "AdamW", True, "fused", (Place(str(tmp_path / "train.py"), 1, 12),))
    assert patched(tmp_path, text, fused) == "optimizer = kind(model.parameters(), lr=1e-3, fused=True)\n"


def test_settings_stand_behind_the_import_of_torch(tmp_path: Path) -> None:
    text = '"""Trains."""\n\nfrom __future__ import annotations\n\nimport os\nimport torch\nfrom torch import nn\n'
    after = patched(
        tmp_path,
        text,
        Change("call", "torch.set_num_threads", 1),
        Change("setting", "torch._inductor.config.cpp_wrapper", True),
    )
    new = "torch.set_num_threads(1)\nimport torch._inductor.config\ntorch._inductor.config.cpp_wrapper = True\n"
    assert after == text.replace("import torch\n", f"import torch\n{new}")


def test_without_an_import_of_torch_they_bring_it(tmp_path: Path) -> None:
    text = '"""Trains."""\nfrom __future__ import annotations\nfrom mine import train\ntrain()\n'
    after = patched(tmp_path, text, Change("call", "torch.set_num_threads", 1))
    assert after == text.replace("from mine", "import torch\ntorch.set_num_threads(1)\nfrom mine")
