"""What must hold of the analysis of every word, over samples of real vocabularies and of a dictionary.

Where a property can't hold of all words of a language, the share is what was measured on these samples, less a little.
"""

from __future__ import annotations

import unicodedata

import pytest

from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.analysis.languages import FUNCTION_WORDS
from kb.ranking.spelling import allowance

from .vocabularies import LANGUAGES, SOURCES, check, vocabulary

ANALYZER = Analyzer()
every_vocabulary = pytest.mark.parametrize(("source", "language"), [(s, x) for s in SOURCES for x in LANGUAGES])


def term(word: str, language: str) -> str:
    return ANALYZER.term(words.normalise(word), language)


@every_vocabulary
def test_upper_and_lower_case_are_one_word(source: str, language: str) -> None:
    sample = vocabulary(source, language).sample(1500)
    wrong = [w for w in sample if len({words.normalise(form) for form in (w, w.upper(), w.title())}) != 1]
    check(wrong, len(sample))


@every_vocabulary
def test_composed_and_decomposed_letters_are_one_word(source: str, language: str) -> None:
    sample = vocabulary(source, language).sample(1500)
    wrong = [w for w in sample if words.find(unicodedata.normalize("NFD", w)) != [unicodedata.normalize("NFD", w)]]
    wrong += [w for w in sample if words.spellings(unicodedata.normalize("NFD", w)) != words.spellings(w)]
    check(wrong, len(sample))


@every_vocabulary
def test_a_word_follows_the_rules_of_its_script_in_a_document_of_any_language(source: str, language: str) -> None:
    sample = vocabulary(source, language).sample(400)
    others = {"ru": ("en", "de"), "en": ("ru",), "de": ()}[language]
    check([w for w in sample for other in others if term(w, other) != term(w, language)], len(sample))


@every_vocabulary
def test_comparing_a_word_as_compared_changes_nothing(source: str, language: str) -> None:
    sample = vocabulary(source, language).sample(1500)
    check([w for w in sample if words.normalise(words.normalise(w)) != words.normalise(w)], len(sample))


@every_vocabulary
def test_an_allowance_for_typos_counts_characters_whatever_the_script(source: str, language: str) -> None:
    sample = vocabulary(source, language).sample(1500)
    wrong = [w for w in sample if allowance(words.normalise(w)) != allowance("x" * len(words.normalise(w)))]
    check(wrong, len(sample))


@pytest.mark.parametrize("source", SOURCES)
def test_yo_and_ye_are_one_letter_and_short_i_is_not_i(source: str) -> None:
    held = vocabulary(source, "ru").words
    with_yo = [w for w in held if "ё" in w.lower()]
    bare = str.maketrans("ёЁ", "еЕ")
    check([w for w in with_yo if term(w, "ru") != term(w.translate(bare), "ru")], len(with_yo))
    with_short_i = [w for w in held if "й" in w.lower()]
    forms = [unicodedata.normalize(form, w) for w in with_short_i for form in ("NFC", "NFD")]
    check([w for w in forms if words.normalise(w).count("й") != unicodedata.normalize("NFC", w).lower().count("й")], len(forms))


def lexemes(source: str, part: str, count: int) -> list[tuple[str, list[str]]]:
    """Russian words that the dictionary knows as one part of speech only, each with all its forms."""
    pymorphy3 = pytest.importorskip("pymorphy3")
    dictionary = pymorphy3.MorphAnalyzer()
    out: list[tuple[str, list[str]]] = []
    for word in vocabulary(source, "ru").sample(5000, shortest=4):
        parses = dictionary.parse(word) if word.islower() and dictionary.word_is_known(word) else []
        if parses and len({parse.normal_form for parse in parses}) == 1 and part == parses[0].tag.POS:
            forms = {form.word for form in parses[0].lexeme if part == form.tag.POS}
            out.append((parses[0].normal_form, sorted(forms)))
        if len(out) == count:
            break
    return out


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("part", "least"), [("NOUN", 0.985), ("ADJF", 0.995), ("VERB", 0.98)])
def test_the_inflected_forms_of_a_russian_word_find_each_other(source: str, part: str, least: float) -> None:
    """A form that is also one of another word (`замера`, `плачу`) may be taken for that."""
    pairs = [(form, word) for word, forms in lexemes(source, part, 150) for form in forms]
    check([pair for pair in pairs if term(pair[0], "ru") != term(pair[1], "ru")], len(pairs), least)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("ending", "least"), [("s", 0.82), ("es", 1.0), ("n", 0.97), ("en", 0.97), ("e", 0.9), ("er", 0.85)])
def test_the_endings_of_german_nouns_find_each_other(source: str, ending: str, least: float) -> None:
    """Pairs of which both stand in the texts, such as Grenze and Grenzen. What is not joined is a name that ends in a vowel, with
    its s, for the most part; also Problem and Probleme."""
    held = {word for word in vocabulary(source, "de").words if word.istitle()}
    pairs = [(w, w + ending) for w in sorted(held) if len(w) >= 5 and w + ending in held]
    check([pair for pair in pairs if term(pair[0], "de") != term(pair[1], "de")], len(pairs), least)


@pytest.mark.parametrize("source", SOURCES)
def test_sharp_s_is_ss_and_an_umlaut_of_the_plural_is_its_vowel(source: str) -> None:
    held = vocabulary(source, "de").words
    sharp = [w for w in held if "ß" in w]
    check([w for w in sharp if term(w, "de") != term(w.replace("ß", "ss"), "de")], len(sharp))
    bare = str.maketrans("äöüÄÖÜ", "aouAOU")
    lower = {w.lower() for w in held if w.istitle()}
    pairs = [(w, w.translate(bare)[: -len(end)]) for w in sorted(lower) for end in ("er", "e") if w.endswith(end)]
    pairs = [(w, base) for w, base in pairs if base != w[: len(base)] and base in lower and len(base) > 2]
    check([pair for pair in pairs if term(pair[0], "de") != term(pair[1], "de")], len(pairs))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("ending", "least"), [("s", 0.995), ("ed", 0.97), ("ing", 0.95)])
def test_the_endings_of_english_words_find_each_other(source: str, ending: str, least: float) -> None:
    held = {word.lower() for word in vocabulary(source, "en").words}
    pairs = [(w, w + ending) for w in sorted(held) if len(w) >= 4 and w + ending in held and w not in FUNCTION_WORDS["en"]]
    check([pair for pair in pairs if term(pair[0], "en") != term(pair[1], "en")], len(pairs), least)
