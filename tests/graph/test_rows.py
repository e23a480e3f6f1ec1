"""Rows as the analyses pick them."""

from pathlib import Path

from inspect_compile.analysis.dumps.hooks import disabled, hooks
from inspect_compile.facts import Choice, Chosen, Hook, Location
from inspect_compile.graph import CompiledGraph, grouped, shared_fields
from tests.handmade import GRAPH, made, node, operation


def test_the_last_word_on_a_hook_holds(tmp_path: Path) -> None:
    told = [
        Hook(probe="p", target="gone", state="missing"),
        Hook(probe="p", target="raises", state="failed", calls=1),
        Hook(probe="p", target="raises", state="failed", calls=2),
        Hook(probe="p", target="well", state="closed"),
    ]
    dump = made(tmp_path, *told)

    assert [(hook.target, hook.calls) for hook in hooks(dump)] == [("gone", 0), ("raises", 2), ("well", 0)]
    assert [hook.target for hook in disabled(dump)] == ["raises", "gone"]


def test_rows_are_grouped_in_their_order() -> None:
    assert grouped(["by", "a", "bye", "as"], lambda word: word[0]) == {"b": ["by", "bye"], "a": ["a", "as"]}


def test_the_fields_of_two_kinds_of_records() -> None:
    choice = Choice(graph="g", tuning=3, label="one", kind="extern")
    assert shared_fields(choice, Chosen) == {"graph": "g", "tuning": 3, "label": "one"}
    assert shared_fields(choice, Chosen, "tuning") == {"graph": "g", "label": "one"}


def test_nodes_and_operations_of_a_phase(tmp_path: Path) -> None:
    where = Location("model.py", 12)
    dump = made(
        tmp_path,
        node("add", where=where),
        node("mul"),
        node("add", stage="aot", where=where),
        operation("op0", reads={}, writes={}, phase="pre_fusion"),
        operation("op0", reads={}, writes={}),
    )
    assert [row.name for row in CompiledGraph(dump, GRAPH).nodes] == ["add", "mul"]
    assert CompiledGraph(dump, GRAPH).line_of == {(GRAPH, "add"): where}
    assert [row.phase for row in CompiledGraph(dump, GRAPH).groups] == ["post_fusion"]
