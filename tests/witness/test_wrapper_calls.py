"""Every call in the generated wrapper is a launch, or of a function that runs nothing on the elements of a tensor."""

import pytest

from inspect_compile.analysis.dumps.parts import parts
from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph
from tests.called import called, is_free_of_work, unseen_calls
from tests.conftest import DumpOf
from tests.lowering.test_traced import RECORDED
from tests.samples.test_samples import NAMES


@pytest.mark.parametrize(
    "sample", [pytest.param(name, marks=() if name in RECORDED else pytest.mark.harmless) for name in NAMES]
)
def test_sample(sample: str, dump_of: DumpOf) -> None:
    whole = open_dump(dump_of(sample).dump)
    for dump in (whole, *(part.dump for part in parts(whole))):
        assert unseen_calls(dump) == []
        assert not any(coverage(CompiledGraph(dump, graph.graph)).unknown for graph in dump.outermost())


def test_a_copy_is_a_call() -> None:
    code = "def call(args):\n    buf0 = empty_strided_cpu((4,), (1,), torch.float32)\n    buf0.copy_(arg0_1, False)\n"
    assert [name for _, name in called(code)] == ["empty_strided_cpu", "buf0.copy_"]
    assert [is_free_of_work(name) for _, name in called(code)] == [True, False]
