"""As many kernels and launches as output_code.py defines and calls, each at the line that we say."""

from collections import Counter

import pytest

from inspect_compile.dump import open_dump
from inspect_compile.facts import Kernel, WrapperLine
from tests.conftest import DumpOf
from tests.witness.output_code import called_kernels, defined_kernels
from tests.witness.test_lowering import SAMPLES


@pytest.mark.parametrize("sample", SAMPLES)
def test_kernels_and_launches(dump_of: DumpOf, sample: str) -> None:
    dump = open_dump(dump_of(sample).dump)

    for graph in (graph.graph for graph in dump.graphs() if graph.parent is None):
        code = dump.text(graph, "output_code.py")
        assert code is not None
        lines = code.splitlines()
        kernels = dump.rows(Kernel, graph)
        generated = [kernel for kernel in kernels if kernel.kind != "extern"]

        assert {kernel.name for kernel in generated} == defined_kernels(code)
        assert len(generated) == len({kernel.name for kernel in generated})
        launches: Counter[str] = Counter()
        for kernel in kernels:
            launches[kernel.name] += len(kernel.launches)
        assert launches == called_kernels(code)
        for kernel in kernels:
            assert all(kernel.name in lines[line - 1] for line in kernel.launches)
            if kernel in generated:
                assert kernel.defined_at is not None
                assert lines[kernel.defined_at - 1].startswith(f"{kernel.name} = ")


@pytest.mark.parametrize("sample", ["conv_bias", "attention_block", "training_step", "conditional"])
def test_wrapper_lines_name_their_buffer(dump_of: DumpOf, sample: str) -> None:
    """Each line of Wrapper IR that writes code stands where we say: the line names its buffer or kernel."""
    dump = open_dump(dump_of(sample).dump)
    checked = 0

    for graph in (graph.graph for graph in dump.graphs() if graph.parent is None):
        code = (dump.text(graph, "output_code.py") or "").splitlines()
        for row in dump.rows(WrapperLine, graph):
            name = row.becomes or row.kernel or row.buffer
            if row.line is None or row.end is None or name is None:
                continue
            assert any(name in line for line in code[row.line - 1 : row.end]), row
            checked += 1
    assert checked > 5


def test_sources_are_whole(dump_of: DumpOf) -> None:
    dump = open_dump(dump_of("softmax_mlp").dump)
    graph = dump.graphs()[0].graph

    for kernel in dump.rows(Kernel, graph):
        if kernel.kind == "extern":
            continue
        source = dump.text(graph, kernel.source)
        code = dump.text(graph, "output_code.py")
        assert source is not None
        assert code is not None
        assert source.strip() in code
