"""The part of a passage that shows why it was found, and where in it the words stand."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from kb.analysis import words
from kb.ranking.weights import SNIPPET_CHARACTERS
from kb.records import record

_BEGINNING = 4
_MOST_BEGINNINGS = 40
"""Up to so many beginnings finding each of them is faster than looking at every word of a passage."""
_SIGNS = dict.fromkeys(map(ord, "…™№‑\u00a0\u202f"), " ")
"""Signs of no word that have compatible ones: texts hold them more often than letters that do."""
_NOT_SINGLE = "Σİ\u0300\u0301\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""What lower case or folds change together with what stands beside it, or that is not seen."""
_MOST_MATCHES = 200
_MOST_CHUNKS = 1 << 15
_BEFORE = 40
_ELLIPSIS = "…"


@record
class Snippet:
    """At most 240 characters of source text, whole words; `highlights` are [start, end) offsets in characters."""

    text: str
    highlights: tuple[tuple[int, int], ...]


def cut(text: str, spellings: Mapping[str, float], begin: Sequence[str] | None = None) -> Snippet:
    """Return the window of a passage that holds the most weight of distinct words.

    `spellings`: every spelling that counts, with the weight of its term; `begin`: their `beginnings`, where many texts are cut.
    White space is collapsed; everything else stands as in the source.
    """
    # Of all white space only the space is printable.
    flat = text if text.isprintable() and "  " not in text and text == text.strip() else " ".join(text.split())
    found = matches(flat, spellings, beginnings(spellings) if begin is None else begin)
    if len(flat) <= SNIPPET_CHARACTERS:
        return Snippet(flat, tuple([(start, end) for start, end, _, _ in found]))
    start, end = _window(flat, found)
    before = _ELLIPSIS if start else ""
    after = _ELLIPSIS if end < len(flat) else ""
    shift = len(before) - start
    return Snippet(
        before + flat[start:end] + after,
        tuple([(a + shift, b + shift) for a, b, _, _ in found if a >= start and b <= end]),
    )


def beginnings(spellings: Iterable[str]) -> list[str]:
    """Return what spellings begin with, each once: where none of that stands, no spelling does."""
    return list({spelling[:_BEGINNING] for spelling in spellings})


def matches(text: str, spellings: Mapping[str, float], begin: Sequence[str] = ()) -> list[tuple[int, int, str, float]]:
    """Return (start, end, spelling, weight) of the words of a text that count, in order.

    A whole identifier counts as one; where only a part of it is looked for, the part is marked. `begin`: the `beginnings` of the
    spellings, where only what holds one of them should be looked at, which takes a fraction of the time.
    """
    folded = _folded(text) if 0 < len(begin) <= _MOST_BEGINNINGS else None
    wanted = spellings.keys()
    out: list[tuple[int, int, str, float]] = []
    for at, chunk in _chunks(text) if folded is None else _chunks_with(text, folded, begin):
        key, held = _CHUNKS[chunk]
        if key.__class__ is str:
            weight = spellings.get(key)
            if weight is not None:
                start, word, _, _ = held[0]
                start += at
                out.append((start, start + len(word), key, weight))
                if len(out) >= _MOST_MATCHES:
                    return out
            continue
        if wanted.isdisjoint(key):
            continue
        for start, word, spelt, inside in held:
            weight = spellings.get(spelt)
            if weight is not None:
                out.append((at + start, at + start + len(word), spelt, weight))
            elif inside and not wanted.isdisjoint(inside):
                out.extend(_inner(word, at + start, spellings))
            if len(out) >= _MOST_MATCHES:
                return out
    return out


def _chunks(text: str) -> list[tuple[int, str]]:
    """Return what stands between spaces, with where it begins."""
    chunks = text.split(" ")
    ends = accumulate(map(len, chunks))
    return [(end - len(chunk) + number, chunk) for number, (chunk, end) in enumerate(zip(chunks, ends, strict=True))]


def _chunks_with(text: str, folded: str, begin: Iterable[str]) -> list[tuple[int, str]]:
    """Return those of the chunks of a text that hold a beginning, each once; `folded` has its spaces where the text has them."""
    places = []
    find = folded.find
    for beginning in begin:
        place = find(beginning)
        while place >= 0:
            places.append(place)
            place = find(beginning, place + len(beginning))
    places.sort()
    out = []
    end = -1
    every = None if len(folded) == len(text) else _chunks(text)
    for place in places:
        if place < end:
            continue  # in the same chunk as the one before
        end = find(" ", place)
        if end < 0:
            end = len(folded)
        if every is None:
            at = folded.rfind(" ", 0, place) + 1
            out.append((at, text[at:end]))
        else:
            out.append(every[folded.count(" ", 0, place)])
    return out


