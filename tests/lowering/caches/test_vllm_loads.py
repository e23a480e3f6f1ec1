"""vLLM's cache of compiled models, by a stand-in that has its functions: what was loaded, and why not."""

import os
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, Hook, Remark
from tests.running import inspected

DECORATORS = """
import logging, os
import torch
logger = logging.getLogger(__name__)

def _try_load_aot_compiled_fn(model, aot_compilation_path):
    try:
        with open(aot_compilation_path, "rb") as file:
            loaded = torch.ones if file.read() == b"old" else model
            loaded.upper()
        return loaded
    except Exception as e:
        if os.path.exists(aot_compilation_path):
            logger.warning(
                "%sCompiling model again due to a load failure from %s, reason: %s", "", aot_compilation_path, str(e)
            )
        return None
"""
PROGRAM = """
import sys, torch
from vllm.compilation import decorators
from vllm.compilation.decorators import _try_load_aot_compiled_fn
print(_try_load_aot_compiled_fn("model", sys.argv[1]), decorators.logger.filters)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    package = tmp_path / "vllm" / "compilation"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "decorators.py").write_text(DECORATORS)
    (tmp_path / "serve.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize(
    ("stored", "outcome", "reason"),
    [
        (None, "miss", None),
        (b"fine", "hit", None),
        (b"old", "failed", "object has no attribute 'upper'"),
    ],
)
def test_what_lay_in_the_cache(
    program: Path, stored: bytes | None, outcome: str, reason: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = program / "cafe" / "rank_0_0" / "model"
    if stored is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(stored)
    result = inspected(["serve.py", str(path)], program, environment={"PYTHONPATH": os.environ.get("PYTHONPATH")})
    assert result.stdout == ("model []\n" if outcome == "hit" else "None []\n"), result.stderr
    dump = Dump(program / "dump")
    (lookup,) = dump.rows(CacheLookup)
    assert (lookup.cache, lookup.outcome, lookup.key) == ("vllm", outcome, "cafe")
    assert lookup.reason is None if reason is None else reason in str(lookup.reason)
    said = [row.message for row in dump.rows(Remark) if row.code == "cache-not-loaded"]
    assert len(said) == (outcome == "failed")
    assert result.stderr.count("Compiling model again due to a load failure") == len(said)
    assert not [hook for hook in dump.rows(Hook) if "vllm" in hook.probe and hook.state in ("failed", "missing")]
    main(["show", str(program / "dump"), "caches"])
    assert ("vLLM" in capsys.readouterr().out) == (outcome != "")
