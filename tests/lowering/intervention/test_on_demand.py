"""A graph that runs as its values are asked for."""

import gc
import weakref
from pathlib import Path

import torch
from torch.fx import GraphModule

from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.on_demand import OnDemand
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared
from inspect_compile.lowering.intervention.numerics.inputs import OwnRandomNumbers, RandomState, given
from tests.lowering.intervention.test_shared_values import Operators, X, traced
from tests.running import COMMAND, run


def on_demand(module: GraphModule, inputs: list[torch.Tensor], last_uses: dict[str, int]) -> OnDemand:
    """All values of the graph can be asked for."""
    state, names = RandomState(inputs), {node.name for node in module.graph.nodes}
    return OnDemand(
        module,
        lambda: given(module, inputs),
        None,
        Shared(),
        names,
        last_uses,
        lambda: OwnRandomNumbers(inputs, state),
    )


def test_only_what_is_asked_for_has_run() -> None:
    run = on_demand(traced(lambda x: x.sin().exp() + 1, X), [X], {"sin": 0, "exp": 1})

    with Operators() as ran:
        found = run.reference.values["sin"]
    with Operators() as later:
        result = run.reference.results[0]

    assert torch.equal(found, X.sin())
    assert torch.equal(result, X.sin().exp() + 1)
    assert ran.names == ["aten.sin.default"]
    assert later.names == ["aten.exp.default", "aten.add.Tensor"]


def test_a_value_is_let_go_after_its_last_use_and_computed_again_if_it_is_asked_for() -> None:
    run = on_demand(traced(lambda x: x.sin().exp() + 1, X), [X], {"sin": 0, "exp": 1})
    values = run.reference.values
    sine = weakref.ref(values["sin"])
    assert len(run.reference.results) == 1

    run.passed(0)
    gc.collect()

    assert sine() is None
    assert "sin" in values
    assert not values.holds("sin")
    assert values.holds("exp")
    assert torch.equal(values["sin"], X.sin())


def test_no_value_is_let_go_before_its_last_use(tmp_path: Path, inductor_cache: Path) -> None:
    program = Path(__file__).parent / "programs" / "asked_late.py"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--dump", "dump", program], tmp_path, environment=environment)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "2 calls checked" in done.stderr


def test_random_numbers_are_those_of_a_run_without_stops() -> None:
    module = traced(lambda x: torch.rand_like(x) + torch.rand_like(x), X)
    torch.manual_seed(3)
    expected = reference(module, [X]).results[0]
    torch.manual_seed(3)
    run = on_demand(module, [X], {})

    assert len(run.reference.values["rand_like"]) == len(X)
    drawn = torch.rand(5)

    assert torch.equal(run.reference.results[0], expected)
    torch.manual_seed(3)
    assert torch.equal(drawn, torch.rand(5))


def test_a_value_in_the_memory_of_an_input_stays_as_it_was_before_that_changed() -> None:
    def change(x: torch.Tensor) -> torch.Tensor:
        half = x[:32]
        x.copy_(x * 2)
        return half + 1

    inputs = [X.clone()]
    run = on_demand(traced(change, X.clone()), inputs, {})
    before = run.reference.values["slice_1"]

    run.passed(0)

    assert torch.equal(run.reference.results[0], X[:32] * 2 + 1)
    assert torch.equal(run.reference.values["slice_1"], X[:32])
    assert torch.equal(inputs[0], X)
    assert before.shape == (32,)


def test_the_memory_of_a_value_that_was_let_go_is_known_as_long_as_a_result_has_it() -> None:
    run = on_demand(traced(lambda x: x.exp().view(8, 8), X), [X], {})
    values, results = run.reference.values, run.reference.results
    assert values["exp"].shape == X.shape
    own = results.memory(0)

    values.let_go("exp")

    assert values.memory("exp") == own
    values.let_go("view")
    assert values.memory("view") == own
    assert values.memory("nothing") == 0


def test_a_convolution_in_fp64_is_that_of_the_whole_batch() -> None:
    x, weight = torch.randn(5, 32, 40, 40), torch.randn(8, 32, 5, 5)
    module = traced(lambda one, two: torch.nn.functional.conv2d(one, two, stride=2, padding=1), x, weight)
    plain = reference(module, [x, weight])

    found = Exacts(module, lambda: plain, (), {}).of().value("convolution")

    wide = torch.nn.functional.conv2d(x.double(), weight.double(), stride=2, padding=1)
    assert torch.allclose(found, wide, rtol=1e-12, atol=1e-12)


def test_a_check_leaves_nothing_behind_for_the_collector(tmp_path: Path, inductor_cache: Path) -> None:
    program = Path(__file__).parent / "programs" / "left_behind.py"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--calls", "2", "--dump", "dump", program], tmp_path, environment=environment)

    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert "2 calls checked" in done.stderr
