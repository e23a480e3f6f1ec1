"""The random numbers of Triton kernels are computed again: as Triton's interpreter draws them."""

import json
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.philox import Form, form_of
from tests.running import run

pytest.importorskip("triton", reason="torch came without Triton")


def test_they_are_tritons(tmp_path: Path) -> None:
    done = run([sys.executable, Path(__file__).parent / "programs" / "triton_numbers.py"], tmp_path)

    assert done.returncode == 0, done.stderr
    apart = json.loads(done.stdout)
    assert {"rand", "randn", "randint"} <= apart.keys()
    # The interpreter takes logarithm and cosine in float32.
    allowed = {name: 2e-6 if name.startswith("randn") else 0.0 for name in apart}
    assert all(apart[name] <= most for name, most in allowed.items()), apart


@pytest.mark.parametrize(
    ("statements", "form"),
    [
        ("tmp3 = tl.rand(tmp0, (tmp2).to(tl.uint32))", Form(in_triton=True)),
        ("tmp3 = triton_helpers.randn4x(tmp0, (tmp2).to(tl.uint32), XBLOCK)", Form(in_triton=True, by_four=True)),
        ("tl.randn(tmp0, tmp2); triton_helpers.rand4x(tmp0, tmp2, 8)", Form(in_triton=True, by_four=True, mixed=True)),
        ("triton_helpers.randint64(tmp0, tmp2, 0, 7)", Form(in_triton=True)),
    ],
)
def test_how_they_are_drawn_is_read_from_the_kernels(statements: str, form: Form) -> None:
    assert form_of(f"k = async_compile.triton('k', '''{statements}''')") == form
    assert form_of("cpp_fused_0 = async_compile.cpp_pybinding([], '''normalized_rand_cpu(a, b)''')") == Form()


@pytest.mark.parametrize("form", [Form(), Form(in_triton=True), Form(in_triton=True, by_four=True)])
@pytest.mark.parametrize("size", [(), (0,), (7, 9, 333), (4, 128, 300)])
def test_many_are_those_that_are_computed_at_once(
    form: Form, size: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = torch.tensor(-12_345_678_901_234)

    def drawn() -> list[torch.Tensor]:
        floats = [philox.random(size, seed, mode, form) for mode in ("rand", "randn")]
        return [*floats, philox.randint(-5, 1000, size, seed, form)]

    in_parts = drawn()
    monkeypatch.setattr(philox, "_AT_ONCE", 1 << 24)
    for one, other in zip(in_parts, drawn(), strict=True):
        assert one.shape == size
        assert torch.equal(one, other)
