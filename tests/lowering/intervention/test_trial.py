"""What a trial of `tune` puts into a program, and how far it says that results are apart."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset

from inspect_compile.facts.trials import COMPILE, OPTIMIZER_STEP, Change, Constructed, Distance, Place, Request
from inspect_compile.knowledge.tuning import Program, candidates
from inspect_compile.lowering.intervention.trial.changes import Changes
from inspect_compile.lowering.intervention.trial.clock import Clock
from inspect_compile.lowering.intervention.trial.results import Results, nudge
from inspect_compile.lowering.intervention.trial.stages import Stages

HERE = __file__


@pytest.fixture
def plain_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trial changes in torch is as before afterwards."""
    monkeypatch.setattr(torch, "compile", torch.compile)
    for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.Adagrad):
        monkeypatch.setattr(kind, "__init__", kind.__init__)
    monkeypatch.setattr(DataLoader, "__init__", DataLoader.__init__)


def installed(*asked: Change) -> tuple[Changes, list[Any]]:
    compiled: list[Any] = []

    def watch(function: Any, model: Any) -> Any:
        compiled.append(function)
        return function

    changes = Changes(asked, watch)
    changes.install()
    return changes, compiled


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(Path(HERE).read_text().splitlines(), 1) if line.strip().startswith(text))


@pytest.mark.usefixtures("plain_torch")
def test_an_argument_reaches_the_calls_at_its_lines_alone() -> None:
    first = line_of("one = torch.optim.AdamW")
    changes, _ = installed(Change("keyword", "AdamW", True, "fused", (Place(HERE, first),)))

    one = torch.optim.AdamW([torch.ones(2, requires_grad=True)], lr=0.1)
    other = torch.optim.AdamW([torch.ones(2, requires_grad=True)], lr=0.1)

    assert one.defaults["fused"] is True
    assert other.defaults["fused"] is None
    assert [(made.of, made.where.line, made.given) for made in changes.constructed] == [
        ("AdamW", first, {"lr": "0.1"}),
        ("AdamW", first + 1, {"lr": "0.1"}),
    ]
    assert {made.where.column for made in changes.constructed} == {10, 12}
    assert {(made.device, made.is_floating) for made in changes.constructed} == {("cpu", True)}


class Endless(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        return iter(range(8))


@pytest.mark.usefixtures("plain_torch")
def test_workers_for_a_loader_whose_dataset_they_can_share() -> None:
    line = line_of("loader: DataLoader[int] = DataLoader")
    changes, _ = installed(Change("keyword", "DataLoader", 2, "num_workers", (Place(HERE, line),)))

    loader: DataLoader[int] = DataLoader([*range(8)], batch_size=4)  # type: ignore[arg-type]
    DataLoader(Endless(), batch_size=4)

    assert loader.num_workers == 2
    assert [batch.tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [(made.of, made.where.line, made.given) for made in changes.constructed] == [
        ("DataLoader", line, {"batch_size": "4"})
    ]


def test_what_is_tried_on_loaders() -> None:
    def loader(**given: str) -> Constructed:
        return Constructed("DataLoader", Place("/train.py", 3), given)

    def words(is_cuda: bool, *loaders: Constructed) -> list[str]:
        program = Program(is_cuda=is_cuda, threads=16, compiles=(), optimizers=(), loaders=loaders)
        found = candidates(program, shares={"input": 0.5, "transfer": 0.25})
        return [f"{one.words} {one.predicted}" for one in found if one.promised_by in ("input", "transfer")]

    assert words(True, loader()) == ["DataLoader(num_workers=8) 0.5", "DataLoader(pin_memory=True) 0.25"]
    assert words(False, loader(num_workers="0")) == ["DataLoader(num_workers=8) 0.5"]
    assert words(True, loader(num_workers="2", pin_memory="True")) == []
    assert words(True) == []


@pytest.mark.usefixtures("plain_torch")
def test_compile_as_call_decorator_and_method() -> None:
    eager = Change("keyword", COMPILE, "eager", "backend", tuple(Place(HERE, line) for line in range(1, 500)))
    changes, compiled = installed(eager)

    @torch.compile
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @torch.compile(dynamic=True)
    def tripled(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    module = torch.nn.Linear(2, 2)
    module.compile()

    x = torch.ones(2)
    assert doubled(x).tolist() == [2, 2]
    assert tripled(x).tolist() == [3, 3]
    assert module(x).shape == (2,)
    assert len(compiled) == 3
    assert [made.where.line for made in changes.constructed] == [
        line_of("@torch.compile"),
        line_of("@torch.compile(dynamic=True)"),
        line_of("module.compile()"),
    ]


@pytest.mark.usefixtures("plain_torch")
def test_a_setting_that_this_torch_lacks_is_told() -> None:
    changes, _ = installed(Change("setting", "torch._inductor.config.no_such_setting", True))
    assert changes.trouble == ["torch._inductor.config.no_such_setting: AttributeError: no setting no_such_setting"]


def distances(folder: Path, before: torch.Tensor, after: torch.Tensor) -> list[Distance]:
    reference = Results(str(folder), is_reference=True)
    reference.returned({"out": [before]})
    reference.compared()
    other = Results(str(folder), is_reference=False)
    other.returned({"out": [after]})
    return list(other.compared())


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        (torch.ones(4), torch.ones(4), 0.0),
        (torch.ones(4), torch.tensor([1.0, 1.0, 1.0, 1.5]), 0.5),
        (torch.tensor([math.nan, 3.0]), torch.tensor([math.nan, 3.0]), 0.0),
        (torch.tensor([math.nan, 3.0]), torch.tensor([1.0, 3.0]), math.inf),
        (torch.tensor([math.inf, 3.0]), torch.tensor([-math.inf, 3.0]), math.inf),
        (torch.ones(4), torch.ones(4, dtype=torch.float64), math.inf),
        (torch.ones(4), torch.ones(5), math.inf),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), math.inf),
        (torch.zeros(2), torch.tensor([0.0, 1e-9]), math.inf),
    ],
)
def test_how_far_results_are_apart(before: torch.Tensor, after: torch.Tensor, error: float, tmp_path: Path) -> None:
    (found,) = distances(tmp_path, before, after)
    assert found.name == "result 0 of call 0"
    assert found.error == error


