"""A query string into what is looked for: words, phrases that must occur, words that must not.

Everything but `"phrases"` in straight quotes, `-word` and `-"phrase"` is plain text; no string is an error. Typographic
quotes belong to the language of the question and ask for nothing.
"""

from __future__ import annotations

import re

from kb.analysis import words
from kb.records import record

_SENTENCE_WORDS = 4
LONGEST = 8192
"""Characters of a query, once trimmed."""

_QUOTED = re.compile(r'((?:(?<=\s)|^)-)?"([^"]*)"')
_EXCLUDED = re.compile(r"(?:(?<=\s)|^)-(?=[^\s-])")


@record
class Query:
    """What a query asks for. `words` are those of the phrases too; all are spelt as the user wrote them.

    `plain`: the words outside phrases, in order and with repeats. `unfinished`: the last of them, where it is still typed.
    `excluded_phrases`: what must not occur word after word.
    """

    text: str
    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...]
    plain: tuple[str, ...] = ()
    unfinished: str | None = None
    excluded_phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def quotes(self) -> bool:
        """True where the phrases look like quotations inside a sentence: it has some words of its own around them."""
        quoted = sum(map(len, self.phrases))
        return bool(quoted) and len(self.words) - quoted >= _SENTENCE_WORDS


def parse(text: str, *, typing: bool = False) -> Query:
    """Read a query. Order and spelling of words are kept, repeats dropped.

    `typing`: the text is still being written, so a word that nothing follows may be the beginning of one.
    """
    # Half of a surrogate pair stands in no text, and SQLite takes none.
    text = text.encode("utf-8", "replace").decode("utf-8").strip()
    if not typing and '"' not in text and "-" not in text:  # nothing but words
        found = words.find(text)
        return Query(text, tuple(dict.fromkeys(found)), (), (), tuple(found))
    found = []
    plain: list[str] = []
    phrases: list[tuple[str, ...]] = []
    excluded: list[str] = []
    excluded_phrases: list[tuple[str, ...]] = []
    rest = 0
    for match in _QUOTED.finditer(text):
        outside = _plain(text[rest : match.start()], excluded)
        plain += outside
        phrase = tuple(words.find(match.group(2)))
        found += outside
        if phrase and match.group(1):
            excluded_phrases.append(phrase)
        elif phrase:
            phrases.append(phrase)
            found += phrase
        rest = match.end()
    outside = _plain(text[rest:], excluded)
    plain += outside
    found += outside
    unfinished = outside[-1] if typing and outside and text.endswith(outside[-1]) and not _excludes(text) else None
    kept = tuple(dict.fromkeys(found))
    out = tuple(dict.fromkeys(excluded_phrases))
    return Query(text, kept, tuple(phrases), tuple(dict.fromkeys(excluded)), tuple(plain), unfinished, out)


def without_excluded(query: Query) -> str:
    """Return the text of a query without what it excludes."""
    text = query.text
    if query.excluded_phrases:
        text = _QUOTED.sub(lambda match: " " if match.group(1) else match.group(), text)
    for word in query.excluded:
        text = " ".join(piece for piece in text.split() if not (piece.startswith("-") and word in piece))
    return text


def _plain(text: str, excluded: list[str]) -> list[str]:
    """Return the words of a text outside quotes that are looked for; those it excludes are added to `excluded`."""
    found: list[str] = []
    for piece in text.split():
        if _excludes(piece):
            excluded.extend(words.find(piece[1:]))
        else:
            found.extend(words.find(piece))
    return found


def _excludes(piece: str) -> bool:
    """Tell whether the last piece of a text excludes its words."""
    last = piece.split()[-1]
    return _EXCLUDED.match(last) is not None and bool(words.find(last[1:]))
