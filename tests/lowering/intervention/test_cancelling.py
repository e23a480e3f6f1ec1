"""What is left of terms that cancel has the rounding of the terms, in every kernel and in any order."""

from pathlib import Path

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import WRONG
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference
from inspect_compile.lowering.intervention.numerics.upstream.shadow import Shadow
from tests.running import COMMAND, run

PROGRAM = Path(__file__).parent / "programs" / "cancelling.py"
LANES = 16


def test_no_kernel_and_no_level_is_accused(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*COMMAND, "numerics", "--dump", "dump", PROGRAM], tmp_path, environment=environment)

    assert done.returncode == 0, done.stderr
    rows = list(judged(Graphs(Dump(tmp_path / "dump"))))
    assert [(row.graph, row.level or row.kernel, row.node) for row in rows if row.verdict == WRONG] == []
    means = [row for row in rows if row.node == "getitem_1" and row.kernel]
    assert len({row.graph for row in means}) == 3
    assert any((row.measured.eager_rmse or 0.0) < (row.measured.rmse or 0.0) / 1000 for row in means)


def cancelling(length: int) -> torch.Tensor:
    torch.manual_seed(length)
    x = torch.randn(64, length)
    return x - x.double().mean(-1, keepdim=True).float()


def error_in_lanes(x: torch.Tensor) -> float:
    """The error of the sums of rows, added up in float32 by hand, as a loop with vectors does."""
    lanes = torch.zeros(x.shape[0], LANES)
    for part in torch.split(x, LANES, dim=1):
        lanes = lanes + part
    total = torch.zeros(x.shape[0])
    for lane in lanes.unbind(1):
        total = total + lane
    return float((total.double() - x.double().sum(1)).square().mean().sqrt())


@pytest.mark.parametrize("length", [64, 1024, 16384])
@pytest.mark.parametrize("moves", ["given", "moved"])
def test_noise_of_a_sum_is_what_rounding_makes_of_it(length: int, moves: str) -> None:
    x = cancelling(length)
    module = make_fx(lambda x: torch.cat([x[:, ::2], x[:, 1::2]], 1).sum(1))(x)
    plain = reference(module, [x])
    exacts = Exacts(module, lambda: plain, {"cat"} if moves == "moved" else (), {})

    noise = (exacts.of(0).value("sum_1") - exacts.of().value("sum_1")).square().mean().sqrt()

    assert 0.3 < float(noise) / error_in_lanes(x) < 4


@pytest.mark.parametrize("length", [64, 16384])
def test_noise_beside_a_program_is_the_same(length: int) -> None:
    x = cancelling(length)
    with Shadow() as shadow:
        found = x.sum(1)
        value = shadow.value(found)

    assert 0.3 < float((value.noisy(0) - value.exact).square().mean().sqrt()) / error_in_lanes(x) < 4


def test_whole_numbers_are_moved_where_means_of_them_are_divided() -> None:
    """Sums of them are exact."""
    half = torch.randint(-3, 4, (8, 32)).float()
    x = torch.cat([half, -half], 1)

    def moved(name: str) -> float:
        module = make_fx(lambda x: (x.sum(1), torch.var_mean(x, 1)[1]))(x)
        plain = reference(module, [x])
        exacts = Exacts(module, lambda: plain, (), {})
        return float((exacts.of(0).value(name) - exacts.of().value(name)).abs().max())

    assert moved("sum_1") == 0
    assert 1e-9 < moved("getitem_1") < 1e-6
