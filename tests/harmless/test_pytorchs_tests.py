"""PyTorch's own tests, of a checkout that the machine has: each ends inspected as it does alone."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Hook
from tests.running import COLD, COMMAND, settle

FOLDER = os.environ.get("PYTORCH_TESTS", "")
"""The folder `test` of a checkout of PyTorch, of the version that is installed or near it; or a backend's copy of that,
whose files may have longer names (`test_torchbind_xpu.py`).
"""
FILES = (
    "dynamo/test_recompiles",
    "dynamo/test_regional_inductor",
    "dynamo/test_subclasses",
    "dynamo/test_wrap_inductor_compiled_regions",
    "export/test_draft_export",
    "export/test_experimental",
    "export/test_passes",
    "export/test_torchbind",
    "functorch/test_ac",
    "functorch/test_control_flow",
    "higher_order_ops/test_with_effects",
    "test_fake_tensor",
)
EACH = 15
"""Tests of a file that are run: some 150 in all."""
SECONDS = 900
# Neither the checkout's settings nor plugins that are installed here.
OPTIONS = ("-q", "-c", os.devnull, "--noconftest", "--rootdir", FOLDER, "-p", "no:cacheprovider", "-p", "no:xdist")


def chosen(file: Path, folder: Path) -> list[str]:
    """Tests of the file, evenly spread; none where something that it imports is not installed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, "--collect-only", str(file)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    found = [f"{file}::{line.partition('::')[2]}" for line in done.stdout.splitlines() if "::" in line]
    return found[:: max(1, len(found) // EACH)][:EACH] if done.returncode == 0 else []


def outcomes(command: Sequence[str], tests: list[str], folder: Path) -> dict[str, str]:
    """How each test ended that did: passed, skipped, failure or error."""
    folder.mkdir()
    names, report = folder / "tests.txt", folder / "report.xml"
    names.write_text("\n".join(tests))
    environment = {**os.environ, "PYTHONHASHSEED": "0", "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    subprocess.run(
        [*command, "-m", "pytest", *OPTIONS, "--junitxml", str(report), f"@{names}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return {
        f"{case.get('classname')}.{case.get('name')}": next((part.tag for part in case if part.tag in ENDS), "passed")
        for case in ET.parse(report).iter("testcase")
    }


ENDS = ("failure", "error", "skipped")


@pytest.mark.harmless
@pytest.mark.skipif(not FOLDER, reason="PYTORCH_TESTS names no folder with PyTorch's tests")
@pytest.mark.parametrize("name", FILES)
def test_each_ends_as_alone(name: str, tmp_path: Path) -> None:
    files = sorted(Path(FOLDER).glob(f"{name}*.py"))
    tests = [test for file in files for test in chosen(file, tmp_path)]
    if not tests:
        pytest.skip(f"{FOLDER} has no {name} that can be loaded here")
    dump = tmp_path / "dump"

    alone = outcomes([sys.executable], tests, tmp_path / "alone")
    watched = outcomes([*COMMAND, "run", "--no-tui", *COLD, "--dump", str(dump)], tests, tmp_path / "watched")
    settle(dump)

    assert watched == alone
    if dump.is_dir():
        own = open_dump(dump)
        parts = [own, *map(Dump, own.other_processes)]
        assert [hook for part in parts for hook in part.rows(Hook) if hook.state == "failed"] == []
