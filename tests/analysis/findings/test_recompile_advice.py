"""Advice about recompiles is true: programs of each kind, recorded, and the same programs with the advice followed."""

import functools
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from tests.conftest import run_once
from tests.private_names import version
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "recompiles.py"
X = torch.ones(4, 4)
MANY = range(2, 6)
KEEPS_INDICES = version(torch.__version__) >= (2, 15)
"""A number of a tensor that another is indexed with is no constant of the compile."""
READS_INDICES = pytest.mark.skipif(KEEPS_INDICES, reason="it is compiled once there")


@pytest.fixture(scope="module")
def found(shared_folder: Path) -> dict[str, Finding]:
    """Function → its finding, of a program that has one function for each kind."""
    folder = shared_folder / "recompiles"
    done: subprocess.CompletedProcess[str] = run_once(folder, lambda folder: inspected([PROGRAM], folder))
    assert done.returncode == 0, done.stderr
    return {row.parts[0].operator.partition(".")[0]: row for row in findings(Graphs(Dump(folder / "dump")))}


@pytest.mark.parametrize(
    ("function", "count", "why", "to_do"),
    [
        ("value", 3, "name, in 3 of 3", "Dynamo treats name as a constant"),
        ("member", 2, "e, in 2 of 2: another __main__.Color → Color.B → Color.C", "Dynamo treats e as a constant"),
        (
            "beside",
            3,
            "name, in 3 of 3: 'a' → 'aa' → 'aaa' and 1 more; cfg.n, in 1 of 3: 0 → 1",
            "Dynamo treats name as a constant",
        ),
        ("Key", 3, "self.key, in 3 of 3", "self.key differs from one Key to the next"),
        ("Layer", 3, "self.index, in 3 of 3", "self.index differs from one Layer to the next"),
        ("Steps", 3, "self.step, in 3 of 3: 2 → 3 → 4", "an int attribute of a module"),
        ("looped", 3, "n, in 3 of 3: 2 → 3 → 4", "needs n as a Python number"),
        ("once", 1, "n: 2 → 3", "compile with dynamic=True"),
        ("scaled", 3, "SCALE, in 3 of 3: 2 → 3 → 4", "keep it in a tensor"),
        ("static", 3, "size of x in dimension 0, in 3 of 3", "dynamic=False"),
        ("sized", 1, "size of x in dimension 0: 2 → 3", "mark_dynamic(x, 0)"),
        ("strided", 1, "stride of x in dimension 0: 6 → 7", "x.contiguous()"),
        ("typed", 2, "k, in 1 of 2: 2 → 2.5; type of k, in 1 of 2: float → Tensor", "k has another type"),
        ("precise", 2, "dtype of x, in 2 of 2", "convert x before the call"),
        ("optional", 1, "no longer true: y is None", "y is None in one call"),
        ("keyed", 3, "list(dict.keys(d))[1], in 3 of 3", "the same keys"),
        ("measured", 3, "len(l), in 3 of 3: 2 → 3 → 4", "one tensor of a fixed size"),
        ("applied", 2, "f, in 2 of 2", "f is a different function"),
        ("of_class", 3, "k, in 3 of 3", "k is a new object"),
        ("stepped", 3, "o: the object was freed, in 3 of 3", "o is a new object"),
        ("moded", 1, "grad_mode: True → False", "grad_mode is part of each compile"),
        ("turned", 3, "grad_mode, in 2 of 3: True → False; size of x in dimension 0, in 1 of 3: 4 → 5", "grad_mode"),
        ("aliased", 1, "which arguments are one tensor", "clone()"),
        pytest.param("indexed", 3, "i.item(), in 3 of 3", "i.reshape(1)", marks=READS_INDICES),
        ("backed", 2, "another backend function, in 2 of 2", "make the backend once"),
    ],
)
def test_the_cause_and_its_advice(found: dict[str, Finding], function: str, count: int, why: str, to_do: str) -> None:
    row = found[function]

    assert row.count == count
    assert row.why.startswith(why)
    assert to_do in row.to_do


