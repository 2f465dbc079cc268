"""Two rankings into one, with the arithmetic written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.ranking import fusion


def test_reciprocal_ranks_of_two_lists_that_share_their_last() -> None:
    found = fusion.reciprocal_rank([["X", "a", "Y"], ["b", "c", "Y"]])
    assert [name for name, _ in found] == ["Y", "X", "b", "a", "c"]
    assert dict(found) == pytest.approx({"Y": 2 / 63, "X": 1 / 61, "b": 1 / 61, "a": 1 / 62, "c": 1 / 62})


def test_a_list_that_lacks_an_item_adds_nothing_to_it() -> None:
    assert dict(fusion.min_max([{"a": 3.0, "b": 1.0}, {"c": 5.0, "a": 4.0}])) == {"a": 1.0, "c": 1.0, "b": 0.0}


def test_scores_are_scaled_from_the_lowest_to_the_highest() -> None:
    assert fusion.scaled({"a": 2.0, "b": 1.0, "c": 0.5}) == pytest.approx({"a": 1.0, "b": 1 / 3, "c": 0.0})
    assert fusion.scaled({"a": 2.0, "b": 1.0}, 0.0) == {"a": 1.0, "b": 0.5}


def test_equal_scores_are_all_the_highest() -> None:
    assert fusion.scaled({"a": 0.8, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert fusion.scaled({}) == {}


def test_ties_in_a_ranking_are_broken_by_name() -> None:
    assert fusion.ranks({1: 0.5, 2: 0.9, 3: 0.5}, {1: "z", 2: "m", 3: "a"}) == {2: 1, 3: 2, 1: 3}


def test_weights_weigh() -> None:
    assert fusion.weighted_sum([{"a": 1.0}, {"a": 0.5, "b": 1.0}], [0.6, 0.4]) == pytest.approx({"a": 0.8, "b": 0.4})


def test_one_language_only_changes_the_scale() -> None:
    values = np.array([0.80, 0.82, 0.90])
    mean, deviation = fusion.standing({"en": values})["en"]
    assert mean == pytest.approx(0.84)
    assert deviation == pytest.approx(math.sqrt((0.04**2 + 0.02**2 + 0.06**2) / 3))


def test_a_language_whose_cosines_are_all_higher_does_not_win_by_that() -> None:
    own, other = np.full(50, 0.90), np.full(50, 0.80)
    other[7] = 0.85
    found = fusion.standing({"de": own, "en": other})
    assert (0.85 - found["en"][0]) / found["en"][1] > (0.90 - found["de"][0]) / found["de"][1]


def test_who_stands_out_far_enough_counts_in_full_and_others_by_their_share() -> None:
    assert fusion.outstanding({"a": 5.0, "b": 2.0, "c": -1.0}, 4.0) == pytest.approx({"a": 1.0, "b": 0.4, "c": 0.0})
    assert fusion.outstanding({"a": 2.0, "b": 1.0}, 4.0) == pytest.approx({"a": 0.5, "b": 0.25})


def test_among_few_the_farthest_that_is_possible_is_far_enough() -> None:
    # Of four values one can be (4 - 1) / 2 = 1.5 deviations from the mean.
    assert fusion.outstanding({"a": 1.5, "b": -0.5}, 4.0, 4) == pytest.approx({"a": 1.0, "b": 0.0})
    assert fusion.outstanding({"a": 0.0}, 4.0, 1) == {"a": 1.0}
    assert fusion.outstanding({}, 4.0, 0) == {}


def test_no_values_have_no_standing() -> None:
    assert fusion.standing({"en": np.zeros(0)}) == {"en": (0.0, 0.0)}


@given(st.lists(st.dictionaries(st.text(max_size=3), st.floats(-1, 1), max_size=8), min_size=1, max_size=3))
def test_fused_scores_are_finite_and_hold_every_item_once(lists: list[dict[str, float]]) -> None:
    for found in (fusion.min_max(lists), fusion.reciprocal_rank([sorted(one) for one in lists])):
        assert sorted(name for name, _ in found) == sorted(set().union(*lists))
        assert all(math.isfinite(score) for _, score in found)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
