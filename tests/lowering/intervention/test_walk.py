"""The walk of docs/numerics.md, from a loss that differs to the statement, as its reader takes it."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.lowering.intervention.test_reproducer import alone
from tests.running import COMMAND, run

TEXT: Final = (Path(__file__).resolve().parents[3] / "docs" / "numerics.md").read_text("utf-8")
WALK: Final = TEXT[TEXT.index("## From “my loss differs”") : TEXT.index("## Method")]
KERNEL: Final = "cpp_fused_tanh_0"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program of the walk and, once they are made, its dumps."""
    folder = tmp_path_factory.mktemp("walk")
    program = re.search(r"```python\n(.*?)```", WALK, re.DOTALL)
    assert program
    (folder / "train.py").write_text(program[1], "utf-8")
    return folder


@pytest.fixture(scope="module")
def checked(here: Path, inductor_cache: Path) -> subprocess.CompletedProcess[str]:
    """The first step."""
    return walked("inspect-compile numerics --eager --dump d train.py", here, inductor_cache)


def walked(command: str, here: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """A command of the walk."""
    assert command in WALK
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(cache), "COLUMNS": "100"}
    return run([*COMMAND, *command.split()[1:]], here, environment=environment)


def losses(printed: str) -> tuple[float, float]:
    """Those of eager mode and of the compiled program."""
    words = printed.split()
    return float(words[1]), float(words[3])


def test_one_kernel_is_wrong(checked: subprocess.CompletedProcess[str]) -> None:
    eager, compiled = losses(checked.stdout)
    assert abs(eager - compiled) > 0.005
    assert checked.returncode == 1
    assert f"first wrong: {KERNEL}, line " in checked.stderr
    assert "do what they were generated for, which is not what tanh is" in checked.stderr
    assert ": 2 wrong, " in checked.stderr


def test_the_loss_is_that_of_eager_with_the_reference(here: Path, inductor_cache: Path) -> None:
    done = walked(
        "inspect-compile numerics --calls all --continue-with reference --dump r train.py", here, inductor_cache
    )
    eager, compiled = losses(done.stdout)
    assert compiled == pytest.approx(eager, rel=1e-5)


@pytest.mark.usefixtures("checked")
def test_the_kernel_has_its_statements(here: Path, inductor_cache: Path) -> None:
    found = walked(f"inspect-compile show d numerics {KERNEL}", here, inductor_cache).stdout
    statements = [line for line in found.splitlines() if " auto tmp" in line and "where" not in line]
    assert "should be" in found
    assert len(statements) > 10


@pytest.mark.usefixtures("checked")
def test_without_the_program_it_is_right(here: Path, inductor_cache: Path) -> None:
    found = walked("inspect-compile numerics d --causes", here, inductor_cache)
    assert re.search(r"as it was +not wrong", found.stdout), found.stderr
    assert "the cause is in the program" in " ".join(found.stdout.split())


@pytest.mark.usefixtures("checked")
def test_the_script_is_wrong_alone(here: Path, inductor_cache: Path) -> None:
    assert walked("inspect-compile numerics d -o repro.py", here, inductor_cache).returncode == 0
    done = alone(here / "repro.py", inductor_cache)
    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith("\nwrong\n")
