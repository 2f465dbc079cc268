"""Edits between spellings, counted in characters."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.analysis.distance import signature, within

WORD = st.text(alphabet="abcхмёß", max_size=7)


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("context", "context", 0),
        ("context", "contxet", 1),
        ("context", "contex", 1),
        ("context", "contexts", 1),
        ("контекст", "контектс", 1),
        ("контекст", "кантекст", 1),
        ("kitten", "sitting", None),
        ("", "a", 1),
        ("", "", 0),
    ],
)
def test_an_edit_is_a_character_put_in_left_out_replaced_or_swapped(one: str, other: str, edits: int | None) -> None:
    assert within(one, other, 1) == edits
    assert within(other, one, 1) == edits


def reference(one: str, other: str) -> int:
    """The recurrence as it is written in books, without any shortcut."""

    @cache
    def of(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        best = min(of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (one[i - 1] != other[j - 1]))
        if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
            best = min(best, of(i - 2, j - 2) + 1)
        return best

    return of(len(one), len(other))


@given(WORD, WORD, st.integers(0, 4))
def test_the_distance_is_that_of_the_definition(one: str, other: str, most: int) -> None:
    right = reference(one, other)
    assert within(one, other, most) == (right if right <= most else None)


@given(WORD, WORD)
def test_an_edit_changes_at_most_two_bits_of_a_signature(one: str, other: str) -> None:
    assert (signature(one) ^ signature(other)).bit_count() <= 2 * reference(one, other)
