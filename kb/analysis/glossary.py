"""A glossary: terms with their forms in several languages, so that a question in one finds a section in another.

    [[terms]]
    en = "bounded context"
    ru = ["ограниченный контекст", "граница контекста"]
    de = "abgegrenzter Kontext"

A key is a language code; its value one form or several, of one word or more. Every form of a term leads to all the others, and
any inflected form of its words stands for it, by the same stems that the index goes by.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from kb import toml
from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.analysis.languages import is_function_word
from kb.errors import ConfigError
from kb.records import record

MOST_WORDS = 8
"""Words of a form; what is longer is a sentence, and stands in no question word for word."""
MOST_OF_TERM = 100
"""Forms of a term. Each is searched for whenever one of them is asked for; twenty languages with five synonyms have room."""
MOST_LANGUAGES = 50
"""Languages of a glossary. Each word of a question is looked up under all of them: with 50 a page of a thousand words takes .1 s,
with 600 1.4 s. Every language that Snowball knows has room."""
MOST_LOOKED_AT = 200
"""Forms of terms that one question may bring in, from left to right, those that it names itself counted. Each is looked up and
scored, and what was added is shown: more would be of no use to a reader. A question that names ten terms of twenty forms is still
whole, and 177 forms of two words take .01 s on 505 passages; what is cut short is a pasted page, or a form that hundreds of
terms share."""

TermOf = Callable[[str, str], str]
"""From a normalised spelling and a language to its term."""
_Raw: TypeAlias = Sequence[Any]
"""Text, language, key, spellings and terms of a form, as JSON holds them."""
_Begun: TypeAlias = tuple[int, Mapping[str, Sequence[tuple[int, int]]]]
"""Of the keys that begin with some word: how many words the longest has, and for each which forms have it, by number."""
_NONE: _Begun = (0, {})
_LAYOUT = 2
"""Raised whenever the lines that are kept would be read wrongly by what was here before."""


@record
class Form:
    """One form of a term as it is written. `key`: the term of each of its words under its language, function words too.

    `spellings` and their `terms` are what it is searched by: without function words, unless it has no others.
    """

    text: str
    language: str
    key: tuple[str, ...]
    spellings: tuple[str, ...]
    terms: tuple[str, ...]


@record
class Match:
    """Words of a question, from position `start` up to `end`, that are a form of a term; `others` are what else it is called."""

    start: int
    end: int
    others: tuple[Form, ...]


class Glossary:
    """Terms, and which of them words stand for.

    `lines` as `_lines` makes them. One is parsed when a question needs it: most are needed by none that a process answers.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        head = json.loads(lines[0])
        self._languages: list[str] = head["languages"]
        self._count: int = head["terms"]
        self._lines = lines
        self._terms: dict[int, list[_Raw]] = {}
        self._begun: dict[str, _Begun] = {}

    def __len__(self) -> int:
        return self._count

    def forms(self, term: int) -> list[_Raw]:
        """Return the forms of a term, each as a list of what `Form` holds."""
        if term not in self._terms:
            self._terms[term] = json.loads(self._lines[1 + term])
        return self._terms[term]

    def _beginning(self, language: str, first: str) -> _Begun:
        """Return the forms in a language whose keys begin with a term."""
        beginning = f"{language} {first}\t"
        if beginning not in self._begun:
            at = bisect_left(self._lines, beginning, lo=1 + self._count)
            if at == len(self._lines) or not self._lines[at].startswith(beginning):
                return _NONE
            keyed = json.loads(self._lines[at][len(beginning) :])
            self._begun[beginning] = max(key.count(" ") + 1 for key in keyed), keyed
        return self._begun[beginning]

    def matches(self, asked: Sequence[str], term_of: TermOf) -> list[Match]:
        """Return the forms that the words of a question hold, from left to right; the longest where several begin alike.

        Words that come again are left out, and so is what follows once `MOST_LOOKED_AT` forms have come together.
        `term_of` gives the term of a spelling under a language.
        """
        split = {word: words.pieces(word) for word in dict.fromkeys(asked)}
        pieces = [(at, piece) for at, word in enumerate(asked) for piece in split[word]]
        held = {
            piece: {language: term_of(piece, language) for language in self._languages}
            for piece in dict.fromkeys(piece for _, piece in pieces)
        }
        keys = [held[piece] for _, piece in pieces]
        out: list[Match] = []
        seen: set[tuple[str, ...]] = set()
        room = MOST_LOOKED_AT
        at = 0
        while at < len(pieces) and room > 0:
            size, found = self._named(keys, at)
            if not found:
                at += 1
                continue
            start, end = pieces[at][0], pieces[at + size - 1][0] + 1
            at += size
            if (spelt := tuple(asked[start:end])) in seen:
                continue
            seen.add(spelt)
            own = set(found)
            terms = dict.fromkeys(term for term, _ in found)
            places = list(islice(((term, number) for term in terms for number in range(len(self.forms(term)))), room))
            room -= len(places)
            others = dict.fromkeys(_form(self.forms(term)[number]) for term, number in places if (term, number) not in own)
            out.append(Match(start, end, tuple(others)))
        return out

    def _named(self, keys: Sequence[Mapping[str, str]], at: int) -> tuple[int, list[tuple[int, int]]]:
        """Return how many words the longest forms have that the question holds from some word on, and which those are."""
        begun = {language: self._beginning(language, term) for language, term in keys[at].items()}
        for size in range(min(max((longest for longest, _ in begun.values()), default=0), len(keys) - at), 0, -1):
            found = [
                (term, number)
                for language, (longest, keyed) in begun.items()
                if longest >= size
                for term, number in keyed.get(_key([one[language] for one in keys[at : at + size]]), ())
            ]
            if found:
                return size, found
        return 0, []


