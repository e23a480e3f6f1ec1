"""Real models, with random weights: compiled under inspection as without it, and each FX node accounted for."""

import pytest

from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.graph import CompiledGraph
from tests.accounted import without_gaps
from tests.called import unseen_calls
from tests.harmless.harness import Case, Place, unharmed
from tests.ledgers import check_ledgers
from tests.misses import check_misses
from tests.running import COMMAND, run
from tests.stored import statements_astray
from tests.traced import untold_nodes, untraced_buffers

TRANSFORMERS = (
    *("gpt2", "bert", "llama", "mixtral", "t5", "vit", "convnext"),
    *("mamba2", "whisper", "swin", "segformer", "detr", "rwkv", "deberta"),
)
PLAIN = ("unet", "gnn", "int8", "fft", "control", "sorted", "jagged")
MODELS = (*TRANSFORMERS, *PLAIN)
KINDS = {"inference": {"inference"}, "training": {"forward", "backward"}}

SHORT = [("gpt2", "inference"), ("bert", "inference")]
LONG = [(model, kind) for model in MODELS for kind in KINDS if (model, kind) not in SHORT]


def program(model: str) -> str:
    """The file of tests/harmless/programs that makes the model, and takes `MODEL KIND`."""
    return "real_model.py" if model in TRANSFORMERS else "plain_model.py"


def check(place: Place, model: str, kind: str) -> None:
    (dump,) = unharmed(place, Case(program(model), (program(model), model, kind)))
    graphs = dump.outermost()
    # What needs no gradients, before a graph break say, is inference also while a model is trained.
    assert KINDS[kind] <= {graph.kind for graph in graphs} <= KINDS[kind] | {"inference"}
    without_gaps(dump)
    assert untold_nodes(dump) == {}
    assert untraced_buffers(dump) == []
    assert unseen_calls(dump) == []
    check_ledgers(dump)
    check_misses(dump)
    assert statements_astray(dump) == []
    for graph in graphs:
        covered = coverage(CompiledGraph(dump, graph.graph))
        assert covered.nodes
        assert covered.missing == []
        assert covered.unknown == ()
    shown = run([*COMMAND, "show", place.dump, "summary", "--all"], place.root)
    assert shown.stdout.count(" 100 % of the nodes are accounted for") == len(graphs)


@pytest.mark.parametrize(("model", "kind"), SHORT)
def test_model(model: str, kind: str, place: Place) -> None:
    check(place, model, kind)


@pytest.mark.harmless
@pytest.mark.parametrize(("model", "kind"), LONG)
def test_other_model(model: str, kind: str, place: Place) -> None:
    check(place, model, kind)
