"""A program that looks at what torch's caches do is told why they found nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.child.counters import COUNTED, LOGGED, MEASURED, PACKED

LOGS = 'logging.getLogger("torch._inductor.codecache").setLevel(logging.{})'
LOOKS = {
    "by name": ("from torch._dynamo.utils import counters", COUNTED),
    "under another name": ("from torch._dynamo.utils import counters as c", COUNTED),
    "by attribute": ("import torch._dynamo.utils\nprint(len(torch._dynamo.utils.counters))", COUNTED),
    "through its module": ("from torch._dynamo import utils as u\nprint(len(u.counters))", COUNTED),
    "in a function": ("def f():\n    import torch._dynamo.utils as u\n    return u.counters", COUNTED),
    "not at all": ("import torch._dynamo.utils", None),
    "in a comment": ("import torch._dynamo.utils  # not the counters", None),
    "at a dictionary of that name": ('"""Of torch._dynamo."""\nimport torch._dynamo.utils\ncounters = {}', COUNTED),
    "at its own": ("import collections, torch\ncounters = {}", None),
    "in a module": ("import looks", COUNTED),
    "in a module, by attribute": ("import says", COUNTED),
    "at metrics": ("from torch._inductor import config, metrics", MEASURED),
    "at metrics in several lines": ("from torch._inductor import (\n    config,\n    metrics,\n)", MEASURED),
    "at metrics by attribute": ("import torch._inductor.metrics\nprint(torch._inductor.metrics.count)", MEASURED),
    "at metrics of its own": ("import torch._inductor.config\nmetrics = {}", None),
    "at artifacts": ("import torch\ndef f():\n    torch.compiler.save_cache_artifacts()", PACKED),
    "at logs": (f"import logging, torch._inductor.codecache\n{LOGS.format('INFO')}", LOGGED),
    "at warnings": (f"import logging, torch._inductor.codecache\n{LOGS.format('WARNING')}", None),
    "torch is not there": ("", None),
}


def packages(folder: Path) -> None:
    """A stand-in for torch, and modules of the program's."""
    for package in ("torch", "torch/_dynamo", "torch/_inductor"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()
    (folder / "torch/_dynamo/utils.py").write_text("counters = {}")
    (folder / "torch/_inductor/metrics.py").write_text("count = 0")
    for name in ("config", "codecache"):
        (folder / "torch/_inductor" / f"{name}.py").touch()
    (folder / "looks.py").write_text("from torch._dynamo.utils import counters as found")
    (folder / "says.py").write_text("import torch._dynamo.utils\nprint(torch._dynamo.utils.counters)")
    (folder / "asking.py").write_text(
        "from inspect_compile.child import counters as own\nasks = own.looks_at_caches\ndel own\n"
        "def tell():\n    print(asks())"
    )


def answer(words: list[str], folder: Path, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "TORCH_TRACE": "", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("how", LOOKS)
def test_who_looks_is_known(how: str, tmp_path: Path) -> None:
    code, looks = LOOKS[how]
    packages(tmp_path)
    (tmp_path / "program.py").write_text(f"{code}\nimport atexit\nfrom asking import tell\natexit.register(tell)")
    assert answer(["program.py"], tmp_path) == str(looks)


def test_a_command_is_looked_through(tmp_path: Path) -> None:
    packages(tmp_path)
    asks = "from asking import asks; print(asks())"
    by_attribute = f"import torch._dynamo.utils; len(torch._dynamo.utils.counters); {asks}"
    assert answer(["-c", by_attribute, "a", "b"], tmp_path) == COUNTED
    assert answer(["-c", asks, "counters", "_dynamo"], tmp_path) == "None"
    assert answer(["-c", asks], tmp_path, TORCH_TRACE="trace") == LOGGED
