"""Gains and numbers of trials: what is claimed, and what is not."""

import math
import random

from inspect_compile.analysis.compare.paired import (
    DIFFER,
    EQUAL,
    RANDOM,
    ROUNDING,
    gain,
    noise,
    numbers,
)
from inspect_compile.facts.trials import Distance


def test_runs_that_differ_by_chance_alone_are_no_gain() -> None:
    """Of 2,000 comparisons of a program with itself the interval leaves out 0 in about one of 20."""
    chance = random.Random(0)
    outside = 0
    for _ in range(2000):
        runs = [chance.gauss(1.0, 0.02) for _ in range(4)]
        pairs = [(chance.gauss(1.0, 0.02), chance.gauss(1.0, 0.02)) for _ in range(4)]
        found = gain(pairs, runs)
        outside += abs(found.part) > found.plus_minus
    assert outside < 150


def test_a_gain_is_inside_of_its_interval() -> None:
    chance = random.Random(0)
    runs = [chance.gauss(1.0, 0.01) for _ in range(4)]
    pairs = [(chance.gauss(1.0, 0.01), chance.gauss(0.8, 0.008)) for _ in range(4)]
    found = gain(pairs, runs)
    assert abs(found.part - 0.2) < found.plus_minus < 0.05


def test_a_machine_that_becomes_slower_is_no_noise() -> None:
    runs = [1.0 + 0.01 * number for number in range(10)]
    assert noise(runs) < 0.03


def test_a_single_pair_says_nothing_without_runs_beside_it() -> None:
    assert math.isinf(gain([(1.0, 0.5)], [1.0]).plus_minus)
    assert noise([1.0]) == 0.0


def test_numbers() -> None:
    eager = [Distance("result 0 of call 0", "float32", 1e-6)]
    again = [Distance("result 0 of call 0", "float32", 0.0)]

    def verdict(error: float) -> str:
        return numbers([Distance("result 0 of call 0", "float32", error)], again, eager).verdict

    assert verdict(0.0) == EQUAL
    assert verdict(3e-6) == ROUNDING
    assert verdict(1e-4) == DIFFER
    assert verdict(math.inf) == DIFFER
    assert numbers([], again, eager).verdict == "not compared"
    moved = [Distance("result 0 of call 0", "float32", 0.9)]
    assert numbers(moved, moved, eager).verdict == RANDOM


def test_integers_must_be_equal() -> None:
    found = [Distance("result 1 of call 0", "int64", math.inf)]
    assert numbers(found, [], []).verdict == DIFFER
