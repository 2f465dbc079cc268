"""Names that front matter gives, compared with questions; and what a hit's own text counts for."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from bases import Base
from hypothesis import given
from hypothesis import strategies as st
from models import Model, use

from kb.config import SemanticSettings
from kb.index import embed
from kb.ranking import dense, fusion, weights
from kb.ranking.dense import cosines
from kb.ranking.named import nearest_mean

MakeBase = Callable[..., Base]
SUBJECTS = ("sand", "iron", "salt", "wool", "clay", "lime", "corn", "silk")


def named(number: int, *questions: str) -> str:
    lines = "".join(f"  - {question}\n" for question in questions)
    return f"---\nquestions:\n{lines}---\n# Page {number}\n\nAbout {SUBJECTS[number % 8]}.\n"


def both(id_: str, asked: dict[str, list[str]]) -> str:
    """A document with questions by language."""
    lines = "".join(f"  {of}:\n" + "".join(f"    - {text}\n" for text in held) for of, held in asked.items() if held)
    return f"---\nlang: en\nquestions:\n{lines}---\n# {id_}\n\nAbout it.\n"


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    return use(Model(), monkeypatch)


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    made = make_base({f"p{n}.md": named(n, f"how {SUBJECTS[n]} is weighed", f"Herkunft von {SUBJECTS[n]}") for n in range(8)})
    made.kb.index(semantic=True)
    return made


def found(base: Base, query: str, **options: object) -> dict[str, object]:
    """The explanations of a semantic answer, by id."""
    answer = base.search(query, semantic=True, explain=True, limit=50, **options)
    assert answer.mode == "semantic"
    return {result.id: result.explanation for result in answer.results}


def stands(base: Base, query: str, **options: object) -> dict[str, float]:
    rows = {id_: said["dense"]["names"] for id_, said in found(base, query, **options).items()}  # type: ignore[index]
    return {id_: value for id_, value in rows.items() if value is not None}


def test_the_section_whose_question_is_asked_stands_out_by_its_names(base: Base) -> None:
    found = stands(base, "wool weighed")
    assert max(found, key=lambda id_: found[id_]) == "p3"


def test_text_and_names_count_by_the_root_of_both_squares(base: Base) -> None:
    rows = [said["dense"] for said in found(base, "wool weighed").values() if isinstance(said, dict)]
    # Of eight hits none can be farther than 7 / sqrt(8) from the mean; names have to reach weights.FULL_STANDING.
    texts, names = (max(row[key] or 0.0 for row in rows) for key in ("standing", "names"))
    for row in rows:
        text = max(row["standing"] or 0.0, 0.0) / max(texts, 7 / math.sqrt(8))
        name = max(row["names"] or 0.0, 0.0) / max(names, weights.FULL_STANDING)
        assert row["score"] == pytest.approx(SemanticSettings().weight * math.hypot(text, weights.NAMES_WEIGHT * name), abs=1e-5)


@given(st.lists(st.lists(st.sampled_from([-0.5, 0.0, 0.25, 0.5, 0.75]), min_size=1, max_size=6), min_size=1, max_size=5))
def test_the_three_nearest_names_count_one_half_and_a_quarter(groups: list[list[float]]) -> None:
    starts = np.cumsum([0, *map(len, groups)])[:-1]
    cosines = np.array([cosine for group in groups for cosine in group], dtype=np.float32)
    expected = [np.average(best, weights=(1, 0.5, 0.25)[: len(best)]) for group in groups for best in [sorted(group)[:-4:-1]]]
    assert nearest_mean(cosines, starts) == pytest.approx(expected)


def test_languages_are_pooled_by_their_sum_over_the_root_of_how_many_they_are(make_base: MakeBase) -> None:
    asked = {
        "en": {"a": ["how wool is weighed"], "b": ["wool weighed at sea"], "c": ["silk of old"], "d": ["lime"]},
        "de": {"a": ["wool und Waage"], "b": ["Kalk"], "c": ["Seide"]},
    }
    base = make_base({f"{id_}.md": both(id_, {of: held.get(id_, []) for of, held in asked.items()}) for id_ in "abcd"})
    base.kb.index(semantic=True)
    vector = Model().embed_queries(["wool weighed"]).dense[0]
    # The title is a name too, of the language that the document is in.
    names = {"en": {id_: [id_, *held] for id_, held in asked["en"].items()}, "de": asked["de"]}
    opinions: dict[str, list[float]] = {}
    pools: dict[str, dict[str, float]] = {}
    for of, sections in names.items():
        pools[of] = {}
        for id_, held in sections.items():
            near = sorted((float(row @ vector) for row in Model().embed_queries(held).dense), reverse=True)[:3]
            pools[of][id_] = float(np.average(near, weights=weights.NEAREST_NAMES[: len(near)]))
    usual = fusion.standing({of: np.array(list(held.values())) for of, held in pools.items()})
    for of, held in pools.items():
        for id_, near in held.items():
            opinions.setdefault(id_, []).append((near - usual[of][0]) / usual[of][1])
    expected = {id_: sum(held) / math.sqrt(len(held)) for id_, held in opinions.items()}
    assert stands(base, "wool weighed") == pytest.approx(expected, abs=1e-5)


def test_names_in_the_file_of_one_language_speak_for_the_variant_that_a_filter_asks_for(make_base: MakeBase) -> None:
    files = {f"p{n}.md": named(n, f"how {SUBJECTS[n]} is weighed").replace("---\n", f"---\nid: P.{n}\n", 1) for n in range(8)}
    base = make_base(files | {f"ru/p{n}.md": f"---\nid: P.{n}\n---\n# Глава {n}\n\nСлова и дела.\n" for n in range(8)})
    base.kb.index(semantic=True)
    best = base.search("wool weighed", semantic=True, language="ru").results[0]
    assert (best.id, best.language) == ("P.3", "ru")


def test_without_their_weight_names_change_nothing(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    with_names = base.search("Herkunft silk", semantic=True).results
    monkeypatch.setattr(weights, "NAMES_WEIGHT", 0.0)
    without = base.search("Herkunft silk", semantic=True).results
    assert with_names[0].id == without[0].id == "p7"
    assert with_names[0].score > without[0].score


def test_excluded_and_filtered_hits_are_not_found_by_their_names(base: Base) -> None:
    assert "p3" not in stands(base, "wool weighed -wool")
    base.write("draft.md", "---\nstatus: draft\n---\n# Draft\n\nAbout nothing.\n")
    assert stands(base, "wool weighed", status="draft").keys() <= {"draft"}


def test_a_document_without_aliases_or_questions_has_no_names_to_embed(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Trust\n\ntrust\n\n## Decay\n\nrot\n", "b.md": "# A.1 - Roles\n\nroles\n"})
    made = base.kb.index(semantic=True).vectors
    assert made is not None and made.embedded == 3
    assert stands(base, "trust") == {}


def test_in_a_document_with_aliases_every_section_is_compared_by_its_title_too(make_base: MakeBase) -> None:
    base = make_base(
        {"a.md": "---\naliases: [confidence]\n---\n# Trust\n\ntrust\n\n## Decay\n\nrot\n", "b.md": "# Roles\n\nroles\n"}
    )
    base.kb.index(semantic=True)
    assert set(stands(base, "decay of trust")) == {"a", "a#decay"}


def test_names_are_embedded_once_and_go_with_their_section(base: Base) -> None:
    again = base.kb.index(semantic=True).vectors
    assert again is not None and (again.embedded, again.unchanged) == (0, 8 + 3 * 8)
    (base.root / "p3.md").unlink()
    assert "p3" not in stands(base, "wool weighed")


def test_a_name_and_a_passage_of_the_same_words_are_two_texts(make_base: MakeBase) -> None:
    base = make_base({"salt.md": "---\naliases: [salt is heavy]\n---\n\nsalt is heavy\n"})
    made = base.kb.index(semantic=True).vectors
    assert made is not None and (made.embedded, made.unchanged) == (3, 0)


def test_a_few_new_names_are_embedded_by_the_search_itself(base: Base) -> None:
    base.write("p8.md", named(8, "weight of a feather"))
    found = stands(base, "feather weight")
    assert max(found, key=lambda id_: found[id_]) == "p8"


def test_many_new_names_are_left_to_an_index_run(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "NAMES_AT_SEARCH", 2)
    base.write("p8.md", named(8, "weight of a feather", "weight of a stone", "weight of a leaf"))
    answer = base.search("feather weight", semantic=True)
    assert answer.mode == "keyword"
    assert answer.warning is not None and "5 of 37 passages and names have no vector" in answer.warning
    base.kb.index(semantic=True)
    assert base.search("feather weight", semantic=True).mode == "semantic"


def test_names_are_found_again_after_edits_as_in_an_index_made_anew(base: Base) -> None:
    for number in (1, 4):
        base.write(f"p{number}.md", named(number, f"how {SUBJECTS[number]} is dyed"))
        base.search("dyed", semantic=True)
    rebuilt = base.rebuilt()
    rebuilt.index(semantic=True)
    ours, theirs = (kb.search("how is iron dyed", semantic=True, limit=50).results for kb in (base.kb, rebuilt))
    assert [(r.id, round(r.score, 4)) for r in ours] == [(r.id, round(r.score, 4)) for r in theirs]


def test_a_hit_counts_by_its_lead_and_one_of_a_single_passage_by_that(make_base: MakeBase) -> None:
    words = " ".join(f"word{n}" for n in range(700))
    base = make_base({"long.md": f"# Long\n\nsalt\n\n{words}\n\nsilk silk silk\n", "short.md": "# Short\n\nsilk\n"})
    base.kb.index(semantic=True)
    catalog = base.kb._catalog()
    with catalog.reading():
        snapshot = base.kb._state(catalog)
        view = embed.view(catalog, Model.id, Model.dimension, base.kb._read_raw())
        vector = Model().embed_queries(["silk"]).dense
        for segment, one in zip(snapshot.segments, cosines(snapshot, view, vector), strict=True):
            for hit, section in enumerate(segment.hit_section.tolist()):
                passages = [r[0] for r in catalog.db.execute("SELECT passage FROM passages WHERE section = ?", (section,))]
                own = view.store.matrix[view.rows_of(np.array(passages))] @ vector[0]
                lead = view.rows_of(np.array([embed.LEAD_OFFSET + section]))
                assert (lead[0] >= 0) == (len(passages) > 1)
                expected = float(view.store.matrix[lead[0]] @ vector[0]) if len(passages) > 1 else own.max()
                assert one.hits[hit] == pytest.approx(expected, abs=1e-6)
