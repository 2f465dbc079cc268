"""Searching with a glossary: a question in one language finds a section in another, without any model."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from bases import Base

from kb.errors import ConfigError
from kb.surfaces import text

MakeBase = Callable[..., Base]
TOML = '[[collections]]\nname = "docs"\nroot = "docs"\nglossary = "words.toml"\n'
WORDS = """
[[terms]]
en = "holon"
ru = "холон"

[[terms]]
en = "bounded context"
ru = "ограниченный контекст"
de = "abgegrenzter Kontext"

[[terms]]
en = "evidence"
ru = ["свидетельство", "доказательство"]
de = "Nachweis"
"""
FILES = {
    "holon.md": "# One\n\nA holon is a whole and a part of something larger.\n",
    "context.md": "# Two\n\nInside a bounded context every word has one meaning.\n",
    "partly.md": "# Three\n\nEvery context is somewhere.\n",
    "evidence.md": "# Four\n\nThe evidence decays when nobody renews it.\n",
    "other.md": "# Five\n\nNothing of the kind stands here.\n",
    "ru.md": "# Шесть\n\nЧасти складываются в целое, и это целое снова часть.\n",
    "weg.md": "# Sieben\n\nDas ist ein Satz, der von etwas anderem handelt und es auch sagt.\n",
}


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    made = make_base(FILES, TOML)
    (made.place / "words.toml").write_text(WORDS, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("question", "found", "also"),
    [
        ("холон", ["holon"], ("holon",)),
        ("что такое холоны", ["holon"], ("holon",)),
        ("ограниченного контекста", ["context"], ("bounded context",)),
        ("in abgegrenzten Kontexten", ["context"], ("bounded context",)),
        ("доказательств", ["evidence"], ("evidence",)),
        ("Nachweise", ["evidence"], ("evidence",)),
    ],
)
def test_a_question_finds_a_section_in_another_language(
    base: Base, question: str, found: list[str], also: tuple[str, ...]
) -> None:
    answer = base.search(question)
    assert [result.id for result in answer.results][:1] == found
    assert (answer.total, answer.also, answer.corrected) == (len(answer.results), also, None)
    assert answer.as_json()["also"] == list(also)
    snippet = answer.results[0].snippet
    assert {snippet[start:end] for start, end in answer.results[0].highlights} <= {"holon", "bounded", "context", "evidence"}
    assert answer.results[0].highlights
    assert not answer.results[0].low_confidence


def test_the_other_way_round_too(make_base: MakeBase) -> None:
    made = make_base({"a.md": "# А\n\nКаждый холоном назван не зря.\n", "b.md": "# Б\n\nПросто текст о погоде.\n"}, TOML)
    (made.place / "words.toml").write_text(WORDS, encoding="utf-8")
    assert made.ids("holons") == ["a"]


def test_a_form_of_several_words_counts_only_where_all_of_them_stand(base: Base) -> None:
    assert base.ids("ограниченный контекст") == ["context"]
    assert base.ids("bounded context") == ["context", "partly"]


@pytest.mark.parametrize("question", ['"холон"', "-холон part", '"ограниченный контекст"'])
def test_phrases_and_exclusions_are_not_expanded(base: Base, question: str) -> None:
    answer = base.search(question)
    assert answer.also == ()
    assert "holon" not in question or "holon" in [r.id for r in answer.results]
    assert {r.id for r in answer.results} <= {"holon"}


def test_a_section_that_holds_both_forms_scores_by_one_of_them(make_base: MakeBase) -> None:
    filler = "and some more words that fill the line"
    files = {
        "en.md": f"# N\n\nA holon here {filler} thing.\n",
        "both.md": f"# N\n\nA holon here {filler} холон.\n",
        "ru.md": f"# N\n\nA thing here {filler} холон.\n",
        "none.md": "# N\n\nNothing at all of the kind in here.\n",
    }
    made = make_base(files, TOML)
    (made.place / "words.toml").write_text(WORDS, encoding="utf-8")
    scores = {r.id: r.score for r in made.search("holon").results}
    assert scores["both"] == pytest.approx(scores["en"], rel=1e-5)
    assert scores["en"] > scores["ru"] > 0
    own = {r.id: r.score for r in made.search("холон").results}
    assert own["both"] == pytest.approx(own["ru"], rel=1e-5)
    assert own["ru"] > own["en"] > 0


def test_a_word_of_the_question_outweighs_what_a_glossary_adds(base: Base) -> None:
    base.write("ru-holon.md", "# Восемь\n\nХолон есть целое и часть чего-то большего.\n")
    assert base.ids("холон") == ["ru-holon", "holon"]
    assert base.ids("holon") == ["holon", "ru-holon"]


@pytest.mark.parametrize("question", ["холон", "ограниченный контекст и доказательства", "holon context", "abgegrenzter Kontext"])
@pytest.mark.parametrize("scoring", ["lucene", "okapi", "plus", "l"])
def test_an_explanation_adds_up_to_the_score(make_base: MakeBase, question: str, scoring: str) -> None:
    more = {"m.md": "# Holon\n\nХолон (holon) и доказательство.\n", "k.md": "# К\n\nО холонах.\n"}
    made = make_base(FILES | more, f'{TOML}[search]\nscoring = "{scoring}"\n')
    (made.place / "words.toml").write_text(WORDS, encoding="utf-8")
    answer = made.search(question, explain=True, limit=50)
    assert answer.results
    for result in answer.results:
        parts = result.explanation or {}
        assert sum(part["score"] for part in parts.values()) == pytest.approx(result.score, abs=2e-4), result.id
        for part in parts.values():
            assert sum(part.get("terms", {}).values()) == pytest.approx(part["score"], abs=1e-4) or not part.get("terms")
    assert any(part.get("instead") for r in answer.results for part in (r.explanation or {}).values())


def test_a_misspelt_word_leads_to_the_glossary_once_it_is_corrected(base: Base) -> None:
    base.write("ru-holon.md", "# Восемь\n\nСвидетельство есть у каждого утверждения.\n")
    answer = base.search("свидетелство")
    assert (answer.corrected, answer.also) == ("свидетельство", ("evidence",))
    assert set(base.ids("свидетелство")) == {"ru-holon", "evidence"}


def test_a_word_of_the_glossary_is_not_taken_for_a_misspelt_one(base: Base) -> None:
    base.write("near.md", "# Neun\n\nDer Nachwein und der Nachwuchs sind etwas anderes als das.\n")
    answer = base.search("Nachweis")
    assert answer.corrected is None
    assert [r.id for r in answer.results] == ["evidence"]


def test_a_changed_glossary_counts_at_once_and_needs_no_new_index(base: Base) -> None:
    assert base.ids("холон") == ["holon"]
    before, number = base.kb.status(), base.kb.state()
    (base.place / "words.toml").write_text('[[terms]]\nen = "evidence"\nru = "холон"\n', encoding="utf-8")
    assert base.ids("холон") == ["evidence"]
    assert base.kb.state() != number
    assert base.kb.status().pending == before.pending == 0
    assert not base.kb.index().rebuilt


def test_a_glossary_that_is_gone_or_wrong_is_an_error_that_names_it(base: Base) -> None:
    assert base.ids("холон") == ["holon"]
    (base.place / "words.toml").write_text("[[terms]]\nenglisch = 'a'\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"words\.toml: \[\[terms\]\] number 1: unknown key 'englisch'"):
        base.search("холон")
    (base.place / "words.toml").unlink()
    with pytest.raises(ConfigError, match=r"glossary not found: .*words\.toml; put it back, or take it out of kb\.toml"):
        base.search("холон")


def test_the_glossary_of_a_collection_serves_searches_in_it(make_base: MakeBase) -> None:
    toml = TOML + '[[collections]]\nname = "more"\nroot = "more"\n'
    made = make_base(FILES, None)
    (made.place / "more").mkdir()
    (made.place / "more" / "m.md").write_text("# M\n\nAnother holon.\n", encoding="utf-8")
    made.path = made.place / "kb.toml"
    made.path.write_text(toml, encoding="utf-8")
    (made.place / "words.toml").write_text(WORDS, encoding="utf-8")
    assert set(made.ids("холон")) == {"holon", "m"}
    assert made.ids("холон", collections=["docs"]) == ["holon"]
    assert made.ids("холон", collections=["more"]) == []
    assert made.ids("холон", collections=["docs", "more"]) == made.ids("холон")


def test_passages_for_an_agent_are_found_by_the_glossary_too(base: Base) -> None:
    assert [passage.id for passage in base.kb.ground("холоны").passages] == ["holon"]


def test_a_base_without_a_glossary_imports_none(make_base: MakeBase) -> None:
    made = make_base(FILES)
    code = (
        "import sys; from kb.base import KnowledgeBase\n"
        f"kb = KnowledgeBase({str(made.path)!r}, cache={str(made.cache)!r})\n"
        "assert kb.search('holon').results\n"
        "sys.exit('kb.analysis.glossary' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_explanation_as_text_names_the_form_behind_a_term(base: Base) -> None:
    shown = text.search(base.search("доказательства", explain=True), colour=False)
    assert "also searched for: evidence\n" in shown
    assert re.search(r"passage: [\d.]+ \(evid [\d.]+ \[evidence\]\)", shown)
