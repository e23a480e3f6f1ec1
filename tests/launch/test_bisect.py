"""The search itself, and what says that two runs did the same fusions."""

import math
from pathlib import Path

import pytest

from inspect_compile.facts import Counted
from inspect_compile.launch.bisect import ProcessFusions, Run, at, first_failing, is_start_of, most


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100])
def test_the_first_that_fails_is_found_in_a_logarithm_of_runs(count: int) -> None:
    for wrong in range(1, count + 1):
        asked: list[int] = []

        def fails(allowed: int, wrong: int = wrong, asked: list[int] = asked) -> bool:
            asked.append(allowed)
            return allowed >= wrong

        assert first_failing(count, fails) == wrong
        assert len(asked) <= math.ceil(math.log2(count))
        assert len(set(asked)) == len(asked)


def _run(*parts: str) -> Run:
    """Each part's fusions as words: `a:op1-op2` is one of graph a."""
    made = []
    for index, text in enumerate(parts):
        words = [word.partition(":") for word in text.split()]
        rows = [
            Counted(graph=graph, number=number, a=pair.split("-")[0], b=pair.split("-")[1], into="")
            for number, (graph, _, pair) in enumerate(words, 1)
        ]
        made.append(ProcessFusions(Path(f"rank_{index}"), tuple(rows)))
    return Run("all", Path(), 1, 1.0, tuple(made), "")


def test_each_process_counts_its_own() -> None:
    complete = _run("a:op1-op2 a:op3-op4 b:op0-op1", "a:op1-op2")

    assert most(complete, "") == 3
    assert most(complete, "b") == 1
    assert is_start_of(_run("a:op1-op2 a:op3-op4", "a:op1-op2"), complete, 2, "")
    assert is_start_of(_run("a:op1-op2", "a:op1-op2 a:op3-op4"), complete, 2, "")
    assert not is_start_of(_run("a:op1-op2 a:op3-op5", "a:op1-op2"), complete, 2, "")
    assert not is_start_of(_run("a:op1-op2 a:op3-op4"), complete, 2, "")
    assert is_start_of(_run("a:op1-op2 a:op3-op4 b:op0-op1", "a:op1-op2"), complete, 1, "b")


def test_ranks_that_do_the_same_are_told_once() -> None:
    complete = _run("a:op1-op2 a:op3-op4", "a:op1-op2 a:op3-op5")

    assert [(part.root.name, row.a, row.b) for part, row in at(complete, 1, "")] == [("rank_0", "op1", "op2")]
    assert [row.b for _, row in at(complete, 2, "")] == ["op4", "op5"]
