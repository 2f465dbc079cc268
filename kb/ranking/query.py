"""A query string into what is looked for: words, phrases that must occur, words that must not.

Everything but `"phrases"` in straight quotes and `-word` is plain text; no string is an error. Typographic quotes
belong to the language of the question and ask for nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kb.analysis import words

_SENTENCE_WORDS = 4
LONGEST = 8192
"""Characters of a query, once trimmed."""

_QUOTED = re.compile(r'"([^"]*)"')
_EXCLUDED = re.compile(r"(?:(?<=\s)|^)-(?=[^\s-])")


@dataclass(frozen=True, slots=True)
class Query:
    """What a query asks for. `words` are those of the phrases too; all are spelt as the user wrote them."""

    text: str
    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...]

    @property
    def quotes(self) -> bool:
        """True where the phrases look like quotations inside a sentence: it has at least as many words around them."""
        quoted = sum(map(len, self.phrases))
        return bool(quoted) and len(self.words) - quoted >= max(quoted, _SENTENCE_WORDS)


def parse(text: str) -> Query:
    """Read a query. Order and spelling of words are kept, repeats dropped."""
    # Half of a surrogate pair stands in no text, and SQLite takes none.
    text = text.encode("utf-8", "replace").decode("utf-8").strip()
    found: list[str] = []
    phrases: list[tuple[str, ...]] = []
    excluded: list[str] = []
    rest = 0
    for match in _QUOTED.finditer(text):
        _plain(text[rest : match.start()], found, excluded)
        phrase = tuple(words.find(match.group(1)))
        if phrase:
            phrases.append(phrase)
            found.extend(phrase)
        rest = match.end()
    _plain(text[rest:], found, excluded)
    return Query(text, tuple(dict.fromkeys(found)), tuple(phrases), tuple(dict.fromkeys(excluded)))


def _plain(text: str, found: list[str], excluded: list[str]) -> None:
    for piece in text.split():
        match = _EXCLUDED.match(piece)
        if match and words.find(piece[1:]):
            excluded.extend(words.find(piece[1:]))
        else:
            found.extend(words.find(piece))
