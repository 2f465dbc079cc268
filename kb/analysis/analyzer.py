"""The analyzer: from a word as it is written to the terms it is indexed and searched under.

The same object serves documents and queries, so both always agree; `kb.analysis.VERSION` is stored
with an index, and an index made by another version is rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kb.analysis import words
from kb.analysis.languages import STEMMERS, language_for, script, script_of
from kb.analysis.stems import has_dictionary, in_dictionary, stem, stems


class Analyzer:
    """Turns words into terms. Holds a memory of words seen, so every distinct word is worked out once."""

    def __init__(self) -> None:
        self._memory: dict[str, dict[str, str]] = {}  # language -> spelling -> term

    def terms(self, word: str, language: str) -> list[str]:
        """Return the terms of a word in a document of `language`: one for each part, then the whole identifier."""
        return [self.term(spelling, language) for spelling in words.spellings(word)]

    def term(self, spelling: str, language: str) -> str:
        """Return the term of one normalised spelling under one language."""
        memory = self._memory.setdefault(language, {})
        found = memory.get(spelling)
        if found is None:
            rules = language_for(script(spelling), language) if spelling.isalpha() else None
            found = memory[spelling] = spelling if rules is None else self._stem(spelling, rules, language)
        return found

    def terms_of(self, spellings: Sequence[str], language: str) -> list[str]:
        """Return the terms of many normalised spellings under one language, in less time than one by one."""
        memory = self._memory.setdefault(language, {})
        if language in STEMMERS:
            own = script_of(language)
            unseen = [s for s in spellings if s not in memory and s.isalpha() and script(s) == own]
            memory.update((s, found or s) for s, found in zip(unseen, stems(unseen, language), strict=True))
        return [memory[s] if s in memory else self.term(s, language) for s in spellings]

    def is_word(self, spelling: str, languages: Iterable[str]) -> bool | None:
        """Tell whether a dictionary of one of the languages holds a normalised spelling; None where none is of its script."""
        own = script(spelling)
        if not any(has_dictionary(language) and script_of(language) == own for language in languages):
            return None
        return in_dictionary(spelling)

    def _stem(self, spelling: str, rules: str, language: str) -> str:
        if rules == language:
            return stem(spelling, rules) or spelling
        return self.term(spelling, rules)

    def key(self, text: str, language: str) -> str:
        """Return what a whole name is known by: its terms, in order; two names of one key differ in word forms at most."""
        return " ".join(self.term(spelling, language) for word in words.find(text) for spelling in words.spellings(word))

    def query_terms(self, spelling: str, languages: Iterable[str]) -> tuple[str, ...]:
        """Return the distinct terms of a spelling under each of the languages, in their order."""
        return tuple(dict.fromkeys(self.term(spelling, language) for language in languages))
