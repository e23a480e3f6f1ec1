"""Every node of every graph is lowered once, and every buffer is traced to its node and to the reason it is real."""

import pytest

from inspect_compile.analysis.dumps.parts import parts
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Operation
from tests.conftest import DumpOf
from tests.samples.test_samples import NAMES
from tests.traced import untold_nodes, untraced_buffers

RECORDED = (
    "attention_block",
    "conditional",
    "conv_bias",
    "dynamic_shapes",
    "softmax_mlp",
    "training_step",
    "two_models",
)
"""Samples that other tests record too."""
WITHOUT_GRAPHS = ("user_triton_kernel",)
"""On a machine without a GPU."""


def _dumps(dump: Dump) -> list[Dump]:
    return [dump, *(part.dump for part in parts(dump))]


@pytest.mark.parametrize(
    "sample", [pytest.param(name, marks=() if name in RECORDED else pytest.mark.harmless) for name in NAMES]
)
def test_sample(sample: str, dump_of: DumpOf) -> None:
    found = _dumps(open_dump(dump_of(sample).dump))
    assert sample in WITHOUT_GRAPHS or any(dump.rows(Operation) for dump in found)
    for dump in found:
        assert untold_nodes(dump) == {}
        assert untraced_buffers(dump) == []
