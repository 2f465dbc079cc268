"""A word's stem under the rules of one language.

Snowball gives the stem. For Russian, a word that the dictionary knows is first brought to its
dictionary form, which joins what no suffix rule can (`люди` and `человек`); a word it does not know
goes to Snowball as it is, for guessed dictionary forms scatter (`холон` would become three words).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from kb.analysis.languages import STEMMERS

_DICTIONARY_LANGUAGES = {"ru"}


def stem(word: str, language: str) -> str:
    """Return the stem of a normalised word; `language` is an ISO 639-1 code that Snowball knows."""
    if language in _DICTIONARY_LANGUAGES:
        word = _lemma(word)
    return str(_stemmer(language).stemWord(word))


def stems(words: Sequence[str], language: str) -> list[str]:
    """Return the stems of many words."""
    if not words:
        return []
    if language in _DICTIONARY_LANGUAGES:
        words = [*map(_lemma, words)]
    found: list[str] = _stemmer(language).stemWords(words)
    return found


def has_dictionary(language: str) -> bool:
    """Tell whether there is a dictionary of a language."""
    return language in _DICTIONARY_LANGUAGES


def in_dictionary(word: str) -> bool:
    """Tell whether one of the dictionaries holds a normalised word, in any of its forms."""
    return bool(_dictionary().word_is_known(word))


@cache
def _stemmer(language: str) -> Any:
    import snowballstemmer  # on first use: a query on known words needs no stemmer

    return snowballstemmer.stemmer(STEMMERS[language])


@cache
def _dictionary() -> Any:
    import pymorphy3  # on first use: the dictionary takes a tenth of a second to open

    return pymorphy3.MorphAnalyzer()


def _lemma(word: str) -> str:
    dictionary = _dictionary()
    if not dictionary.word_is_known(word):
        return word
    return str(dictionary.parse(word)[0].normal_form).replace("ё", "е")
