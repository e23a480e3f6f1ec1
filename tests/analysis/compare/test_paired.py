"""Gains and numbers of trials: what is claimed, and what is not."""

import math
import random
from collections.abc import Sequence

from inspect_compile.analysis.compare.paired import (
    DIFFER,
    EQUAL,
    RANDOM,
    ROUNDING,
    Moves,
    farthest,
    gain,
    noise,
    numbers,
    ratio,
)
from inspect_compile.facts.trials import Distance, Window


def test_runs_that_differ_by_chance_alone_are_no_gain() -> None:
    """Of 2,000 comparisons of a program with itself the interval leaves out 0 in about one of 20."""
    chance = random.Random(0)
    outside = 0
    for _ in range(2000):
        same = [chance.gauss(1.0, 0.02) for _ in range(3)]
        found = gain([chance.gauss(1.0, 0.02) for _ in range(4)], same)
        outside += abs(found.part) > found.plus_minus
    assert outside < 150


def test_a_gain_is_inside_of_its_interval() -> None:
    chance = random.Random(0)
    same = [chance.gauss(1.0, 0.01) for _ in range(3)]
    found = gain([chance.gauss(0.8, 0.008) for _ in range(4)], same)
    assert abs(found.part - 0.2) < found.plus_minus < 0.05


def windows(seconds: Sequence[float], first: int = 1) -> list[Window]:
    return [Window(turn, one) for turn, one in enumerate(seconds, first)]


def test_a_machine_that_becomes_slower_is_no_noise() -> None:
    drifting = [1.0, 1.3, 1.7, 2.0]
    assert ratio(windows(drifting), windows([one / 2 for one in drifting])) == 0.5


def test_windows_are_compared_with_those_of_the_same_turn() -> None:
    assert ratio(windows([1.0, 2.0, 4.0]), windows([1.0, 2.0], first=2)) == 0.5
    assert ratio(windows([1.0]), windows([1.0], first=2)) is None


def test_a_clock_of_two_speeds_is_averaged() -> None:
    """Each program at one of two speeds, whenever it runs."""
    chance = random.Random(0)
    speeds = [[chance.choice((1.0, 1.5)) for _ in range(24)] for _ in range(2)]
    assert abs((ratio(windows(speeds[0]), windows(speeds[1])) or 0) - 1) < 0.1


def test_a_single_ratio_says_nothing_without_others_beside_it() -> None:
    assert math.isinf(gain([0.5], []).plus_minus)
    assert noise([], 4) == 0.0
    assert noise([1.01, 0.99, 1.01], 4) < noise([1.01, 0.99, 1.01], 1) < 0.04


def test_numbers() -> None:
    moves = Moves({"result 0 of call 0": 0.0}, {"result 0 of call 0": 1e-6})

    def verdict(error: float) -> str:
        return numbers([Distance("result 0 of call 0", "float32", error)], moves).verdict

    assert verdict(0.0) == EQUAL
    assert verdict(3e-6) == ROUNDING
    assert verdict(1e-4) == DIFFER
    assert verdict(math.inf) == DIFFER
    assert numbers([], moves).verdict == "not compared"
    moved = [Distance("result 0 of call 0", "float32", 0.9)]
    assert numbers(moved, Moves(farthest([moved, []]))).verdict == RANDOM


def test_what_moves_from_run_to_run_is_left_out_and_the_rest_compared() -> None:
    moves = Moves({"result 0 of call 0": 1e-7, "gradient 1 of step 0": 0.4})
    bias = Distance("gradient 1 of step 0", "float32", 0.6)
    found = numbers([Distance("result 0 of call 0", "float32", 2e-7), bias], moves)
    assert (found.verdict, found.words) == (
        ROUNDING,
        "result 0 of call 0 moves by 2.0e-07 of its size; 1 of 2 differ from run to run",
    )
    assert numbers([Distance("result 0 of call 0", "float32", 1e-2), bias], moves).verdict == DIFFER


def test_integers_must_be_equal() -> None:
    found = [Distance("result 1 of call 0", "int64", math.inf)]
    assert numbers(found, Moves()).verdict == DIFFER
