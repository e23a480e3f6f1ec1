"""Each sample runs by itself as a user would start it, prints the same every time, and says what to look at."""

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import SAMPLES, Golden, PlainOf

NAMES = [
    "attention_block",
    "conditional",
    "conv_bias",
    "ddp_step",
    "dynamic_shapes",
    "flex_attention",
    "graph_breaks",
    "missed_fusion",
    "softmax_mlp",
    "training_step",
    "two_models",
    "user_triton_kernel",
]


def test_every_sample_is_listed() -> None:
    assert sorted(path.stem for path in SAMPLES.glob("*.py")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_first_line_says_what_to_look_at(name: str) -> None:
    docstring = ast.get_docstring(ast.parse(Path(SAMPLES / f"{name}.py").read_text(encoding="utf-8")))
    assert docstring is not None
    assert docstring.startswith("Look at ")
    assert docstring.splitlines()[0].endswith(".")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.harmless) if name == "ddp_step" else name for name in NAMES]
)
def test_prints(name: str, plain_of: PlainOf, golden: Golden) -> None:
    result = plain_of(name).result
    assert result.returncode == 0, result.stderr
    golden.check(result.stdout)


def test_the_demo_asks_why_about_lines_of_the_sample() -> None:
    """`make demo` ends on the `why` of two lines, which stay what is computed, and what is transposed."""
    recipe = (SAMPLES.parent / "Makefile").read_text(encoding="utf-8")
    lines = (SAMPLES / "missed_fusion.py").read_text(encoding="utf-8").splitlines()

    numbers = [int(found) for found in re.findall(r"\$\(SAMPLE\):(\d+)", recipe)]

    assert "SAMPLE := missed_fusion.py" in recipe
    assert len(numbers) == 2
    assert lines[numbers[0] - 1].lstrip().startswith("scores = ")
    assert "scores.t()" in lines[numbers[1] - 1]
