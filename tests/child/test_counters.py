"""A program that looks at torch's counters is told why its caches found nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

LOOKS = {
    "by name": ("from torch._dynamo.utils import counters", True),
    "under another name": ("from torch._dynamo.utils import counters as c", True),
    "by attribute": ("import torch._dynamo.utils\nprint(len(torch._dynamo.utils.counters))", True),
    "not at all": ("import torch._dynamo.utils", False),
    "in a module": ("import looks", True),
    "torch is not there": ("", False),
}


@pytest.mark.parametrize("how", LOOKS)
def test_who_looks_is_known(how: str, tmp_path: Path) -> None:
    code, asks = LOOKS[how]
    folder = tmp_path / "torch" / "_dynamo"
    folder.mkdir(parents=True)
    for name in ("torch/__init__.py", "torch/_dynamo/__init__.py"):
        (tmp_path / name).touch()
    (folder / "utils.py").write_text("counters = {}")
    (tmp_path / "looks.py").write_text("from torch._dynamo.utils import counters as found")
    asked = "from inspect_compile.child import counters as own"
    (tmp_path / "program.py").write_text(f"{code}\nfrom asking import asks\nprint(asks())")
    (tmp_path / "asking.py").write_text(f"{asked}\nasks = own.asks_for_counters\ndel own")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == str(asks)
