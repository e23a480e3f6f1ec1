"""What a guard met where it could not be checked is told as that, and not as a condition."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings.frontend.recompiles import change_words
from inspect_compile.dump import open_dump
from inspect_compile.facts import FailedGuard, Recompile
from tests.running import inspected

PROGRAM = """
import torch

@torch.compile(backend="eager", dynamic=True)
def called(function, x):
    return function(x)

def closed(value):
    return lambda x: x + value if value is not None else x.sin()

def open_one(x):
    return x.cos()

for function in (closed(torch.ones(3)), closed(None), open_one):
    called(function, torch.ones(3))

@torch.compile(backend="eager")
def reads(values, x):
    return x * values["a"]["b"]

reads({"a": {"b": 2}}, torch.ones(3))
try:
    reads({"a": {"c": 2}}, torch.ones(3))
except KeyError:
    pass
"""


def test_what_a_guard_met_is_no_condition(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    inspected([script], tmp_path)

    failed = [one for row in open_dump(tmp_path / "dump").rows(Recompile) for one in row.failed]
    told = [change_words(one) for one in failed]

    assert "type of function.__closure__[0].cell_contents: Tensor → NoneType" in told
    assert "function.__closure__: there → not there" in told
    assert not any("no longer true" in text for text in told), told


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("KeyError on L['d']['k']", "KeyError on L['d']['k']"),
        ("getattr failed on source L['x'].y", "getattr failed on source L['x'].y"),
        ("GLOBAL_STATE changed: something", "GLOBAL_STATE changed: something"),
        ("not ___dict_contains('k', L['d'])", "no longer true: not ___dict_contains('k', L['d'])"),
    ],
)
def test_words_of_older_dumps(reason: str, told: str) -> None:
    assert change_words(FailedGuard(compile_id="0/0", condition=reason)) == told
