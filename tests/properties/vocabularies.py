"""The words that real texts use, by language: of the shipped base, and of question sets where they lie beside the checkout."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from kb.analysis import words
from kb.analysis.languages import script
from kb.config import Collection, load, shipped
from kb.documents.read import read
from kb.documents.walk import walk

LANGUAGES = ("ru", "en", "de")
SCRIPTS = {"ru": "cyrillic", "en": "latin", "de": "latin"}
SOURCES = ("shipped", "shared")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SEED = 20261130
_MOST_FILES = 450
"""Of a question set's folder: its vocabulary grows slowly from there, reading it does not."""


@dataclass(frozen=True)
class Vocabulary:
    """Distinct words of one language as they are spelt, the most frequent first, and the texts they come from."""

    language: str
    words: tuple[str, ...]
    texts: tuple[str, ...]

    def sample(self, count: int, *, shortest: int = 1, longest: int = 40, seed: int = SEED) -> list[str]:
        """A random sample of its words of some length; all of them where there are fewer."""
        held = [word for word in self.words if shortest <= len(word) <= longest]
        return random.Random(f"{seed}:{self.language}").sample(held, min(count, len(held)))


@cache
def vocabulary(source: str, language: str) -> Vocabulary:
    """The words of a language in its own script, without digits and signs. Skips the test where the source is not here."""
    texts = tuple(_texts(source, language))
    counts = Counter(
        word
        for text in texts
        for word in words.find(text)
        if word.isalpha() and script(words.normalise(word)) == SCRIPTS[language] and not _mixed(word)
    )
    return Vocabulary(language, tuple(counts), texts)


def identifiers(texts: Sequence[str]) -> list[str]:
    """The distinct words of texts that hold signs or digits beside letters, as they are spelt there; an owner's name is none."""
    found = {word for text in texts for word in words.find(text) if not word.isalpha() and any(map(str.isalpha, word))}
    return sorted(word for word in found if not word.endswith(("'s", "’s")))


def _mixed(word: str) -> bool:
    """Whether a word is a name of a program or holds letters of two scripts."""
    inner = word[1:]
    return (inner != inner.lower() and not word.isupper()) or len({script(char) for char in words.normalise(word)}) > 1


def _texts(source: str, language: str) -> Iterator[str]:
    collections = list(_collections(source, language))
    if not collections:
        pytest.skip(f"the question sets are not beside the checkout: {SHARED}")
    for collection in collections:
        for file in walk(collection.root, collection.include, collection.exclude).files[:_MOST_FILES]:
            document = read(collection.root, file.source)
            if (document.language or collection.language) == language or _folder(file.source, collection) == language:
                for section in document.sections:
                    yield section.title
                    yield from (block.text for block in section.blocks)


def _folder(source: str, collection: Collection) -> str | None:
    first = source.partition("/")[0]
    return first if first in collection.languages else None


def _collections(source: str, language: str) -> Iterator[Collection]:
    if source == "shipped":
        yield from load(shipped()).collections
    elif SHARED.is_dir():
        yield Collection(language, SHARED / "xquad" / language / "docs", language=language)
        if language == "en":
            yield Collection("fpf", SHARED / "fpf" / "docs", language="en")


def check(failed: Sequence[object], of: int, least: float = 1.0) -> None:
    """Fail where less than `least` of what was tried holds; the message names some of what does not."""
    assert of > 0, "nothing was tried"
    share = 1 - len(failed) / of
    assert share >= least, f"{share:.4f} of {of}, at least {least} wanted; not: {list(failed)[:12]}"
