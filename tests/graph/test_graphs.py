"""Which graph a person means."""

from pathlib import Path

import pytest

from inspect_compile.analysis.lookup.graphs import find_graph
from inspect_compile.errors import CommandError
from inspect_compile.graph import ShortNames
from inspect_compile.tables.lookup_text import only
from tests.handmade import graph, made

FORWARD, BACKWARD = "model__0_forward_1.0", "model__0_backward_3.1"
INNER = f"{FORWARD}/true_graph_0"
FACTS = (
    graph(FORWARD),
    graph(INNER, kind="subgraph", parent=FORWARD),
    graph(BACKWARD, kind="backward"),
    graph("model__1_inference_4.2", kind="inference", compile_id="1/0"),
)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (FORWARD, FORWARD),
        (INNER, INNER),
        ("backward", BACKWARD),
        ("1/0", "model__1_inference_4.2"),
        ("model__1", "model__1_inference_4.2"),
        ("ward_3", BACKWARD),
    ],
)
def test_a_name_or_a_part_that_only_one_has(tmp_path: Path, wanted: str, found: str) -> None:
    assert only(find_graph(made(tmp_path, *FACTS), wanted)).graph == found


@pytest.mark.parametrize(
    ("wanted", "told"), [("model__0", "several"), ("0/0", "several"), ("nothing", "no such graph")]
)
def test_else_the_graphs_there_are_are_listed(tmp_path: Path, wanted: str, told: str) -> None:
    with pytest.raises(CommandError, match=told) as caught:
        only(find_graph(made(tmp_path, *FACTS), wanted))

    assert FORWARD in str(caught.value)
    assert INNER not in str(caught.value)


def test_each_short_name_finds_its_graph(tmp_path: Path) -> None:
    dump = made(tmp_path, *FACTS)
    graphs, short = dump.outermost(), ShortNames(dump)

    assert [short.of(found) for found in graphs] == ["forward", "backward", "inference"]
    assert [only(find_graph(dump, short.of(found))) for found in graphs] == graphs