def _form(raw: _Raw) -> Form:
    text, language, key, spelt, terms = raw
    return Form(text, language, tuple(key), tuple(spelt), tuple(terms))


def read(path: Path, analyzer: Callable[[], Analyzer], folder: Path) -> Glossary:
    """Return the glossary of a file. What the analyzer makes of it is kept in `folder` until the file changes.

    ConfigError where the file can't be read or something in it is not valid.
    """
    from kb.analysis import VERSION

    def worked_out(path: Path) -> str:
        return "\n".join(_lines([[_analysed(text, language, analyzer()) for language, text in term] for term in terms_of(path)]))

    return Glossary(toml.kept(path, folder, f"glossary-{VERSION}-{_LAYOUT}", worked_out).split("\n"))


def joined(glossaries: Sequence[Glossary]) -> Glossary:
    """Return the terms of several glossaries as one."""
    if len(glossaries) == 1:
        return glossaries[0]
    return Glossary(_lines([one.forms(term) for one in glossaries for term in range(len(one))]))


def _lines(terms: Sequence[Sequence[_Raw]]) -> list[str]:
    """Return what a `Glossary` is made of: a head, a line of forms for each term, and sorted lines that forms are looked up by.

    Such a line holds a language and the first word of a key, and for each key that begins so which forms have it, as
    pairs of numbers: a term, and a form of it.
    """
    keyed: dict[str, dict[str, list[tuple[int, int]]]] = {}
    languages: dict[str, None] = {}
    for number, forms in enumerate(terms):
        for place, (_, language, key, _, _) in enumerate(forms):
            languages[language] = None
            keyed.setdefault(f"{language} {key[0]}\t", {}).setdefault(_key(key), []).append((number, place))
    head = {"terms": len(terms), "languages": list(languages)}
    looked_up = sorted(f"{beginning}{_json(held)}" for beginning, held in keyed.items())
    return [_json(head), *(_json(forms) for forms in terms), *looked_up]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _key(terms: Sequence[str]) -> str:
    """Return a sequence of terms as one text, as JSON has no other keys; no term holds a space."""
    return " ".join(terms)


def terms_of(path: Path) -> list[list[tuple[str, str]]]:
    """Return for each term of a file its forms as (language, text). ConfigError where the file is not a glossary."""
    data = toml.read(path)
    for key in data:
        if key != "terms":
            raise ConfigError(f"{path}: unknown key {key}; a glossary is a list of [[terms]]")
    entries = data.get("terms", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError(f"{path}: terms must be tables; write each as [[terms]] with a form for each language")
    found = [_forms(f"{path}: [[terms]] number {number}", entry) for number, entry in enumerate(entries, 1)]
    languages = {language for forms in found for language, _ in forms}
    if len(languages) > MOST_LANGUAGES:
        raise ConfigError(f"{path}: it has {len(languages)} languages; {MOST_LANGUAGES} at most")
    return found


def _forms(place: str, entry: dict[str, Any]) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for language, value in entry.items():
        if not (language.isascii() and language.isalpha() and language.islower() and len(language) in (2, 3)):
            raise ConfigError(f"{place}: unknown key {language!r}; the keys are language codes, such as en or de")
        forms = [value] if isinstance(value, str) else value
        if not isinstance(forms, list) or not forms or not all(isinstance(form, str) for form in forms):
            raise ConfigError(f"{place}: {language} must be a text or a list of texts, got {value!r}")
        for form in forms:
            count = sum(len(words.pieces(word)) for word in words.find(form))
            if not 1 <= count <= MOST_WORDS:
                raise ConfigError(f"{place}: {form!r} has {count} words; write a form of 1 to {MOST_WORDS}")
            out.append((language, form))
    if len(out) > MOST_OF_TERM:
        raise ConfigError(f"{place}: it has {len(out)} forms; {MOST_OF_TERM} at most")
    if len(out) < 2:
        raise ConfigError(f"{place}: it needs at least two forms, such as one in en and one in de")
    return out


def _analysed(text: str, language: str, analyzer: Analyzer) -> tuple[str, str, list[str], list[str], list[str]]:
    pieces = [piece for word in words.find(text) for piece in words.pieces(word)]
    telling = [piece for piece in pieces if not is_function_word(piece, (language,))] or pieces
    spelt = list(dict.fromkeys(spelling for piece in telling for spelling in words.spellings(piece)))
    return (
        text,
        language,
        [analyzer.term(piece, language) for piece in pieces],
        spelt,
        [analyzer.term(spelling, language) for spelling in spelt],
    )
