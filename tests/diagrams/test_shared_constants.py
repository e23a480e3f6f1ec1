"""What AOTAutograd leaves of the constants of real layers, and how their FX graph is folded."""

from pathlib import Path

import pytest

from inspect_compile.diagrams.fx.picture import folded_values, fx_picture
from inspect_compile.diagrams.fx.values import key_of, values
from inspect_compile.dump import Dump, open_dump
from inspect_compile.graph import CompiledGraph
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "shared_constants.py"
LAYERS = 16
BATCH = (4, 8)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> Dump:
    folder = tmp_path_factory.mktemp("shared")
    result = inspected([PROGRAM], folder, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})
    assert result.returncode == 0, result.stderr
    return open_dump(folder / "dump")


@pytest.mark.parametrize("stage", ["aot", "post_grad"])
def test_constants_that_the_first_layer_makes_are_in_no_layer(dump: Dump, stage: str) -> None:
    graph = next(graph.graph for graph in dump.outermost() if graph.kind == "forward")
    nodes = CompiledGraph(dump, graph).stage(stage)
    constants = [node for node in nodes if node.target.startswith("aten.full.")]
    assert {node.module for node in constants} == {"layers.0"}
    assert len(constants) == 2, "else torch shares them no longer, and this test has lost its subject"

    given = {key_of(node) for node in nodes if node.op == "placeholder" and node.values[0].size == BATCH}
    assert len(given) == 2, "x and mask; parameters have other sizes"
    found = values(nodes, given, everything=False)
    whole = folded_values(found)
    folds: dict[str, list[int]] = {}
    for value, fold in zip(found, whole.fold_of, strict=True):
        if value.node.module and value.node not in constants:
            folds.setdefault(value.node.module.split(".")[1], []).append(fold)
    assert len(folds) == LAYERS
    assert all(own == folds["0"] for own in folds.values()), "each layer is in the same boxes"

    picture = fx_picture(CompiledGraph(dump, graph), stage, unfold=False)
    assert picture is not None
    frames = [frame.text for frame in picture.frames() if frame.kind == "repeat"]
    assert f"{LAYERS} × the same: layers.0 … layers.15" in frames, frames
    drawn = {box.title for box in picture.boxes()}
    assert {node.name for node in constants} <= drawn
