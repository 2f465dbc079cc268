"""BM25 by hand, and against other programs on the same tokens."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bases import Base
from hypothesis import given
from hypothesis import strategies as st

from kb.index.catalog import Catalog
from kb.index.snapshot import Snapshot, load
from kb.ranking import bm25
from kb.ranking.bm25 import Parameters, WeightedTerm

K1, B = 1.2, 0.75
PARAMETERS = Parameters(K1, B)


def opened(base: Base) -> Snapshot:
    base.kb.index()
    folder = next(path.parent for path in base.cache.rglob("catalog.db"))
    catalog = Catalog.open(folder)
    with catalog.reading():
        snapshot = load(catalog)
    catalog.close()
    return snapshot


def corpus(seed: int, documents: int = 60) -> list[list[str]]:
    """Documents of words that no rule stems: one token each for every program."""
    chance = random.Random(seed)
    words = [f"w{n}" for n in range(40)]
    weights = [1 / (n + 1) for n in range(40)]
    return [chance.choices(words, weights, k=chance.randint(1, 60)) for _ in range(documents)]


def as_base(make_base: Callable[..., Base], documents: list[list[str]]) -> Snapshot:
    return opened(make_base({f"{n:03}.txt": " ".join(tokens) for n, tokens in enumerate(documents)}))


def ours(snapshot: Snapshot, terms: list[WeightedTerm]) -> np.ndarray:
    (segment,) = snapshot.segments
    assert (segment.unit_passage >= 0).all()  # one passage a document: units are documents
    return bm25.scores(segment, "text", terms, snapshot.text.mean, PARAMETERS)


def test_the_score_is_that_of_the_formula(make_base: Callable[..., Base]) -> None:
    # Lengths 3, 2 and 1: mean 2. w1 stands in two of three, w2 in one.
    snapshot = as_base(make_base, [["w1", "w1", "w3"], ["w1", "w2"], ["w3"]])
    assert (snapshot.text.units, snapshot.text.mean) == (3, 2.0)
    terms = bm25.weigh(snapshot, "text", [("w1", 1.0), ("w2", 1.0), ("w9", 1.0)])
    assert [(t.term, t.frequency) for t in terms] == [("w1", 2), ("w2", 1)]
    idf1, idf2 = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    assert [t.idf for t in terms] == pytest.approx([idf1, idf2])
    long = 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    mean = 1 * 2.2 / (1 + 1.2)
    assert ours(snapshot, terms).tolist() == pytest.approx([idf1 * long, (idf1 + idf2) * mean, 0], rel=1e-6)


@given(st.integers(1, 10**7), st.data())
def test_an_idf_is_positive_and_falls_with_frequency(units: int, data: st.DataObject) -> None:
    frequency = data.draw(st.integers(0, units))
    assert bm25.idf(units, frequency) > 0
    assert bm25.idf(units, frequency) > bm25.idf(units, frequency + 1)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_bm25s(make_base: Callable[..., Base], seed: int) -> None:
    bm25s = pytest.importorskip("bm25s")
    documents = corpus(seed)
    snapshot = as_base(make_base, documents)
    other = bm25s.BM25(method="lucene", k1=K1, b=B)
    other.index(documents, show_progress=False)
    chance = random.Random(seed)
    for _ in range(10):
        query = sorted({f"w{chance.randrange(40)}" for _ in range(4)} & {word for tokens in documents for word in tokens})
        if query:
            # bm25s leaves out the constant factor k1 + 1.
            expected = other.get_scores(query) * (K1 + 1)
            assert ours(snapshot, bm25.weigh(snapshot, "text", [(term, 1.0) for term in query])) == pytest.approx(
                expected, abs=1e-5
            )


@pytest.mark.parametrize("seed", range(4))
def test_term_weights_are_those_of_rank_bm25(make_base: Callable[..., Base], seed: int) -> None:
    from rank_bm25 import BM25Okapi

    documents = corpus(seed)
    snapshot = as_base(make_base, documents)
    other = BM25Okapi(documents, k1=K1, b=B)
    for term in sorted(other.idf):
        # The same saturation and length normalisation; the idf alone differs, where that one can turn negative.
        weighted = WeightedTerm(term, 0, other.idf[term])
        assert ours(snapshot, [weighted]) == pytest.approx(other.get_scores([term]), abs=1e-5)


def test_contributions_add_up_to_the_score(make_base: Callable[..., Base]) -> None:
    snapshot = as_base(make_base, corpus(9))
    (segment,) = snapshot.segments
    terms = bm25.weigh(snapshot, "text", [(term, 1.0) for term in ("w0", "w3", "w7", "w20")])
    scores = ours(snapshot, terms)
    for unit, score in enumerate(scores.tolist()):
        parts = bm25.contributions(segment, "text", unit, terms, snapshot.text.mean, PARAMETERS)
        assert sum(parts.values()) == pytest.approx(score, abs=1e-5)


@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0]), max_size=40),
    st.integers(1, 60),
    st.sampled_from([1, 7, 300, 512, 700]),
)
def test_the_best_are_found_with_all_ties_of_the_last(values: list[float], count: int, repeat: int) -> None:
    scores = np.repeat(np.array(values, dtype=np.float32), repeat)
    found = sorted(bm25.at_least(scores, count).tolist())
    positive = sorted((value for value in scores.tolist() if value > 0), reverse=True)
    least = positive[count - 1] if len(positive) >= count else 0.0
    assert found == [at for at, value in enumerate(scores.tolist()) if value > 0 and value >= least]


@given(st.integers(0, 2**32), st.integers(1, 600))
def test_the_best_of_many_blocks_are_found(seed: int, count: int) -> None:
    chance = np.random.default_rng(seed)
    scores = np.where(chance.random(5000) < 0.05, chance.random(5000), 0).astype(np.float32)
    found = set(bm25.at_least(scores, count).tolist())
    best = np.argsort(-scores, kind="stable")[:count]
    assert {int(at) for at in best if scores[at] > 0} <= found
    assert len(found) <= max(count, 0) or scores[list(found)].min() == np.sort(scores)[-count]


def test_edits_leave_no_trace_in_frequencies_and_lengths(make_base: Callable[..., Base], tmp_path: Path) -> None:
    documents = corpus(3, 20)
    base = make_base({f"{n:03}.txt": " ".join(tokens) for n, tokens in enumerate(documents)})
    base.kb.index()
    base.write("003.txt", "w1 w2 w3 w39 w39")
    (base.root / "007.txt").unlink()
    kept = opened(base)
    again = make_base({path.name: path.read_bytes() for path in base.root.iterdir()})
    fresh = opened(again)
    assert (kept.text, kept.head) == (fresh.text, fresh.head)
    for n in range(40):
        assert kept.frequency("text", f"w{n}") == fresh.frequency("text", f"w{n}")
