"""Text to the lower-case ASCII that derived ids are made of."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

_LONGEST = 100
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ẞ": "SS"})
# What the transliteration table, made for Russian, gets wrong in its neighbours.
_BY_LANGUAGE = {
    "uk": str.maketrans({"г": "h", "Г": "H", "и": "y", "И": "Y"}),
    "bg": str.maketrans({"щ": "sht", "Щ": "Sht", "ъ": "a", "Ъ": "A"}),
}
_QUOTES = re.compile("['\"’‘`´]+")
_ASCII_RUN = re.compile(r"[^a-z0-9]+")


def slug(text: str, language: str | None = None) -> str:
    """The slug of `text`: lower-case ASCII letters, digits and single hyphens, never empty.

    German umlauts become two letters and Cyrillic is transliterated. Text of which nothing is left (emoji, symbols)
    becomes `x` and eight hexadecimal digits of its hash. `language` refines the transliteration for Ukrainian and
    Bulgarian; ids are built without it, so that they do not depend on a guess.
    """
    return _slug(unicodedata.normalize("NFKC", text).strip(), language)


@lru_cache(maxsize=4096)
def _slug(text: str, language: str | None) -> str:
    plain = text
    if not text.isascii():
        # The table is called directly: slugify prefers another one where it is installed, and ids would differ
        # from machine to machine.
        from text_unidecode import unidecode  # type: ignore[import-untyped]

        plain = plain.translate(_BY_LANGUAGE.get(language or "", {})).translate(_GERMAN)
        plain = _QUOTES.sub(" ", plain)
        plain = unidecode(plain).replace("'", "").replace('"', "")
    result = _ascii_slug(plain)
    if not result:
        return "x" + _digest(text)
    if len(result) > _LONGEST:
        return f"{result[:_LONGEST].rstrip('-')}-{_digest(text)}"
    return result


def _ascii_slug(text: str) -> str:
    if len(text) > 10 * _LONGEST:
        text = text[: 10 * _LONGEST]
    from slugify import slugify

    return _ASCII_RUN.sub("-", slugify(text)).strip("-")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
