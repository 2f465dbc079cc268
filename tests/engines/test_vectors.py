"""Ready vectors: served by an engine as the embedded index serves them, sent and brought back without a model."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engines.conftest import ENGINES, Pair
from engines.test_contract import TOML, files
from kb.base import KnowledgeBase
from kb.errors import ArgumentError, ConfigError, SemanticUnavailable
from kb.index import embed, vectors
from kb.reading import similar

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")  # said by the client's own memory
MakePair = Callable[..., Pair]
MODEL, DIMENSION = "made-up", 12


@pytest.fixture(params=ENGINES)
def pair(request: pytest.FixtureRequest, make_pair: MakePair) -> Pair:
    return make_pair(request.param, files(), toml=TOML)


def made(key: int, number: int = 0) -> np.ndarray:
    found = np.random.default_rng(key % 2**32 + number).normal(size=DIMENSION)
    return (found / np.linalg.norm(found)).astype(np.float32)


def view(kb: KnowledgeBase) -> embed.View:
    return embed.view(kb._catalog(), MODEL, DIMENSION, kb._read_raw())


def embed_all(kb: KnowledgeBase) -> None:
    """Give every text of an index a vector, as a model would."""
    present = view(kb)
    keys = np.unique(present.texts.keys[present.rows == vectors.MISSING])
    vectors.append(kb._catalog(), present.store, keys, np.stack([made(int(key)) for key in keys]))


def expected(kb: KnowledgeBase, vector: list[float], collection: str, limit: int) -> list[tuple[str, float]]:
    """What the index of this machine says itself."""
    answer = similar.chunks(kb._catalog(), view(kb), similar.check_vector(vector), collection=collection, limit=limit)
    return [(one.chunk_id, one.score) for one in answer.results]


def test_a_ready_vector_finds_the_passages_that_the_index_itself_finds(pair: Pair) -> None:
    embed_all(pair.asking)
    pair.asking.index()
    for number in range(6):
        vector = made(5, number).astype(float).tolist()
        for collection in ("docs", "notes"):
            answer = pair.asking.search_vector(vector, collection, 5)
            assert answer.available
            wanted = expected(pair.asking, vector, collection, 5)
            assert [one.chunk_id for one in answer.results] == [name for name, _ in wanted]
            assert [one.score for one in answer.results] == pytest.approx([score for _, score in wanted], abs=2e-6)
            assert all(one.document_title and one.content for one in answer.results)
    pair.same("boundary system", limit=10)


def test_a_vector_of_another_dimension_is_refused_naming_both(pair: Pair) -> None:
    embed_all(pair.asking)
    pair.asking.index()
    with pytest.raises(ArgumentError, match="the vector has 3 numbers; those of this base have 12"):
        pair.asking.search_vector([1.0, 0.0, 0.0], "docs")


def test_documents_that_change_get_their_vectors_with_the_next_index_run(pair: Pair) -> None:
    embed_all(pair.asking)
    pair.asking.index()
    pair.base.write("docs/new.md", "# New\n\nzebra context\n")
    assert pair.asking.search("zebra").results
    assert pair.asking.status().extra["engine"]["without_vectors"] == 1
    embed_all(pair.asking)
    pair.asking.index()
    engine = pair.asking.status().extra["engine"]
    assert (engine["without_vectors"], engine["behind"], engine["dimension"]) == (0, 0, DIMENSION)
    vector = made(1).astype(float).tolist()
    wanted = expected(pair.asking, vector, "docs", 10)
    assert [one.chunk_id for one in pair.asking.search_vector(vector, "docs", 10).results] == [name for name, _ in wanted]


def test_vectors_come_back_from_the_engine_without_a_model(pair: Pair, tmp_path: Path) -> None:
    embed_all(pair.asking)
    assert pair.asking.engine_export()["dimension"] == DIMENSION
    with KnowledgeBase(pair.base.path, cache=tmp_path / "other", engine=pair.engine) as other:
        other.search("boundary")
        assert view(other).missing
        count = other.engine_import()
        assert count == len(np.unique(view(other).texts.keys))
        assert view(other).missing == 0
        vector = made(3).astype(float).tolist()
        assert expected(other, vector, "docs", 9) == expected(pair.asking, vector, "docs", 9)
        assert other.engine_import() == 0


def test_an_engine_is_wanted_for_export_and_import(pair: Pair) -> None:
    with pytest.raises(ConfigError, match=r"write \[engine\]"):
        pair.embedded.engine_export()
    with pytest.raises(ConfigError, match=r"write \[engine\]"):
        pair.embedded.engine_import()


def test_without_vectors_anywhere_a_ready_vector_is_not_answered_and_says_why(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise SemanticUnavailable("no model is here", "run: kb doctor")

    monkeypatch.setattr(pair.asking, "_open_dense", missing)
    answer = pair.asking.search_vector([random.random() for _ in range(DIMENSION)], "docs")
    assert (answer.available, answer.results) == (False, ())
    assert "no model is here" in str(answer.message)
