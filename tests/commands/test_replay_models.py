"""What torch has compiled, `replay` compiles: every graph of programs that are no samples, to the same code."""

from pathlib import Path

import pytest

from inspect_compile.analysis.compare.replays import replays
from inspect_compile.analysis.lookup.graphs import find_graph
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, GraphEnd, Node, Remark
from inspect_compile.graph import CompiledGraph
from inspect_compile.launch.replay import replayed
from inspect_compile.tables.lookup_text import only
from tests.harmless.test_models import KINDS, MODELS, program
from tests.running import inspected

TESTS = Path(__file__).parents[1]


def _again(dump: Dump, graph: Graph) -> None:
    done = replayed(CompiledGraph(dump, graph.graph))

    assert not done.failure
    assert [end.status for end in Dump(done.part).rows(GraphEnd)][:1] == ["compiled"]
    (found,) = replays(Dump(dump.root), graph.graph)  # opened anew: an open dump knows the parts that it had
    assert [(row.same_code, differences) for row, differences in found.again] == [(True, ())]
    assert not [row for row in Dump(done.part).rows(Remark) if row.code.startswith("replay-")]


def test_what_is_saved_with_its_channels_last(tmp_path: Path) -> None:
    assert inspected([TESTS / "lowering" / "programs" / "views_saved.py"], tmp_path).returncode == 0
    dump = Dump(tmp_path / "dump")
    graph = only(find_graph(dump, "backward"))
    saved = next(row for row in dump.rows(Node, graph.graph) if row.stage == "aot" and row.name == "convolution")
    assert saved.op == "placeholder"

    _again(dump, graph)


@pytest.mark.harmless
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_every_graph_of_every_model(model: str, kind: str, tmp_path: Path) -> None:
    file = TESTS / "harmless" / "programs" / program(model)
    assert inspected([file, model, kind], tmp_path).returncode == 0
    dump = Dump(tmp_path / "dump")

    # What needs no gradients, before a graph break say, is inference also while a model is trained.
    assert KINDS[kind] <= {graph.kind for graph in dump.outermost()} <= KINDS[kind] | {"inference"}
    for graph in dump.outermost():
        _again(dump, graph)
