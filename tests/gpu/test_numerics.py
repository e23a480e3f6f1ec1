"""On a machine with a CUDA device: the Triton kernel with a planted mistake is named, and no right one of a model."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.numerics.verdicts import judged, summary
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.harmless.test_models import KINDS, MODELS, program
from tests.lowering.intervention.test_planted import COUNT, PROGRAMS, check, outcomes
from tests.running import COMMAND, run

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

ROOT = Path(__file__).resolve().parents[2]
ON_DEVICE = ROOT / "benchmarks" / "programs" / "on_device.py"
MODELS_IN = ROOT / "tests" / "harmless" / "programs"


OTHERS = [pytest.param(name, marks=pytest.mark.harmless) for name in PROGRAMS[1:]]


@pytest.mark.parametrize("name", [PROGRAMS[0], *OTHERS])
def test_the_kernel_with_the_mistake_is_named(
    name: str, tmp_path: Path, inductor_cache: Path, record_property: Callable[[str, object], None]
) -> None:
    found = outcomes(tmp_path, inductor_cache, name, "--count", str(COUNT), "--device", "cuda")

    check(found, record_property)


@pytest.mark.parametrize(
    ("form", "named"), [("combo", "triton_"), ("triton-template", "triton_tem"), ("own-kernel", "own_")]
)
def test_mistakes_in_forms_that_only_a_gpu_has(
    form: str, named: str, tmp_path: Path, inductor_cache: Path, record_property: Callable[[str, object], None]
) -> None:
    found = outcomes(tmp_path, inductor_cache, form, "--count", str(COUNT), "--device", "cuda")

    for one in found:
        record_property("mistake", str(one))
    counted = [one for one in found if one.matters]
    assert any(one.planted["kernel"].startswith(named) for one in counted), found
    assert [str(one) for one in counted if not one.found] == []
    assert [one.others for one in found] == [()] * len(found)


def test_attention_of_cudnn_under_autocast_is_not_accused(tmp_path: Path) -> None:
    autocast: list[str | Path] = [ON_DEVICE.with_name("in_dtype.py"), "autocast", "cuda"]
    words = ["cuda", *autocast, MODELS_IN / program("segformer"), "segformer", "inference"]

    done = run([*COMMAND, "numerics", "--dump", "dump", ON_DEVICE, *words], tmp_path)

    assert done.returncode == 0, done.stderr
    assert summary(Graphs(Dump(tmp_path / "dump"))).wrong == 0


@pytest.mark.harmless
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_no_model_is_accused(
    model: str, kind: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    words = ["cuda", str(MODELS_IN / program(model)), model, kind]

    done = run([*COMMAND, "numerics", "--dump", "dump", ON_DEVICE, *words], tmp_path)

    record_property("said", done.stderr)
    dump = Dump(tmp_path / "dump")
    found = summary(Graphs(dump))
    record_property("found", str(found))
    for row in judged(Graphs(dump)):
        if row.verdict == WRONG or row.reason:
            record_property("row", str(row))
    assert done.returncode == 0, done.stderr
    assert found.wrong == 0
    assert found.compared > 0
    assert found.trouble == ()