def compiles(calls: Iterable[tuple[Callable[..., Any], tuple[Any, ...]]], *, dynamic: bool | None = None) -> int:
    torch._dynamo.reset()
    counted = CompileCounter()
    made: dict[int, Any] = {}
    for function, arguments in calls:
        code = made.setdefault(id(function), torch.compile(function, backend=counted, dynamic=dynamic))
        code(*arguments)
    return int(counted.frame_count)


def branch(x: torch.Tensor, is_on: bool) -> torch.Tensor:
    return x * 2 if is_on else x + 1


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def scale(x: torch.Tensor, k: Any) -> Any:
    return x * k


def total(d: dict[str, torch.Tensor]) -> torch.Tensor:
    return functools.reduce(torch.add, d.values())


def pick(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    return x[i] * 2


class Stepping(torch.nn.Module):
    step: Any = 0

    def forward(self, x: torch.Tensor) -> Any:
        return x * self.step


def module_steps(*, in_place: bool) -> Iterable[tuple[Callable[..., Any], tuple[Any, ...]]]:
    module = Stepping()
    module.step = torch.tensor(0) if in_place else 0
    for number in MANY:
        if in_place:
            module.step.fill_(number)
        else:
            module.step = number
        yield module, (X,)


def marked(size: int) -> torch.Tensor:
    made = torch.ones(size, 4)
    torch._dynamo.mark_dynamic(made, 0)
    return made


def rows(gap: int) -> torch.Tensor:
    return torch.ones(16, 16).as_strided((4, 4), (gap, 1))


@pytest.mark.parametrize(
    ("calls", "dynamic"),
    [
        ([(branch, (X, ("a" * n).startswith("a"))) for n in MANY], None),
        ([(double, ({f"f{n}": X for n in MANY}[f"f{n}"],)) for n in MANY], None),
        (lambda: module_steps(in_place=True), None),
        ([(scale, (X, n)) for n in MANY], True),
        ([(scale, (X, n + 0.5)) for n in MANY], True),
        ([(scale, (X, torch.tensor(n))) for n in MANY], None),
        ([(double, (marked(n),)) for n in MANY], None),
        ([(double, (marked(n),)) for n in MANY], False),
        ([(double, (rows(n + 4).contiguous(),)) for n in MANY], None),
        ([(double, (X.to(dtype).float(),)) for dtype in (torch.float32, torch.float64, torch.float16)], None),
        ([(total, ({"x": X, "k": X + n},)) for n in MANY], None),
        ([(torch.add, (X, X)), (torch.add, (X, X.clone()))][1:], None),
        ([(pick, (X, torch.tensor([n % 4]))) for n in MANY], None),
    ],
    ids=[
        *(
            "a bool for a string",
            "the value for its key",
            "a tensor for an int",
            "dynamic=True",
            "dynamic=True (float)",
        ),
        *("a tensor for a number", "mark_dynamic", "mark_dynamic with dynamic=False", "contiguous", "convert", "keys"),
        *("clone", "one element"),
    ],
)
def test_a_program_that_follows_the_advice_is_compiled_once(calls: Any, dynamic: bool | None) -> None:
    assert compiles(calls() if callable(calls) else calls, dynamic=dynamic) == 1


def test_what_is_not_advised_would_leave_the_recompiles() -> None:
    def looped(x: torch.Tensor, n: int) -> torch.Tensor:
        for _ in range(n):
            x = x + 1
        return x

    assert compiles(((looped, (X, n)) for n in MANY), dynamic=True) == len(MANY)
    assert compiles(module_steps(in_place=False), dynamic=True) == len(MANY)
    assert compiles((pick, (X, torch.tensor(n % 4))) for n in MANY) == (1 if KEEPS_INDICES else len(MANY))
    with torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True):
        assert compiles(module_steps(in_place=False)) == 2
