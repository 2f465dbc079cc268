"""A segment made of ready tokens in batches is what one made of files would be."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.index import bulk
from kb.index.builder import sorted_pairs
from kb.index.bulk import Tokens
from kb.index.segment import MOST_COUNTED, Segment

VOCABULARY = [f"w{n}" for n in range(30)]


def segment_of(documents: list[list[int]], cuts: int = 1) -> Segment:
    step = max(len(documents) // cuts, 1)
    batches = [
        Tokens(
            np.array([term for document in part for term in document], dtype=np.int32),
            np.array([len(document) for document in part], dtype=np.int32),
        )
        for part in (documents[start : start + step] for start in range(0, len(documents), step))
    ]
    with TemporaryDirectory() as folder:
        lengths = bulk.write(Path(folder, "bulk.seg"), VOCABULARY, batches)
        segment = Segment.open(1, Path(folder, "bulk.seg"), ("en",))
    segment.arrays.verify()
    assert lengths.tolist() == segment.text.lengths.tolist()
    return segment


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from([1, 7, 50, 10_000]))
def test_postings_forward_lists_and_lengths_are_those_counted_by_hand(seed: int, cuts: int, batch: int) -> None:
    chance = random.Random(seed)
    documents = [[chance.randrange(30) for _ in range(chance.randint(0, 40))] for _ in range(chance.randint(1, 40))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "BATCH_TOKENS", batch)
        patch.setattr(bulk, "_JOINED", batch)
        patch.setattr(bulk, "_BATCH_UNITS", 1 + seed % 20)
        segment = segment_of(documents, cuts)
    assert segment.text.lengths.tolist() == [len(document) for document in documents]
    for term, word in enumerate(VOCABULARY):
        number = segment.number_of(word)
        assert number is not None
        units, counts = segment.text.of(number)
        held = {unit: document.count(term) for unit, document in enumerate(documents) if term in document}
        assert dict(zip(units.tolist(), counts.tolist(), strict=True)) == held
        assert units.tolist() == sorted(held)
        assert segment.terms_of_word(word, ("en",)) == (word,)
        assert int(segment.word_documents[segment.words.find(word)]) == len(held)
    for unit, document in enumerate(documents):
        assert {segment.terms[int(t)] for t in segment.text.terms_of(unit)} == {VOCABULARY[term] for term in document}


def test_a_term_counts_at_most_as_often_as_the_format_holds() -> None:
    segment = segment_of([[3] * 1000])
    number = segment.number_of("w3")
    assert number is not None
    assert segment.text.of(number)[1].tolist() == [MOST_COUNTED]
    assert segment.text.lengths.tolist() == [1000]


def test_pairs_too_large_for_32_bits_are_sorted_like_small_ones() -> None:
    high, low = np.array([3, 1, 3, 2], np.int32), np.array([70_000, 5, 4, 99_999], np.int32)
    for highs, lows in ((4, 100_000), (1 << 20, 1 << 20)):
        keys, bits = sorted_pairs(high, low, highs, lows)
        pairs = [(int(key) >> bits, int(key) & (1 << bits) - 1) for key in keys]
        assert pairs == sorted(zip(high.tolist(), low.tolist(), strict=True))
