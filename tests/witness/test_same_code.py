"""On every CPU sample: the same generated code to the byte, the same output and exit code, with and without us."""

import os
import re
import sys
from pathlib import Path

import pytest

from inspect_compile.dump import open_dump
from tests.conftest import DumpOf, PlainOf, run_sample
from tests.running import without_last_words
from tests.witness.test_lowering import SAMPLES

_WRITTEN = re.compile(r"Output code written to: (\S+\.py)")


@pytest.mark.parametrize("sample", [*SAMPLES, "user_triton_kernel"])
def test_watching_changes_nothing(
    dump_of: DumpOf, plain_of: PlainOf, sample: str, tmp_path: Path, inductor_cache: Path
) -> None:
    # torch says where it writes the code; the caches of whole graphs are off, or it would write none.
    environment = {
        **os.environ,
        "TORCH_LOGS": "output_code",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    plain = run_sample([sys.executable], sample, (), tmp_path, inductor_cache, environment)
    watched = dump_of(sample)

    assert watched.result.returncode == plain.returncode
    assert watched.result.stdout == plain.stdout
    assert without_last_words(watched.result.stderr) == without_last_words(plain_of(sample).stderr)
    dump = open_dump(watched.dump)
    ours = [dump.text(graph.graph, "output_code.py") for graph in dump.graphs() if graph.parent is None]
    theirs = [Path(path).read_text() for path in dict.fromkeys(_WRITTEN.findall(plain.stderr))]
    assert sorted(set(map(str, ours))) == sorted(set(theirs))
    assert bool(ours) == (sample != "user_triton_kernel")
