"""`numerics --continue-with reference`: the program gets what the FX graph gives, and the rest is as without."""

from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.numerics.verdicts import summary
from inspect_compile.commands.numerics import NOT_COMPARED
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.lowering.intervention.numerics.continued import Form, in_form
from tests.running import COMMAND, plain, run

PROGRAMS = Path(__file__).parent / "programs"
NAMES = ("in_place", "aliases", "strided", "random", "training")


def test_the_program_gets_what_the_graph_gives(tmp_path: Path, inductor_cache: Path) -> None:
    """Results with their strides and aliases, changed inputs, random numbers, gradients and buffers."""
    program = PROGRAMS / "continued.py"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    alone = plain([program], tmp_path, environment=environment)
    options = ("--calls", "all", "--continue-with", "reference", "--dump", "dump")

    done = run([*COMMAND, "numerics", *options, program], tmp_path, environment=environment)

    assert alone.stdout.splitlines() == [f"{name} False" for name in NAMES]
    assert (done.returncode, done.stdout.splitlines()) == (1, [f"{name} True" for name in NAMES]), done.stderr
    found = summary(Graphs(Dump(tmp_path / "dump")))
    assert (found.trouble, found.not_continued) == ((), {})
    assert found.continued == found.calls
    assert f"the program got the reference's results from {found.calls} checked calls" in done.stderr


def test_nothing_changes_where_nothing_is_wrong(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    options = ("--continue-with", "reference", "--dump", "dump")

    done = run([*COMMAND, "numerics", *options, PROGRAMS / "forms.py"], tmp_path, environment=environment)

    alone = plain([PROGRAMS / "forms.py"], tmp_path, environment=environment)
    assert done.returncode == NOT_COMPARED, done.stderr  # it draws random numbers
    assert numbers(done.stdout) == pytest.approx(numbers(alone.stdout), rel=1e-2, abs=1e-4)


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.replace("[", " ").replace("]", " ").replace(",", " ").split()]


def test_looking_for_nan_continues_with_nothing_else(tmp_path: Path) -> None:
    done = run([*COMMAND, "numerics", "--nonfinite", "--continue-with", "reference", "nothing.py"], tmp_path)

    assert done.returncode == 2
    assert "no reference to continue with" in done.stderr


def form(like: torch.Tensor, shares: frozenset[int] = frozenset()) -> Form:
    return Form(like.dtype, tuple(like.shape), like.stride(), None, shares)


def test_a_result_has_the_strides_and_the_memory_that_the_compiled_one_has() -> None:
    value, base = torch.arange(12.0).reshape(3, 4), torch.arange(12.0)

    same = in_form(value, form(torch.empty(3, 4)), [base])
    other = in_form(value, form(torch.empty(4, 3).t()), [base])
    repeated = in_form(torch.ones(3, 4), form(torch.empty(4).expand(3, 4)), [base])
    apart = in_form(base[2:], form(torch.empty(10)), [base])
    shared = in_form(base[2:], form(torch.empty(10), frozenset({0})), [base])

    assert same is value
    assert (other.stride(), other.tolist()) == ((1, 3), value.tolist())
    assert (repeated.stride(), repeated.tolist()) == ((0, 1), torch.ones(3, 4).tolist())
    assert apart.tolist() == base[2:].tolist()
    assert apart.data_ptr() != base[2:].data_ptr()
    assert shared.data_ptr() == base[2:].data_ptr()
