from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from script_files import script

from kb.analysis import glossary
from kb.base import KnowledgeBase
from kb.config import load, shipped

soundness = script("soundness")
PAGES = list(soundness._pages())


def test_the_shipped_base_is_sound() -> None:
    pytest.importorskip("spellchecker", reason="spelling needs pyspellchecker, which the extra test installs")
    assert list(soundness.faults()) == []


def test_a_run_of_six_words_that_another_text_has_is_a_fault(tmp_path: Path) -> None:
    page = next(page for page in soundness._pages() if page.document.source == "A.10.md")
    sentence = " ".join(page.document.sections[0].blocks[0].text.split()[:12])
    (tmp_path / "other.md").write_text(f"# Other\n\nHere it says: {sentence}\n", encoding="utf-8")
    found = list(soundness._copied([page], tmp_path))
    assert len(found) == 1
    assert found[0].startswith("knowledge/fpf/A.10.md:")


def test_the_headings_of_another_text_may_be_repeated(tmp_path: Path) -> None:
    page = next(page for page in soundness._pages() if page.document.source == "A.10.md")
    sentence = " ".join(page.document.sections[0].blocks[0].text.split()[:12])
    (tmp_path / "other.md").write_text(f"# {sentence}\n", encoding="utf-8")
    assert list(soundness._copied([page], tmp_path)) == []


@pytest.mark.parametrize(
    ("word", "language", "right"),
    [
        ("knowledge", "en", True),
        ("knowlege", "en", False),
        ("behaviour", "en", True),
        ("Ähnlichkeitssuche", "de", True),
        ("Ähnlichkeitsuhe", "de", False),
        ("идентификаторы", "ru", True),
        ("индентификаторы", "ru", False),
    ],
)
def test_spelling_knows_right_words_from_wrong_ones(word: str, language: str, right: bool) -> None:
    pytest.importorskip("spellchecker", reason="spelling needs pyspellchecker, which the extra test installs")
    assert soundness._spelt(word, language, frozenset()) is right


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(shipped(), cache=tmp_path_factory.mktemp("cache")) as base:
        yield base


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        ("Funktionstrennung", "ru", "A.2.7"),
        ("Autonomiebudgets", "ru", "E.16"),
        ("эпистемического долга", "en", "B.3.4"),
        ("bitter lesson", "ru", "bitter-lesson-stance"),
    ],
)
def test_a_question_finds_a_section_of_the_framework_in_another_language(
    base: KnowledgeBase, question: str, language: str, found: str
) -> None:
    answer = base.search(question, collections=["fpf"], language=language)
    assert found in [result.id for result in answer.results][:2]
    assert answer.also


def test_the_glossary_has_the_main_terms_in_three_languages() -> None:
    terms = glossary.terms_of(shipped() / "glossary.toml")
    assert len(terms) >= 150
    assert all({language for language, _ in term} == {"en", "ru", "de"} for term in terms)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('en = "holon"\nru = "холон"', "must have forms in de, en, ru"),
        ('en = "holon"\nru = "холон"\nde = ["Holon", "Holons"]', "Holon stands twice"),
        ('en = "holon"\nru = "халон"\nde = "Holon"', "spelling: халон"),
        ('en = "sourdough"\nru = "закваска"\nde = "Sauerteig"', "no text holds it"),
        (
            'en = "holon"\nru = "холон"\nde = "Holon"\n[[terms]]\nen = "holons"\nru = "холоны"\nde = "Teil"',
            "says the same as holon",
        ),
    ],
)
def test_faults_of_a_glossary_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, fault: str) -> None:
    pytest.importorskip("spellchecker", reason="spelling needs pyspellchecker, which the extra test installs")
    (tmp_path / "glossary.toml").write_text(f"[[terms]]\n{text}\n", encoding="utf-8")
    config = load(shipped())
    collection = replace(config.collections[0], glossary=tmp_path / "glossary.toml")
    monkeypatch.setattr(soundness, "REPOSITORY", tmp_path)
    monkeypatch.setattr(soundness, "load", lambda _: replace(config, collections=(collection,)))
    pages = [page for page in PAGES if page.document.source in ("A.1.md", "ru/A.1.md", "A.14.md")]
    assert any(fault in found for found in soundness._glossaries(pages, soundness._allowed(pages)))
