"""Misspelling: one typo in every long word, nothing else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kb.analysis.distance import within
from kb.evaluation.typos import misspell

LETTERS = "abcdefzäßABCабвгдежяАБВё"


@given(st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=8), st.integers())
def test_every_word_of_five_letters_is_one_edit_away_and_the_others_are_kept(words: list[str], seed: int) -> None:
    changed = misspell(" ".join(words), str(seed)).split(" ")
    assert len(changed) == len(words)
    for word, other in zip(words, changed, strict=True):
        if len(word) < 5:
            assert other == word
        else:
            assert within(word, other, 1) == 1


@given(st.text(), st.integers())
def test_what_is_no_word_stays_and_the_seed_decides(text: str, seed: int) -> None:
    changed = misspell(text, str(seed))
    assert changed == misspell(text, str(seed))
    assert re.sub(r"[^\W\d_]+", "w", changed) == re.sub(r"[^\W\d_]+", "w", text)


def test_russian_words_get_russian_letters() -> None:
    assert all(not char.isascii() for seed in range(50) for char in misspell("миграция", str(seed)))


def test_other_seeds_give_other_typos() -> None:
    assert len({misspell("migration", str(seed)) for seed in range(50)}) > 20
