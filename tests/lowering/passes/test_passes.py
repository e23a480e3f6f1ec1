"""The passes over the FX graphs: each edit belongs to one of them, and torch counted the same patterns."""

import json
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.passes.changes import stages, steps
from tests.accounted import without_gaps
from tests.conftest import DumpOf
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "passes.py"
SAMPLES = ("attention_block", "conditional", "dynamic_shapes", "graph_breaks", "softmax_mlp", "training_step")


@pytest.mark.parametrize("sample", SAMPLES)
def test_no_edit_is_without_a_pass(dump_of: DumpOf, sample: str) -> None:
    assert without_gaps(Dump(dump_of(sample).dump))


def test_patterns_are_those_that_torch_counted(tmp_path: Path) -> None:
    done = inspected([PROGRAM], tmp_path)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)

    dump = Dump(tmp_path / "dump")
    rows = without_gaps(dump)

    patterns = [row for row in rows if row.kind == "pattern"]
    assert len(patterns) == counted["pattern_matcher_count"] > 0
    assert sum(len(row.matched) for row in patterns) == counted["pattern_matcher_nodes"]
    assert all(row.defined.startswith(row.name) or ".py:" in row.defined for row in patterns)
    random = next(row for row in rows if row.name == "replace_random" and row.edits)
    assert {(edit.what, edit.node.partition("_default")[0]) for edit in random.edits} >= {
        ("removed", "rand"),
        ("added", "inductor_random"),
    }
    nested = {row.name for row in rows if row.kind == "stage"}
    assert {"pre_grad", "joint", "post_grad", "joint/true_graph_0", "post_grad/false_graph_0"} <= nested

    forward, backward = (
        next(found for found in dump.graphs() if found.kind == kind) for kind in ("forward", "backward")
    )
    (_, joint, post), told = (
        stages(CompiledGraph(dump, forward.graph)),
        steps(CompiledGraph(dump, forward.graph), stages(CompiledGraph(dump, forward.graph))),
    )
    assert [(step.before, step.after) for step in told][-1] == (joint.after, post.before)
    assert {run.name for run in post.changed} == {"view_to_reshape"}
    assert stages(CompiledGraph(dump, backward.graph))[1] == joint  # one joint graph has both
