"""The assembly that is recorded for AMD's GPUs is one that their assembler takes, for that GPU and no other."""

from pathlib import Path

import pytest

from tests.conftest import TESTS
from tests.running import inspected, plain

ASSEMBLE = Path(__file__).parent / "programs" / "assembled.py"
SAMPLE = Path(__file__).parents[2] / "samples" / "training_step.py"
RECORDED = TESTS / "data" / "stages" / "gfx942" / "XBLOCK128-w2-s1" / "triton_poi_fused_relu_0.amdgcn"
OBJECT = {"gfx90a": "224 0x3f", "gfx942": "224 0x4c"}
"""EM_AMDGPU, EF_AMDGPU_MACH: https://llvm.org/docs/AMDGPUUsage.html#header."""


def assembled(architecture: str, *files: Path) -> tuple[list[str], str]:
    done = plain([ASSEMBLE, architecture, *files], Path.cwd())
    return done.stdout.splitlines(), done.stderr


def test_recorded_assembly(tmp_path: Path) -> None:
    assert assembled("gfx942", RECORDED) == ([OBJECT["gfx942"]], "")
    wrong = tmp_path / "wrong.amdgcn"
    wrong.write_text(RECORDED.read_text().replace("v_max_f32", "v_most_f32"))
    assert "invalid instruction" in assembled("gfx942", wrong)[1]
    _, said = assembled("gfx90a", RECORDED)
    # Triton 3.9 keeps what its assembler says of that to itself.
    assert "does not match the specified target id" in said or "assembler rejected" in said


@pytest.mark.targets
def test_all_kernels_of_a_training_step(tmp_path: Path) -> None:
    options = [word for name in OBJECT for word in ("--target", name)]
    done = inspected([SAMPLE], tmp_path, options=options)

    assert done.returncode == 0, done.stderr
    for name, expected in OBJECT.items():
        files = sorted((tmp_path / "dump" / f"target_{name}").rglob("*.amdgcn"))
        assert len(files) > 3
        assert assembled(name, *files) == ([expected] * len(files), "")
