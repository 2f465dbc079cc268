"""The analyzer: from a word as it is written to the terms it is indexed and searched under.

The same object serves documents and queries, so both always agree; `kb.analysis.VERSION` is stored
with an index, and an index made by another version is rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable

from kb.analysis import words
from kb.analysis.languages import language_for, script
from kb.analysis.stems import stem


class Analyzer:
    """Turns words into terms. Holds a memory of words seen, so every distinct word is worked out once."""

    def __init__(self) -> None:
        self._memory: dict[tuple[str, str], str] = {}

    def terms(self, word: str, language: str) -> list[str]:
        """Return the terms of a word in a document of `language`: one for each part, then the whole identifier."""
        return [self.term(spelling, language) for spelling in words.spellings(word)]

    def term(self, spelling: str, language: str) -> str:
        """Return the term of one normalised spelling under one language."""
        rules = language_for(script(spelling), language)
        if rules is None or not spelling.isalpha():
            return spelling
        key = (spelling, rules)
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = stem(spelling, rules) or spelling
        return found

    def query_terms(self, spelling: str, languages: Iterable[str]) -> tuple[str, ...]:
        """Return the distinct terms of a spelling under each of the languages, in their order."""
        return tuple(dict.fromkeys(self.term(spelling, language) for language in languages))
