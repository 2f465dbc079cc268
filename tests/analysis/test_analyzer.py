"""Words that mean the same find each other; words that don't, don't."""

from __future__ import annotations

from itertools import combinations

import pytest

from kb.analysis.analyzer import Analyzer

ANALYZER = Analyzer()


def terms(word: str, language: str) -> set[str]:
    return set(ANALYZER.terms(word, language))


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("ru", ["суббота", "субботу", "субботы", "суббот"]),
        ("ru", ["миграция", "миграции", "миграций", "миграцию"]),
        ("ru", ["человек", "люди", "людей", "человека"]),
        ("ru", ["день", "дней", "дня", "дни"]),
        ("ru", ["холон", "холона", "холоны", "холонов", "холоном"]),
        ("ru", ["промпт", "промпта", "промпты", "промптов"]),
        ("ru", ["ёлка", "ёлки", "елка", "ЁЛКУ", "е\u0308лок"]),
        ("ru", ["контекст", "КОНТЕКСТ", "контекста", "контекстов"]),
        ("de", ["Grenze", "Grenzen"]),
        ("de", ["System", "Systeme", "Systemen"]),
        ("de", ["Haus", "Häuser", "Hauses"]),
        ("de", ["Straße", "Strasse", "STRASSE", "Straßen"]),
        ("de", ["groß", "gross", "große", "GROSSE"]),
        ("en", ["migration", "migrations"]),
        ("en", ["boundary", "boundaries"]),
        ("en", ["connect", "connected", "connecting"]),
    ],
)
def test_forms_of_a_word_find_each_other(language: str, forms: list[str]) -> None:
    for one, other in combinations(forms, 2):
        assert terms(one, language) & terms(other, language), (one, other)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [("ru", "мой", "муж"), ("ru", "роль", "рой"), ("en", "context", "contest"), ("de", "Grenze", "Grund")],
)
def test_other_words_stay_apart(language: str, one: str, other: str) -> None:
    assert not terms(one, language) & terms(other, language)


def test_a_word_follows_the_rules_of_its_script_not_of_its_document() -> None:
    assert terms("contexts", "ru") == {"context"}
    assert terms("контекста", "de") == terms("контекст", "ru")
    assert terms("Systemen", "de") == {"system"}


def test_a_word_without_rules_is_compared_as_it_is_spelt() -> None:
    assert ANALYZER.terms("한국어", "ko") == ["한국", "국어"]
    assert ANALYZER.terms("ಕನ್ನಡ", "en") == ["ಕನ್ನಡ"]


@pytest.mark.parametrize("word", ["None", "null", "NaN", "true", "constructor", "inf"])
def test_words_that_are_values_elsewhere_are_words(word: str) -> None:
    assert ANALYZER.terms(word, "en")


def test_numbers_and_identifiers_are_not_stemmed() -> None:
    assert "apply_secrets" in ANALYZER.terms("apply_secrets", "en")
    assert ANALYZER.terms("1.0.21", "ru") == ["1", "0", "21", "1.0.21"]


def test_a_query_has_a_term_under_each_language_once() -> None:
    assert ANALYZER.query_terms("kontext", ("de", "en")) == ("kontext",)
    assert ANALYZER.query_terms("systemen", ("de", "en")) == ("system", "systemen")
