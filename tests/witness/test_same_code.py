"""On every CPU sample: the same generated code to the byte, the same output and exit code, with and without us."""

import re
from pathlib import Path

import pytest

from inspect_compile.dump import open_dump
from tests.conftest import DumpOf, PlainOf
from tests.running import without_last_words
from tests.witness.test_lowering import SAMPLES

_WRITTEN = re.compile(r"Output code written to: (\S+\.py)")


@pytest.mark.parametrize("sample", [*SAMPLES, "user_triton_kernel"])
def test_watching_changes_nothing(dump_of: DumpOf, plain_of: PlainOf, sample: str) -> None:
    watched, plain = dump_of(sample), plain_of(sample)

    assert watched.result.returncode == plain.result.returncode
    assert watched.result.stdout == plain.result.stdout
    assert without_last_words(watched.result.stderr) == without_last_words(plain.result.stderr)
    dump = open_dump(watched.dump)
    ours = [dump.text(graph.graph, "output_code.py") for graph in dump.graphs() if graph.parent is None]
    theirs = [Path(path).read_text() for path in dict.fromkeys(_WRITTEN.findall(plain.log))]
    assert sorted(set(map(str, ours))) == sorted(set(theirs))
    assert bool(ours) == (sample != "user_triton_kernel")
