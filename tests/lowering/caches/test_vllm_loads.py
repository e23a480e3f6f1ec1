"""vLLM's cache of compiled models, by a stand-in that has its functions: what was loaded, and why not."""

import os
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, Hook, Remark
from tests.running import inspected

DECORATORS = """
import os
import torch
from vllm.compilation.caching import VllmSerializableFunction

def _verify_source_unchanged(source):
    if source == b"old":
        raise RuntimeError("Source code has changed since the last compilation. Recompiling the model.")

def _try_load_aot_compiled_fn(model, aot_compilation_path):
    try:
        with open(aot_compilation_path, "rb") as file:
            source = file.read()
            if not source:
                torch.compiler.load_compiled_function(file)
        _verify_source_unchanged(source)
        VllmSerializableFunction().finalize_loading(source)
        return model
    except Exception:
        return None
"""
CACHING = """
class VllmSerializableFunction:
    def finalize_loading(self, config):
        if config == b"no artifacts":
            raise ValueError("no artifacts")
"""
PROGRAM = """
import sys, torch
from vllm.compilation.decorators import _try_load_aot_compiled_fn
print(_try_load_aot_compiled_fn("model", sys.argv[1]))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    package = tmp_path / "vllm" / "compilation"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "decorators.py").write_text(DECORATORS)
    (package / "caching.py").write_text(CACHING)
    (tmp_path / "serve.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize(
    ("stored", "outcome", "reason"),
    [
        (None, "miss", None),
        (b"fine", "hit", None),
        (b"", "failed", "Error"),
        (b"old", "failed", "RuntimeError: Source code has changed since the last compilation"),
        (b"no artifacts", "failed", "ValueError: no artifacts"),
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
    assert result.stdout == ("model\n" if outcome == "hit" else "None\n"), result.stderr
    dump = Dump(program / "dump")
    (lookup,) = dump.rows(CacheLookup)
    assert (lookup.cache, lookup.outcome, lookup.key) == ("vllm", outcome, "cafe")
    assert lookup.reason is None if reason is None else reason in str(lookup.reason)
    said = [row.message for row in dump.rows(Remark) if row.code == "cache-not-loaded"]
    assert len(said) == (outcome == "failed")
    assert not [hook for hook in dump.rows(Hook) if "vllm" in hook.probe and hook.state in ("failed", "missing")]
    main(["show", str(program / "dump"), "caches"])
    assert ("vLLM" in capsys.readouterr().out) == (outcome != "")