def _folded(text: str) -> str | None:
    """Return a text in the form that `words.normalise` gives its words; None where that is not told from single characters."""
    if text.isascii():
        return text.lower()
    if not unicodedata.is_normalized("NFKC", text) and not unicodedata.is_normalized("NFKC", text.translate(_SIGNS)):
        return None
    for sign in _NOT_SINGLE:
        if sign in text:
            return None
    folded = text.lower().replace("ß", "ss").replace("’", "'").replace("‑", "-")
    if "ё" in folded:
        folded = folded.replace("ё", "е")
        if not unicodedata.is_normalized("NFC", folded):  # a mark follows that goes with е
            return None
    return folded


_AROUND = ".,;:!?…'\"’„“”«»()[]{}<>*`|/-–—‑&"
"""Signs that may stand before and after a word without being part of it, however the pattern of words reads them."""
_Words = tuple[tuple[int, str, str, frozenset[str]], ...]


class _Chunks(dict[str, "tuple[str | frozenset[str], _Words]"]):
    """What stands between two spaces -> all spellings in it, or the only one; and for each word its start, itself, its spelling
    and those of its parts. The words of a base come again and again, and their signs with them.
    """

    def __missing__(self, chunk: str) -> tuple[str | frozenset[str], _Words]:
        if len(self) >= _MOST_CHUNKS:
            self.clear()
        word = chunk.strip(_AROUND)
        found: tuple[str | frozenset[str], _Words]
        if _plain(word):
            found = words.normalise(word), ((chunk.index(word), word, words.normalise(word), frozenset()),)
        else:
            held = tuple((match.start(), match.group(), *_spelt(match.group())) for match in words.WORD.finditer(chunk))
            found = frozenset(spelling for _, _, whole, inside in held for spelling in (whole, *inside)), held
        self[chunk] = found
        return found


_CHUNKS = _Chunks()


def _spelt(word: str) -> tuple[str, frozenset[str]]:
    """Return the spelling of a word, and those of its parts where it has any."""
    if _plain(word):
        return words.normalise(word), frozenset()
    return words.normalise(word), frozenset(spelt for piece in words.parts(word) for spelt in words.spellings(piece))


def _plain(word: str) -> bool:
    """Tell whether a word has no parts."""
    return word.isalpha() and (word.islower() or word.istitle() or word.isupper()) and not words.is_cjk(word)


def _inner(word: str, offset: int, spellings: Mapping[str, float]) -> list[tuple[int, int, str, float]]:
    out: list[tuple[int, int, str, float]] = []
    at = 0
    for piece in words.parts(word):
        start = word.find(piece, at)
        if start < 0:
            continue
        for spelt in words.spellings(piece):
            if spelt in spellings and not (out and out[-1][1] > offset + start):
                entire = words.normalise(piece)
                size, inside = len(piece), 0
                if len(piece) != len(entire):  # ß is spelt with two: what is inside such a piece has no place in it
                    if spelt != entire and not words.is_cjk(spelt):
                        continue  # but one of its own, as the next piece
                elif len(spelt) < len(piece):
                    size, inside = len(spelt), max(entire.find(spelt), 0)
                begin = start + inside
                out.append((offset + begin, offset + begin + size, spelt, spellings[spelt]))
                at = begin + size
    return out


def _window(text: str, found: list[tuple[int, int, str, float]]) -> tuple[int, int]:
    room = SNIPPET_CHARACTERS - 2 * len(_ELLIPSIS)
    best, best_start = -1.0, 0
    spelt = [spelling for _, _, spelling, _ in found]
    values = [weight for _, _, _, weight in found]
    last = end = 0
    for index, (start, _, _, _) in enumerate(found):
        end = max(end, index)
        while end < len(found) and found[end][1] <= start + room - _BEFORE:
            end += 1
        if index and end == last:
            continue  # nothing more than in the one before
        last = end
        seen = dict(zip(spelt[index:end], values[index:end], strict=True))
        value = sum(seen.values()) + 0.01 * (end - index - len(seen))
        if value > best:
            best, best_start = value, start
    begin = _word_start(text, max(0, best_start - _BEFORE))
    if begin > best_start:
        begin = best_start
    end = _word_end(text, begin, begin + room)
    if end == len(text):
        begin = max(_word_start(text, max(0, end - room)), 0)
    return begin, end


def _word_start(text: str, at: int) -> int:
    if at == 0 or text[at - 1] == " ":
        return at
    space = text.find(" ", at)
    return at if space < 0 or space - at > _BEFORE else space + 1


def _word_end(text: str, begin: int, at: int) -> int:
    if at >= len(text):
        return len(text)
    if text[at] == " ":
        return at
    space = text.rfind(" ", begin, at)
    # A single word longer than a snippet has to be cut somewhere.
    return space if space > begin else at
