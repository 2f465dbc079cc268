"""Text into words: where a word begins and ends, how it is spelt for comparison, and its parts.

A *word* here is a run of letters, digits and the signs that hold an identifier together
(`U.BoundedContext`, `DEC-0054`, `src/db.ts`, `@scope/pkg`, `C++`). It is kept whole and by part.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property

# Python's \w knows letters, digits and "_" but not the marks that many scripts write inside a word, nor
# the invisible characters (soft hyphen, joiners) that editors leave there.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0730-\u074a\u07a6-\u07b0\u0f71-\u0f84\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u3099\u309a"
    "\u0900-\u0963\u0966-\u0dff\u0e00-\u0e7f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_INVISIBLE = "\u00ad\u200b-\u200d\u2060\ufeff"
# Nothing that follows could make a match shorter, so nothing is kept for going back.
_RUN = rf"\w[\w{_MARKS}{_INVISIBLE}]*+"
WORD = re.compile(rf"@?{_RUN}(?:[.\-‑/:'’_+&]{_RUN})*+(?:\+\+|\#(?!\w))?")
_CJK_RANGES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"


class _Pattern:
    """A pattern that is compiled when it is first used: the wide ranges are slow to compile, and most words are plain."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)


_PART = _Pattern(rf"[^\W_](?:[^\W_]|[{_MARKS}])*")
_STRESS = _Pattern("(?<=[\u0400-\u04ff])[\u0300\u0301]")
_CAMEL = _Pattern(r"(?<=[a-zа-яёäöüß0-9])(?=[A-ZА-ЯЁÄÖÜ])|(?<=[A-ZА-ЯЁ])(?=[A-ZА-ЯЁ][a-zа-яё])")
# The same for words of plain ASCII, which are most and need no wide ranges: runs between signs, and what inner capitals open.
_ASCII_PART = _Pattern("[0-9A-Za-z]+")
_ASCII_HUMP = _Pattern("[A-Z]+(?=[A-Z][a-z])|[A-Z]+[a-z0-9]*|[a-z0-9]+")
_CJK = _Pattern(f"[{_CJK_RANGES}]")
_CJK_RUN = _Pattern(f"[{_CJK_RANGES}]+|[^{_CJK_RANGES}]+")
_DROP = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_POSSESSIVE = ("'s", "'S", "’s", "’S")
_DROPPED = frozenset(map(chr, _DROP))
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

LONGEST = 128
"""Characters of a word that are compared; what is longer (a hash, a data URL) is cut alike in text and query."""


def find(text: str) -> list[str]:
    """Return the words of a text in order, spelt as they stand there."""
    return WORD.findall(text)


def normalise(word: str) -> str:
    """Return the spelling that is compared: NFKC, lower case, ё as е, ß as ss, no stress marks or soft hyphens.

    й stays й: only composed letters are folded, never their base letters. ﬁ is fi, Ａ is A, ² is 2.
    """
    if word.isascii():
        return word[:LONGEST].lower()
    word = _seen(word)
    if unicodedata.normalize("NFKC", word) != word:  # returns most words as they are, for little
        word = _compatible(word)
    if "\u0301" in word or "\u0300" in word:
        word = _STRESS.compiled.sub("", word)
    # The Turkish capital gives two characters in lower case; lower case and folds can leave letters to be composed.
    word = word.replace("İ", "i").lower().replace("ё", "е").replace("ß", "ss").replace("’", "'")
    return unicodedata.normalize("NFC", word)[:LONGEST]


def _compatible(word: str) -> str:
    """Return a word in NFKC where that is one word, else in NFC: some signs stand for several words, or for what is none."""
    word = word.replace("‑", "-")  # whose own compatible sign holds no word together
    found = unicodedata.normalize("NFKC", word)
    return found if found == word or WORD.fullmatch(found) else unicodedata.normalize("NFC", word)


def _seen(word: str) -> str:
    """Return a word without characters that are not seen."""
    return word if _DROPPED.isdisjoint(word) else word.translate(_DROP)


def parts(word: str) -> list[str]:
    """Return the pieces of a word between its signs and at its inner capitals, in its own case."""
    plain = word.isascii()
    if not plain:
        if word.isalpha() and (word.islower() or word.istitle() or word.isupper()) and not is_cjk(word):
            return [word]
        word = _seen(unicodedata.normalize("NFC", word))
    out: list[str] = []
    for piece in (_ASCII_PART if plain else _PART).compiled.findall(word):
        if not (piece.islower() or piece.isupper() or piece.istitle()):
            humps = _ASCII_HUMP.compiled.findall(piece) if plain else _CAMEL.compiled.split(piece)
            if len(humps) > 1:
                out.append(piece)
            out.extend(humps)
        else:
            out.append(piece)
    return out


def spellings(word: str) -> list[str]:
    """Return every normalised form under which a word can be found: its parts, then the whole if it differs.

    Chinese, Japanese and Korean runs give their overlapping pairs of characters.
    """
    if word.isalpha() and (word.islower() or word.istitle() or word.isupper()):
        if word.isascii():
            return [word[:LONGEST].lower()]
        spelt = normalise(word)
        if not is_cjk(word) and not is_cjk(spelt):
            return [spelt]
    if not word.isascii():
        word = word.replace("’", "'").replace("‑", "-")
    if not word.isascii():
        # A note is often called by such a number; the word before it is what is looked for.
        bare = word.rstrip(_SUPERSCRIPTS)
        if bare and bare != word:
            return list(dict.fromkeys((*spellings(bare), normalise(word))))
        word = _compatible(word)
    if word[-2:] in _POSSESSIVE:
        word = word[:-2]
    if word.isascii():
        found = [piece[:LONGEST].lower() for piece in parts(word)]
        whole = word[:LONGEST].lower()
        return found if whole in found or not whole else [*found, whole]
    found = []
    for piece in parts(word):
        spelt = normalise(piece)
        if is_cjk(spelt):
            found.extend(_bigrams(spelt))
        elif spelt:
            found.append(spelt)
    whole = normalise(word)
    if whole and whole not in found and not is_cjk(whole):
        found.append(whole)
    return found


def pieces(word: str) -> list[str]:
    """Return the normalised pieces of a word between its signs, for comparing sequences: `DEC-0054` is two of them."""
    found = [normalise(piece) for piece in _PART.compiled.findall(_seen(unicodedata.normalize("NFC", word)))]
    suffix = word[len(word.rstrip("+#")) :]
    if suffix and found:
        found[-1] += suffix
    return found or [normalise(word)]


def is_cjk(word: str) -> bool:
    """Tell whether a word holds Chinese, Japanese or Korean characters, which are compared by pairs."""
    return bool(word) and max(word) >= "\u3040" and _CJK.compiled.search(word) is not None


def is_identifier(word: str) -> bool:
    """Tell whether a word is a name or number rather than a word of a language: it holds digits or signs."""
    return not word.isalpha()


def _bigrams(text: str) -> list[str]:
    out: list[str] = []
    for run in _CJK_RUN.compiled.findall(text):
        if not _CJK.compiled.match(run) or len(run) == 1:
            out.append(run)
        else:
            out.extend(run[i : i + 2] for i in range(len(run) - 1))
    return out
