"""A mixture of experts that is trained, its graphs broken, with grouped products of matrices: all for a target."""

from collections import Counter
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphBreak, GraphEnd, Kernel, Remark
from tests.running import inspected

HERE = Path(__file__).parent
GROUPED = "extern_kernels._grouped_mm"


def _dump(cwd: Path) -> Dump:
    return Dump(cwd / "dump" / "target_sm_90")


def _all_compiled(dump: Dump) -> None:
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}
    assert not [
        row.message for row in dump.rows(Remark) if row.code in ("target-failed", "target-cuda", "target-not-sent")
    ]
    kinds = Counter((graph.compile_id, graph.kind) for graph in dump.outermost())
    assert set(kinds.values()) == {1}
    forward, backward = ({one for one, kind in kinds if kind == name} for name in ("forward", "backward"))
    assert forward == backward


@pytest.mark.targets
def test_grouped_products_between_graph_breaks(tmp_path: Path) -> None:
    done = inspected([HERE / "programs" / "experts.py"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    *gradients, same = done.stdout.splitlines()
    assert {line.split()[1] for line in gradients} == {"torch.bfloat16"}
    assert same == "True", "a compiled step has the gradients of an eager one"
    dump = _dump(tmp_path)
    _all_compiled(dump)
    assert [graph.kind for graph in dump.outermost()] == ["forward", "backward"] * 3
    assert len(dump.rows(GraphBreak)) == 2
    calls = Counter(kernel.name for graph in dump.outermost() for kernel in dump.rows(Kernel, graph.graph))
    assert calls[GROUPED] == 2 + 3, "the tokens' own gradient is not asked for"
    assert calls["torch.ops.aten.histc.default"] == 1


@pytest.mark.harmless
def test_a_model_of_transformers(tmp_path: Path) -> None:
    program = HERE.parent / "harmless" / "programs" / "real_model.py"
    on_device = HERE.parents[1] / "benchmarks" / "programs" / "on_device.py"

    done = inspected([on_device, "cuda", program, "mixtral", "training"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    _all_compiled(_dump(tmp_path))
