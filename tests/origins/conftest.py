"""What several files of tests read: made once a session by the real torch and Triton."""

from pathlib import Path

import pytest

from tests.conftest import run_once
from tests.running import plain

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def triton_cache(shared_folder: Path) -> Path:
    """Triton's cache with the kernels of `triton_kernels.py`."""
    folder = shared_folder / "triton_kernels"
    environment = {"TRITON_CACHE_DIR": str(folder / "cache")}
    done = run_once(folder, lambda folder: plain([PROGRAMS / "triton_kernels.py"], folder, environment=environment))
    assert done.returncode == 0, done.stderr
    return folder / "cache"
