"""The four variants of BM25, against the programs that they are those of."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bases import Base
from hypothesis import given
from hypothesis import strategies as st

from kb.config import SCORINGS, load
from kb.errors import ConfigError
from kb.index.catalog import Catalog
from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.index.snapshot import load as load_snapshot
from kb.ranking import bm25, impacts, maxscore, oracle
from kb.ranking.bm25 import Parameters

MakeBase = Callable[..., Base]
K1, B = 1.2, 0.75
TOML = '[[collections]]\nname = "docs"\nroot = "docs"\n[search]\nscoring = "{}"\n'


def snapshot_of(base: Base) -> Snapshot:
    base.kb.index()
    catalog = Catalog.open(next(path.parent for path in base.cache.rglob("catalog.db")))
    with catalog.reading():
        found = load_snapshot(catalog)
    catalog.close()
    return found


def words(chance: random.Random, most: int) -> str:
    return " ".join(f"w{int(chance.paretovariate(0.7)) % 300}" for _ in range(chance.randint(1, most)))


def edited(make_base: MakeBase, seed: int, documents: int = 150) -> Snapshot:
    """A base of several segments with dead units, of sections with several passages, words in half and in all of them."""
    chance = random.Random(seed)
    base = make_base()
    for n in range(documents):
        half = "half " if n % 2 else ""
        base.write(
            f"{n:03}.md", f"# everywhere {words(chance, 5)}\n\neverywhere {half}{words(chance, 900 if n % 10 == 0 else 60)}\n"
        )
    base.kb.index()
    for n in range(0, documents, 7):
        base.write(f"{n:03}.md", f"# everywhere\n\neverywhere {words(chance, 80)}\n")
        if n % 3 == 0:
            base.kb.index()
    (base.root / "003.md").unlink()
    return snapshot_of(base)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    base = Base(tmp_path_factory.mktemp("variants") / "base")
    try:
        return edited(lambda: base, 1)
    finally:
        base.close()


def test_every_variant_gives_the_scores_of_rank_bm25_on_six_hundred_queries(large: Snapshot) -> None:
    assert len(large.segments) > 1
    assert any(len(segment.dead.units) for segment in large.segments)
    found = list(oracle.compare(large, 600, K1, B))
    assert [one.scoring for one in found] == list(SCORINGS)
    for one in found:
        assert one.difference <= 1e-5, one


def test_every_variant_gives_the_scores_of_rank_bm25_on_names(large: Snapshot) -> None:
    assert [one.ok for one in oracle.compare(large, 100, 1.5, 0.4, "head")] == [True] * 4


def test_lucene_gives_the_scores_of_bm25s_on_six_hundred_queries(large: Snapshot) -> None:
    bm25s = pytest.importorskip("bm25s")
    held = oracle.documents(large, "text")
    other = bm25s.BM25(method="lucene", k1=K1, b=B)
    other.index(held, show_progress=False)
    chance = random.Random(3)
    for _ in range(600):
        query = sorted(set(chance.choices(chance.choice(held), k=4)))
        expected = other.get_scores(query) * (K1 + 1)  # which bm25s leaves out
        assert oracle.scores(large, "text", query, Parameters(K1, B)) == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_all_that_hold_a_word_come_back_whatever_the_sign(make_base: MakeBase, scoring: str) -> None:
    files = {f"{n}.md": f"# Note {n}\n\nshared {'half' if n % 2 else 'other'} word{n}\n" for n in range(4)}
    base = make_base(files | {"long.md": "# Long\n\n" + "nothing of it at all. " * 300}, toml=TOML.format(scoring))
    assert sorted(base.ids("shared")) == ["0", "1", "2", "3"]
    assert sorted(base.ids("half")) == ["1", "3"]
    assert base.ids("word2") == ["2"]
    assert base.ids("absent") == []
    assert len(base.ids("shared -half")) == 2
    for query in ("shared", "half word1", "note"):
        answer = base.search(query, explain=True, limit=50)
        assert [result.score for result in answer.results] == sorted((r.score for r in answer.results), reverse=True)
        for result in answer.results:
            assert result.explanation is not None
            assert sum(part["score"] for part in result.explanation.values()) == pytest.approx(result.score, abs=1e-4)


def test_okapi_scores_nothing_where_a_word_stands_in_half(make_base: MakeBase) -> None:
    base = make_base({f"{n}.txt": "half" if n < 2 else "other" for n in range(4)}, toml=TOML.format("okapi"))
    answer = base.search("half")
    assert [(result.id, result.score) for result in answer.results] == [("0", 0.0), ("1", 0.0)]
    assert answer.total == 2


@pytest.mark.parametrize("scoring", SCORINGS)
def test_an_edited_base_ranks_as_a_rebuilt_one_to_the_last_bit(make_base: MakeBase, scoring: str) -> None:
    chance = random.Random(5)
    base = make_base({f"{n:02}.md": f"# Note\n\n{words(chance, 40)}\n" for n in range(30)}, toml=TOML.format(scoring))
    base.kb.index()
    for n in range(0, 30, 4):
        base.write(f"{n:02}.md", f"# Other\n\n{words(chance, 40)}\n")
        base.kb.index()
    fresh = base.rebuilt()
    for query in ("w1", "w1 w2 w3", "note w5", "other"):
        assert base.search(query, limit=50).as_json() == fresh.search(query, limit=50).as_json()


def test_an_unknown_variant_is_refused_with_the_valid_ones(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n"}, toml=TOML.format("bm42"))
    with pytest.raises(ConfigError, match="lucene, okapi, plus, l"):
        load(Path(base.path))


CHOICES = {
    "_FEW_POSTINGS": [0, 4096],
    "_FEW_SHARE": [0.0, 1 / 64],
    "_GATHERED_SHARE": [0.0, 1 / 32, 1e9],
    "_ROWS": [1, 7, 128],
    "_LARGE": [0, 1 << 18],
    "_STEP": [0.125, 0.5],
    "_FIRST_SHARE": [0.0, 1 / 256],
    "_FIRST_TERMS": [1, 4],
    "_FIRST_POSTINGS": [1, 1000],
    "_SCANNED_SHARE": [0.0, 1 / 8, 1e9],
    "_COUNTED": [0, 10_000],
    "_SEEDS": [1, 64],
    "_MOST_SEEDS": [3, 300],
    "_FEW": [0, 64],
    "_PER_LOOKUP": [0, 20],
    "_MOST_CANDIDATES": [3, 20_000],
    "_FEW_BEST": [0, 1000],
    "_SEVERAL": [0, 48],
    "_LARGEST_CODE": [20, 250],
}
"""What decides which way the best units are found: each way is to be gone here, in texts that are small."""


@given(st.integers(0, 2**32), st.integers(1, 30))
def test_the_best_units_are_those_of_all_scores_to_the_last_bit(large: Snapshot, seed: int, count: int) -> None:
    chance = random.Random(seed)
    names = [f"w{n}" for n in range(60)] + ["everywher", "half"]
    scoring = chance.choice(SCORINGS)
    terms = [(term, chance.choice([1.0, 0.3])) for term in chance.sample(names, chance.randint(1, 9))]
    asked = bm25.weigh(large, "text", terms, scoring)
    for segment in large.segments:
        for most_added in (0, 1 << 30):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(maxscore, "_MOST_ADDED", most_added)
                patch.setattr(maxscore, "_MOST_ADDED_LARGE", most_added)
                for name, values in CHOICES.items():
                    patch.setattr(maxscore, name, chance.choice(values))
                patch.setattr(bm25, "_SMALL", chance.choice([0, 1 << 17]))
                patch.setattr(bm25, "_BLOCK", chance.choice([4, 512]))
                assert_best(segment, large, asked, count, Parameters(K1, B, scoring))


def assert_best(segment: Segment, snapshot: Snapshot, asked: list[bm25.WeightedTerm], count: int, parameters: Parameters) -> None:
    everything = bm25.scores(segment, "text", asked, snapshot.text.mean, parameters)
    everything[segment.dead.units] = 0
    units, scores = maxscore.best_units(segment, "text", asked, snapshot.text.mean, parameters, count)
    assert sorted(units.tolist()) == sorted(bm25.at_least(everything, count).tolist())
    assert np.array_equal(everything[units], scores)
    best = units.tolist()
    for floor in sorted(scores.tolist())[:: max(len(scores) // 3, 1)]:
        units, scores = maxscore.best_units(segment, "text", asked, snapshot.text.mean, parameters, count, floor)
        assert np.array_equal(everything[units], scores)
        assert {*units.tolist()} >= {unit for unit in best if everything[unit] >= floor}


def test_what_is_kept_of_terms_stays_within_its_bound(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impacts, "_LEAST_KEPT", 20_000)
    monkeypatch.setattr(impacts, "_MOST_KEPT", 20_000)
    held = edited(make_base, 3)
    segment = max(held.segments, key=lambda segment: len(segment.text.lengths))
    asked = bm25.weigh(held, "text", [(f"w{n}", 1.0) for n in range(300)])
    first = {one.term: bm25.scores(segment, "text", [one], held.text.mean, Parameters(K1, B)) for one in asked}
    most = 0
    for one in asked * 2:
        assert np.array_equal(bm25.scores(segment, "text", [one], held.text.mean, Parameters(K1, B)), first[one.term])
        kept = [found for table in segment.impacts.values() for found in table.held() if found is not None]
        most = max(most, sum(found.nbytes for found in {id(found): found for found in kept}.values()))
    assert 5_000 < most <= 20_000
