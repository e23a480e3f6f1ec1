"""Each sample prints the same every time, under inspection as alone, and says what to look at."""

import ast
from pathlib import Path

import pytest

from tests.conftest import SAMPLES, DumpOf, Golden, PlainOf
from tests.running import without_last_words

NAMES = [
    "attention_block",
    "conditional",
    "conv_bias",
    "ddp_step",
    "dynamic_shapes",
    "flex_attention",
    "graph_breaks",
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


@pytest.mark.parametrize("name", NAMES)
def test_prints(name: str, dump_of: DumpOf, golden: Golden) -> None:
    """What it printed alone, when the golden file was written; tests/witness/test_same_code.py runs some alone too."""
    result = dump_of(name).result
    assert result.returncode == 0, result.stderr
    golden.check(result.stdout)


@pytest.mark.harmless
@pytest.mark.parametrize("name", NAMES)
def test_prints_alone(name: str, dump_of: DumpOf, plain_of: PlainOf) -> None:
    watched, plain = dump_of(name).result, plain_of(name).result
    assert (plain.returncode, plain.stdout) == (watched.returncode, watched.stdout)
    assert without_last_words(plain.stderr) == without_last_words(watched.stderr)