def stepped(clock: Clock) -> None:
    clock.mark(OPTIMIZER_STEP, "SGD", 1)


def test_windows_begin_again_behind_a_compile(tmp_path: Path) -> None:
    first = Clock(Request(answer="", results=str(tmp_path)), Stages(0.0, 0.0), lambda: None)
    for _ in range(3):
        stepped(first)
    (step,) = first.repeated()
    assert (step.count, step.since_compile) == (3, 2)

    ended: list[int] = []
    request = Request(answer="", results=str(tmp_path), step=step, windows=3, steps=2)
    clock = Clock(request, Stages(0.0, 0.0), lambda: ended.append(number))
    timed = []
    for number in range(30):
        if number == 10:
            clock.compile_began()
            clock.compile_ended()
        stepped(clock)
        timed.append(len(clock.windows))
    assert timed[9:11] == [1, 0]
    assert [window.turn for window in clock.windows] == [2, 3, 4]
    assert ended == [22]


@pytest.mark.usefixtures("plain_torch")
def test_a_nudge_moves_as_much_as_a_bias_correction_in_float32() -> None:
    optimizer = torch.optim.Adam([torch.ones(3, requires_grad=True)], lr=0.1)
    for is_first in (True, False):
        nudge(optimizer, is_first=is_first)
    moved = optimizer.param_groups[0]["lr"] / 0.1 - 1
    beta = torch.tensor(0.999, dtype=torch.float32)
    wrong = [abs(float((1 - beta**step).double().sqrt()) / (1 - 0.999**step) ** 0.5 - 1) for step in (1, 2, 3, 4)]
    assert moved < max(wrong) <= 16 * moved


@pytest.mark.usefixtures("plain_torch")
def test_a_nudge_moves_each_parameter_by_one_rounding() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        before = torch.linspace(-3, 3, 60).to(dtype).view(6, 10).requires_grad_()
        parameter = before.detach().clone().requires_grad_()
        nudge(torch.optim.SGD([parameter, torch.ones(2, dtype=torch.int64)], lr=0.1), is_first=True)
        moved = ((parameter - before) / before).detach().float().abs()
        assert float(moved.min()) > 0
        assert float(moved.max()) <= 2.1 * torch.finfo(dtype).eps
