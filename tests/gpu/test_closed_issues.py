"""On a machine with a CUDA device: what `numerics` says of programs of closed issues, with Triton kernels."""

from pathlib import Path

import pytest
import torch

from tests.lowering.intervention.closed_issues.issues import ON_CUDA
from tests.lowering.intervention.closed_issues.test_closed_issues import RELEASE, blamed, checked, parts, rows_of

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.skipif(RELEASE != "2.11", reason="what each program does on a GPU is known of torch 2.11"),
]


@pytest.mark.parametrize("numbers", parts(ON_CUDA), ids=lambda numbers: str(numbers[0]))
def test_the_verdict_is_the_maintainers(numbers: list[int], tmp_path: Path, inductor_cache: Path) -> None:
    rows = rows_of(checked(tmp_path, inductor_cache, "--cuda", *map(str, numbers)))

    assert {number: blamed(rows[number]) for number in numbers} == {number: ON_CUDA[number] for number in numbers}
