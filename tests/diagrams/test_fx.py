"""FX graphs as pictures: every node has its place, and an arrow is a dependency, told by a walk of its own."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspect_compile.diagrams.fx.picture import folded_values, fx_picture
from inspect_compile.diagrams.fx.values import is_view, values
from inspect_compile.diagrams.kinds.kind import STAGES
from inspect_compile.diagrams.picture import Picture, boxes_in
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Node
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.diagrams.pictures import FOLDERS, recorded, say_results
from tests.handmade import graph, made


def test_inputs_of_a_nested_graph_are_not_those_of_the_graph_around_it(dump_of: DumpOf) -> None:
    """flex_attention calls graphs with a score and indices; their inputs have names that outer ones have, too."""
    dump = open_dump(dump_of("flex_attention").dump)
    (outer,) = dump.outermost()
    picture = fx_picture(CompiledGraph(dump, outer.graph), "post_grad", unfold=True)

    assert picture is not None
    nested = {frame.text: list(boxes_in(frame.inner)) for frame in picture.frames() if frame.kind == "graph"}
    inputs = {text: [box.title for box in boxes if box.kind == "input"] for text, boxes in nested.items()}
    every = [node for node in CompiledGraph(dump, outer.graph).stage("post_grad") if node.op == "placeholder"]
    own: dict[str, list[str]] = {}
    for node in every:
        if node.graph != outer.graph:
            own.setdefault(f"graph {node.graph.rpartition('/')[2]}", []).append(node.name)
    assert inputs == own
    assert len(own) == 2
    outside = {box.title for box in picture.boxes() if box.kind == "input"} - {
        name for one in own.values() for name in one
    }
    assert {"query", "key", "value"} <= outside
    (section,) = picture.sections
    calls = [arrow for arrow in section.arrows if arrow.kind == "call"]
    titles = {box.id: box.title for box in picture.boxes()}
    frames = {frame.id: frame.text for frame in picture.frames()}
    assert [(titles[arrow.tail], frames[arrow.into or ""]) for arrow in calls] == [
        ("flex_attention", f"graph {name}") for name in ("sdpa_score0", "sdpa_mask0")
    ]
    caller = calls[0].tail
    assert any(above != caller for above, _ in section.below), "ten inputs of one node are not one row"
    begins = {box.id for boxes in nested.values() for box in boxes} - {arrow.head for arrow in section.arrows}
    assert begins <= {under for above, under in section.below if above == caller}


def depends(nodes: list[Node], shown: set[str]) -> set[tuple[str, str]]:
    """(reader, read): pairs of shown nodes with a way between them over nodes that are not shown."""
    inputs = {node.name: node.inputs for node in nodes}
    found = set()
    for name in shown:
        seen, ahead = set(), [*inputs[name]]
        while ahead:
            one = ahead.pop()
            if one in seen or one not in inputs:
                continue
            seen.add(one)
            if one in shown:
                found.add((name, one))
            else:
                ahead += inputs[one]
    return found


def told(picture: Picture) -> set[tuple[str, str]]:
    """(reader, read) of each arrow, as its tooltip says."""
    lines = [line for arrow in picture.arrows() for line in arrow.tooltip if " reads " in line]
    return {(line.partition(" reads ")[0], line.partition(" reads ")[2]) for line in lines}


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", FOLDERS)
def test_arrows_are_the_dependencies(name: str, stage: str, everything: bool) -> None:
    dump = recorded(name)
    for one in dump.outermost():
        nodes = CompiledGraph(dump, one.graph).stage(stage)
        if not nodes or len({node.graph for node in nodes}) > 1:
            continue
        picture = fx_picture(CompiledGraph(dump, one.graph), stage, unfold=True, everything=everything)
        assert picture is not None
        shown = {box.tooltip[0] for box in picture.boxes() if box.kind != "elsewhere"}
        assert len(shown) == sum(box.kind != "elsewhere" for box in picture.boxes())
        left_out = [node for node in nodes if node.name not in shown]
        if everything:
            assert not left_out
        assert all(node.op in ("placeholder", "get_attr") or is_view(node) for node in left_out)
        assert told(picture) == depends(nodes, shown)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", FOLDERS)
def test_a_fold_loses_nothing(name: str, stage: str) -> None:
    """Each shown node is in exactly one box, and each dependency is an arrow of these boxes, inside a fold, or, of a
    result, a line of its box.
    """
    dump = recorded(name)
    for one in dump.outermost():
        nodes = CompiledGraph(dump, one.graph).stage(stage)
        picture = fx_picture(CompiledGraph(dump, one.graph), stage, unfold=False, everything=True)
        if picture is None:
            continue
        found = values(nodes, None, everything=True)
        whole = folded_values(found)
        assert sorted(at for each in whole.folds for at in each.units) == list(range(len(nodes)))
        assert [box.id for box in picture.boxes()] == [f"fold_{place}" for place in range(len(whole.folds))]
        drawn = {(arrow.tail, arrow.head) for arrow in picture.arrows()}
        place_of = {(node.graph, node.name): place for place, node in enumerate(nodes)}
        told = say_results(picture.boxes())
        for at, node in enumerate(nodes):
            for read in node.inputs:
                place = place_of.get((node.graph, read))
                if place is not None and not whole.is_inside(place, at):
                    tail, head = f"fold_{whole.fold_of[place]}", f"fold_{whole.fold_of[at]}"
                    assert (tail, head) in drawn or (node.op == "output" and tail in told)


names = st.integers(2, 14).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(
            st.tuples(st.sampled_from(["aten.view.default", "aten.add.Tensor", "aten.mm.default", "get_attr"]),
                      st.lists(st.integers(0, 13), max_size=3)),
            min_size=count, max_size=count,
        ),
    )
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(names)
def test_random_graphs(drawn: tuple[int, list[tuple[str, list[int]]]]) -> None:
    count, rows = drawn
    nodes = []
    for place in range(count):
        target, reads = rows[place]
        op = "get_attr" if target == "get_attr" else "call_function"
        inputs = tuple(dict.fromkeys(f"n{read}" for read in reads if read < place and op != "get_attr"))
        nodes.append(Node(graph="g", stage="aot", index=place, name=f"n{place}", op=op, target=target, inputs=inputs))
    found = values(nodes, None, everything=False)
    shown = {value.node.name for value in found}
    mine = {(value.node.name, found[place].node.name) for value in found for place in value.reads}
    assert mine == depends(nodes, shown)
    constants = {node.name for node in nodes if node.op == "get_attr"}
    for value in found:  # what it reads of constants, through views, is named
        behind = {read for name, read in depends(nodes, shown | constants) if name == value.node.name}
        assert set(value.hidden) == behind & constants


def layers(dump_of: Path, count: int) -> Dump:
    """A chain of equal layers of an nn.Module each."""
    facts = [Node(graph="model__0_forward_1.0", stage="aot", index=0, name="x", op="placeholder", target="x")]
    last = "x"
    for layer in range(count):
        for number, what in enumerate(("mm", "add", "relu")):
            name = f"{what}_{layer}"
            facts.append(
                Node(
                    graph="model__0_forward_1.0",
                    stage="aot",
                    index=1 + 3 * layer + number,
                    name=name,
                    op="call_function",
                    target=f"aten.{what}.default",
                    inputs=(last,),
                    module=f"layers.{layer}",
                )
            )
            last = name
    return made(dump_of, graph(), *facts)


def test_layers_that_repeat_are_drawn_once(tmp_path: Path) -> None:
    picture = fx_picture(CompiledGraph(layers(tmp_path, 40), "model__0_forward_1.0"), "aot")
    assert picture is not None
    (frame,) = picture.frames()
    assert frame.text == "40 × the same: layers.0 … layers.39"
    assert [box.title for box in boxes_in(frame.inner)] == ["mm_0", "add_0", "relu_0"]
    assert [arrow.kind for arrow in picture.arrows()].count("again") == 1


def test_a_view_of_several_values_is_drawn() -> None:
    def node(index: int, name: str, *reads: str, target: str = "aten.add.Tensor") -> Node:
        return Node(graph="g", stage="aot", index=index, name=name, op="call_function", target=target, inputs=reads)

    nodes = [
        node(0, "a"),
        node(1, "size"),
        node(2, "view", "a", "size", target="aten.view.default"),
        node(3, "b", "view"),
    ]
    assert [value.node.name for value in values(nodes, None, everything=False)] == ["a", "size", "view", "b"]
