"""What is paired with what: by one key after another, each thing once, and in a stable order."""

import dataclasses
from pathlib import Path

from inspect_compile.analysis.compare.content import content
from inspect_compile.analysis.compare.pairing import Pairing, matched
from inspect_compile.dump import Dump
from tests.handmade import graph, made, node


def test_the_first_key_comes_first_whatever_the_order() -> None:
    found = matched(["a1", "a2", "b1"], ["a2", "a3", "c1"], lambda one: one, lambda one: one[0])

    assert found.pairs == [("a2", "a2"), ("a1", "a3")]
    assert (found.only_a, found.only_b) == (["b1"], ["c1"])


def test_equal_ones_are_paired_in_order_each_once() -> None:
    ours, theirs = [["x"], ["x"], ["y"]], [["x"], ["y"], ["y"]]

    found = matched(ours, theirs, tuple)

    assert [(id(one), id(other)) for one, other in found.pairs] == [
        (id(ours[0]), id(theirs[0])),
        (id(ours[2]), id(theirs[1])),
    ]
    assert [id(one) for one in (*found.only_a, *found.only_b)] == [id(ours[1]), id(theirs[2])]


def test_without_a_key_nothing_is_paired() -> None:
    assert matched([1], [1]) == ([], [1], [1])


def test_contents_are_the_same_whatever_dump_they_are_of(tmp_path: Path) -> None:
    def dump(name: str) -> Dump:
        return made(tmp_path / name, graph(), node("x"))

    one, other = content(dump("a")), content(dump("b"))

    assert one == other
    assert one.dump is not other.dump
    assert one != dataclasses.replace(other, settings=("device tpu",))
    both = Pairing(one, other)
    assert (both.a.dump, both.b.dump) == (one.dump, other.dump)
    assert [(a and a.graph, b and b.graph) for a, b in both.graphs] == [(one.graphs[0].graph, other.graphs[0].graph)]
