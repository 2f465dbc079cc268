"""Related and similar sections, nearest passages; semantic mode as a whole. By a model of the test where none has to be real."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from bases import Base
from models import Model, use

from kb.embedding import loading
from kb.errors import ArgumentError, NotFound
from kb.index import vectors

MakeBase = Callable[..., Base]
FILES = {
    "trust.md": "---\ntype: pattern\nstatus: stable\n---\n# Trust\n\nA calculus of trust for assurance of claims.\n",
    "assurance.md": "---\ntype: pattern\n---\n# Assurance\n\nAssurance of claims by evidence and trust.\n",
    "roles.md": "---\ntype: note\n---\n# Roles\n\nA role is held in a context.\n",
    "bread.md": "---\ntype: note\n---\n# Bread\n\nFlour, water, salt.\n",
}


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    return use(Model(), monkeypatch)


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    made = make_base(FILES)
    made.kb.index(semantic=True)
    return made


def test_the_nearest_section_comes_first_and_the_section_itself_is_left_out(base: Base) -> None:
    answer = base.kb.related("trust").as_json()
    ids = [row["id"] for row in answer["results"]]
    assert ids[0] == "assurance" and "trust" not in ids and len(ids) == 3
    assert list(answer["results"][0])[:7] == ["type", "id", "title", "status", "path", "source", "score"]


def test_related_narrows_by_type_and_count(base: Base) -> None:
    assert {row.type for row in base.kb.related("trust", types=["note"]).results} == {"note"}
    assert len(base.kb.related("trust", top_k=1).results) == 1


def test_a_copy_has_the_score_one_and_survives_the_highest_bound(base: Base) -> None:
    base.write("copy.md", FILES["trust.md"])
    answer = base.kb.related("trust", min_score=1.0)
    assert [(row.id, row.score) for row in answer.results] == [("copy", 1.0)]


def test_a_section_is_found_by_its_own_text(base: Base) -> None:
    body = base.kb.section("trust").body
    answer = base.kb.similar(body, min_score=1.0)
    assert [(row.id, row.score) for row in answer.results] == [("trust", 1.0)]


def test_an_unknown_section_is_not_found(base: Base) -> None:
    with pytest.raises(NotFound, match="section not found: nowhere"):
        base.kb.related("nowhere")


@pytest.mark.parametrize("top_k", [0, 101, "5", True, 1.5])
def test_counts_out_of_range_are_refused_first(base: Base, monkeypatch: pytest.MonkeyPatch, top_k: object) -> None:
    monkeypatch.setenv(loading.DISABLED, "1")
    with pytest.raises(ArgumentError, match="top_k must be"):
        base.kb.related("nowhere", top_k=top_k)  # type: ignore[arg-type]


@pytest.mark.parametrize("min_score", [1.1, -1.1, float("nan"), "0.5", True])
def test_a_bound_that_is_no_cosine_is_refused(base: Base, min_score: object) -> None:
    with pytest.raises(ArgumentError, match="min_score must be"):
        base.kb.similar("trust", min_score=min_score)  # type: ignore[arg-type]


def test_availability_is_checked_before_files(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loading.DISABLED, "1")
    answer = base.kb.related("nowhere")
    assert answer.as_json() == {"available": False, "reason": "disabled", "message": answer.message}


def test_a_file_that_failed_is_a_candidate_by_its_raw_text(make_base: MakeBase) -> None:
    base = make_base(FILES)
    base.write("broken.md", b"A calculus of trust for assurance of claims. " + bytes(range(1, 9)) * 40)
    base.kb.index(semantic=True)
    assert base.kb.list().error_count == 1
    rows = base.kb.similar("A calculus of trust for assurance of claims.").results
    failed = [row for row in rows if row.id is None]
    assert [(row.title, row.status, row.source) for row in failed] == [("<failed to parse>", "<failed to parse>", "broken.md")]


def test_chunks_are_passages_with_clipped_scores(base: Base) -> None:
    answer = base.kb.chunks("assurance of claims", collection="docs", limit=4).as_json()
    assert list(answer["results"][0]) == ["chunk_id", "document_title", "content", "score"]
    assert answer["results"][0]["content"].startswith("Assurance of claims")
    assert all(0 <= row["score"] <= 1 for row in answer["results"]) and len({row["chunk_id"] for row in answer["results"]}) == 4


def test_chunks_take_a_ready_vector_of_the_right_length_only(base: Base, model: Model) -> None:
    ready = model.embed_queries(["assurance of claims"]).dense[0].tolist()
    by_vector = base.kb.chunks(None, collection="docs", vector=ready)
    assert [c.chunk_id for c in by_vector.results] == [
        c.chunk_id for c in base.kb.chunks("assurance of claims", collection="docs").results
    ]
    for wrong in ([1.0, 2.0], [0.0] * 256, ["1"] * 256, [float("nan")] * 256):
        with pytest.raises(ArgumentError):
            base.kb.chunks(None, collection="docs", vector=wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="either a query or a vector"):
        base.kb.chunks("x", collection="docs", vector=ready)


# -- vectors -----------------------------------------------------------------------------------------------------


def test_nothing_is_embedded_twice(base: Base, model: Model) -> None:
    model.embedded.clear()
    (base.root / "roles.md").rename(base.root / "moved.md")
    base.write("bread2.md", FILES["bread.md"])
    assert base.kb.index(semantic=True).vectors.embedded == 0  # type: ignore[union-attr]
    assert base.kb.index(rebuild=True, semantic=True).vectors.embedded == 0  # type: ignore[union-attr]
    assert model.embedded == []


def test_a_run_that_is_stopped_goes_on_where_it_was(make_base: MakeBase, model: Model) -> None:
    base = make_base({f"n{number:02}.md": f"# Note {number}\n\nword{number}\n" for number in range(40)})

    class Stop:
        def __call__(self, done: int, total: int) -> None: ...

        def embedding(self, done: int, total: int) -> None:
            raise KeyboardInterrupt

    base.kb._progress = Stop()
    with pytest.raises(KeyboardInterrupt):
        base.kb.index(semantic=True)
    base.kb._progress = None
    kept = len(model.embedded)
    assert 0 < kept < 40
    base.kb.index(semantic=True)
    assert sorted(model.embedded) == sorted(set(model.embedded)) and len(model.embedded) == 40


def test_a_torn_tail_is_written_over(base: Base, model: Model) -> None:
    folder = next(path for path in (base.cache).rglob("model.json")).parent
    for suffix in (".keys", ".f32"):
        with (folder / f"1{suffix}").open("ab") as file:
            file.write(b"torn!")
    reopened = base.open()
    base.write("new.md", "# New\n\nSomething else.\n")
    assert reopened.search("something else", semantic=True).results[0].id == "new"
    assert reopened.search("assurance", semantic=True).mode == "semantic"


def test_rows_of_texts_that_are_gone_are_dropped_when_they_are_many(base: Base) -> None:
    for name in ("trust.md", "assurance.md", "roles.md"):
        (base.root / name).unlink()
    base.kb.index(semantic=True)
    catalog = base.kb._catalog()
    assert [one.rows for one in vectors.held(catalog)] == [1]
    assert base.search("flour", semantic=True).results[0].id == "bread"


def test_exact_cosines_by_blocks_are_those_of_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "BLOCK_ROWS", 7)
    rows = np.random.default_rng(1).normal(size=(50, 16)).astype(np.float32)
    queries = rows[:3]
    assert np.allclose(vectors.best_cosines(rows, queries), (rows @ queries.T).max(axis=1), atol=1e-5)
    assert np.allclose(vectors.best_cosines(rows, queries[:1]), rows @ queries[0], atol=1e-5)


# -- semantic mode -----------------------------------------------------------------------------------------------


def test_pages_fit_together(base: Base) -> None:
    whole = base.search("claims of trust", semantic=True, limit=4)
    assert whole.mode == "semantic" and whole.total == 4
    pages = [base.search("claims of trust", semantic=True, limit=2, offset=at).results for at in (0, 2)]
    assert [r.id for r in whole.results] == [r.id for page in pages for r in page]


def test_explanations_add_up_and_reproduce_the_order(base: Base) -> None:
    answer = base.search("claims of trust", semantic=True, explain=True)
    for result in answer.results:
        assert sum(part["score"] for part in result.explanation.values()) == pytest.approx(result.score, abs=1e-5)  # type: ignore[union-attr]
    assert [r.score for r in answer.results] == sorted((r.score for r in answer.results), reverse=True)
    assert "NaN" not in json.dumps(answer.as_json())


def test_exclusions_phrases_and_filters_hold_in_semantic_mode(base: Base) -> None:
    assert "assurance" not in base.ids("trust -evidence", semantic=True)
    assert base.ids('"assurance of claims by"', semantic=True) == ["assurance"]
    assert set(base.ids("trust", semantic=True, types=["note"])) == {"roles", "bread"}


def test_a_section_named_by_its_id_comes_first(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A.1 - First\n\nwater\n", "b.md": "# A.10 - Tenth\n\nA.1 water water\n"})
    base.kb.index(semantic=True)
    assert base.ids("A.1", semantic=True)[0] == "A.1"


def test_what_no_word_supports_is_marked_as_weak(base: Base) -> None:
    answer = base.search("qwzx plorf", semantic=True)
    assert all(result.low_confidence for result in answer.results)
    assert base.search("!!!", semantic=True).results == ()


def test_variants_of_one_id_count_once(make_base: MakeBase) -> None:
    files = {
        "a.md": "---\nid: S.1\n---\n# Trust\n\ntrust\n",
        "ru/a.md": "---\nid: S.1\n---\n# Доверие\n\nдоверие\n",
        "b.md": "# Bread\n\nflour\n",
    }
    base = make_base(files)
    base.kb.index(semantic=True)
    answer = base.search("доверие", semantic=True)
    assert [r.id for r in answer.results].count("S.1") == 1
    assert (answer.results[0].id, answer.results[0].language) == ("S.1", "ru")
