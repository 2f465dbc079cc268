"""Documents are judged by script and function words, queries for what is shown alone."""

from __future__ import annotations

import pytest

from kb.analysis import words
from kb.analysis.languages import STEMMERS, detect, is_function_word, language_for, of_question, script, script_of

TEXTS = {
    "en": "The boundary of a system is what the system and its environment agree on, and it can be moved.",
    "de": "Die Grenze eines Systems ist das, worauf sich das System und seine Umgebung einigen.",
    "ru": "Граница системы есть то, о чём система и её окружение договорились.",
    "fr": "La frontière du système est ce que le système et son environnement ont choisi dans une discussion.",
    "es": "El límite del sistema es lo que el sistema y su entorno acuerdan para que no se pierda.",
    "uk": "Межа системи — це те, про що система та її оточення домовилися; її можна змінити.",
    "el": "Το όριο του συστήματος είναι αυτό που συμφωνούν.",
    "zh": "系统的边界是系统与其环境的约定。",
    "ja": "システムの境界は合意である。",
    "ko": "시스템의 경계는 합의이다.",
}


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_a_document_is_in_the_language_it_is_written_in(language: str) -> None:
    assert detect(TEXTS[language]) == language


def test_a_russian_document_full_of_english_names_is_russian() -> None:
    assert detect("Сервис ApplySecrets читает SecretStore и пишет в VaultClient через HTTP.") == "ru"


def test_too_little_text_has_the_default_language() -> None:
    assert detect("Kontext", "de") == "de"
    assert detect("", "de") == "de"
    assert detect("") == "en"
    assert detect("42 1.0.21", "ru") == "ru"


@pytest.mark.parametrize("word", ["как", "роль", "масло", "КОНТЕКСТ", "ёлка"])
def test_a_cyrillic_word_follows_russian_rules_whatever_the_document(word: str) -> None:
    for language in ("en", "de", "ru", "zh"):
        assert language_for(script(word), language) == "ru"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("context", "latin"),
        ("Änderung", "latin"),
        ("роль", "cyrillic"),
        ("λόγος", "greek"),
        ("42", "none"),
        ("_x", "latin"),
        ("合約", "other"),
    ],
)
def test_a_word_is_in_the_script_of_its_first_letter(word: str, name: str) -> None:
    assert script(word) == name


def test_every_language_that_can_be_stemmed_knows_its_script() -> None:
    for language in STEMMERS:
        assert language_for(script_of(language), language) == language


def test_function_words_are_those_of_the_languages_held() -> None:
    assert is_function_word("und", ("de",))
    assert not is_function_word("und", ("en", "ru"))
    assert is_function_word("еще", ("ru",))


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("how does it work", "en"),
        ("was ist das", "de"),
        ("как это работает", "ru"),
        ("what does холон mean", "en"),
        ("что такое bounded context", "ru"),
        ("исчисление доверия", "ru"),
        ("Gewässer", "de"),
        ("qdrant", None),
        ("exit codes", None),
        ("in", None),
        ("", None),
        ("質問", None),
    ],
)
def test_a_question_is_in_a_language_only_where_its_words_say_so(question: str, language: str | None) -> None:
    assert of_question(words.find(question), ("de", "en", "ru")) == language


def test_a_question_is_in_none_but_the_languages_held() -> None:
    assert of_question(["исчисление"], ("de", "en")) is None
    assert of_question(["für"], ("de", "sv")) == "de"
    assert of_question(["Väter"], ("de", "sv")) is None
    assert of_question(["qui", "est"], ("en", "fr")) == "fr"
