"""Bootstrap intervals."""

from __future__ import annotations

import random

import pytest

from kb.evaluation import intervals
from kb.evaluation.intervals import Estimate


def scattered(count: int) -> list[float]:
    draw = random.Random(3)
    return [draw.random() for _ in range(count)]


def test_equal_values_leave_no_doubt() -> None:
    assert intervals.mean([0.25] * 40) == Estimate(0.25, 0.25, 0.25)


def test_no_value_gives_no_estimate() -> None:
    assert intervals.mean([]) == Estimate(None, None, None)
    assert intervals.mean([]).as_json() == {"value": None, "low": None, "high": None}


def test_the_same_values_and_seed_give_the_same_interval() -> None:
    values = scattered(50)
    assert intervals.mean(values) == intervals.mean(values)
    assert intervals.mean(values, seed=1) != intervals.mean(values, seed=2)


def test_the_interval_of_a_hundred_coin_throws_is_that_of_the_normal_approximation() -> None:
    # The standard error of 50 of 100 is sqrt(.5 * .5 / 100) = .05; 1.96 of it is .098.
    found = intervals.mean([0.0, 1.0] * 50)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.402, abs=0.015)
    assert found.high == pytest.approx(0.598, abs=0.015)


def test_intervals_hold_the_true_mean_about_as_often_as_they_say() -> None:
    draw = random.Random(11)
    held = 0
    for _ in range(200):
        found = intervals.mean([float(draw.random() < 0.8) for _ in range(100)], resamples=400)
        assert found.low is not None and found.high is not None
        held += found.low <= 0.8 <= found.high
    assert 176 <= held <= 200


def test_draws_in_several_goes_are_as_many_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    values = scattered(30)
    whole = intervals.mean(values)
    monkeypatch.setattr(intervals, "_DRAWN_AT_ONCE", 70)
    parted = intervals.mean(values)
    assert whole.value == parted.value
    assert whole.low == pytest.approx(parted.low, abs=0.02)


def test_a_paired_difference_of_equal_values_is_zero_however_they_scatter() -> None:
    values = [0.0, 1.0, 0.5, 0.2]
    assert intervals.difference(values, values) == Estimate(0.0, 0.0, 0.0)


def test_a_constant_gain_is_certain_though_the_values_scatter() -> None:
    first = [0.0, 0.5, 0.25, 0.75] * 5
    found = intervals.difference(first, [value + 0.125 for value in first])
    assert found == Estimate(0.125, 0.125, 0.125)


def test_a_difference_is_second_minus_first() -> None:
    assert intervals.difference([0.5], [0.0]).value == -0.5


def test_different_numbers_of_questions_can_not_be_paired() -> None:
    with pytest.raises(ValueError, match="same questions"):
        intervals.difference([1.0], [1.0, 0.0])
