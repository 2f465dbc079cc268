"""Character 4-grams of the spellings of a segment: which spellings share pieces with a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.index.segment import Segment
    from kb.index.vocabulary import Arrays

SIZE = 4
SHORTEST = 4
"""Shorter spellings have no grams worth comparing."""


def count_of(characters: int) -> int:
    """Return how many grams a spelling has, its two borders included."""
    return characters + 2 - (SIZE - 1)


def hashes(spellings: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the hash of every gram of the spellings, and the position of the spelling it comes from."""
    text = "".join(f"\x02{spelling}\x03" for spelling in spellings)
    codes = np.array([text]).view(np.uint32) if text else np.zeros(0, dtype=np.uint32)  # numpy holds texts as code points
    owner = np.repeat(np.arange(len(spellings)), [len(spelling) + 2 for spelling in spellings])
    count = max(len(codes) - SIZE + 1, 0)
    out = np.zeros(count, dtype=np.uint32)
    for shift in range(SIZE):
        out = out * np.uint32(0x01000193) ^ codes[shift : shift + count]
    whole = owner[:count] == owner[SIZE - 1 :] if count else np.zeros(0, dtype=bool)
    return out[whole], owner[:count][whole]


def signatures(spellings: Sequence[str]) -> NDArray[np.uint64]:
    """Return for each spelling the 64-bit set of its characters, as `kb.analysis.distance.signature` does for one."""
    if not spellings:
        return np.zeros(0, dtype=np.uint64)
    codes = np.frombuffer("".join(spellings).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    bits = np.uint64(1) << (codes & np.uint32(63)).astype(np.uint64)
    starts = np.cumsum([0, *map(len, spellings[:-1])])
    return np.bitwise_or.reduceat(bits, starts)


def pack(spellings: Sequence[str]) -> Arrays:
    """Return the arrays that lead from a gram to the spellings that hold it; spellings are known by position."""
    positions = np.array([i for i, s in enumerate(spellings) if len(s) >= SHORTEST and s.isalpha()], dtype=np.int64)
    found, owner = hashes([spellings[i] for i in positions.tolist()])
    order = np.argsort(found, kind="stable")
    found = found[order]
    first = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1]))) if len(found) else np.zeros(0, np.int64)
    return {
        "gram_hash": found[first],
        "gram_start": np.append(first, len(found)).astype(np.int32),
        "gram_word": positions[owner[order]].astype(np.int32) if len(found) else np.zeros(0, np.int32),
    }


def sharing(segment: Segment, spelling: str) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the words of a segment that share grams with a spelling, and Dice's coefficient of each with it.

    Dice, "Measures of the amount of ecologic association between species" (1945): twice the shared over the sum.
    """
    # Not np.unique: it imports masked arrays, a quarter of what numpy itself costs.
    wanted = np.array(sorted(set(hashes([spelling])[0].tolist())), dtype=np.uint32)
    at = np.minimum(segment.gram_hashes.searchsorted(wanted), max(len(segment.gram_hashes) - 1, 0))
    if not len(segment.gram_hashes):
        return np.zeros(0, np.int32), np.zeros(0)
    at = at[segment.gram_hashes[at] == wanted]
    lists = [segment.gram_words[segment.gram_starts[i] : segment.gram_starts[i + 1]] for i in at]
    if not lists:
        return np.zeros(0, np.int32), np.zeros(0)
    words, shared = np.unique(np.concatenate(lists), return_counts=True)
    sizes = segment.word_lengths[words].astype(np.int64) + 2 - (SIZE - 1)
    return words, np.minimum(2.0 * shared / (len(wanted) + sizes), 1.0)


def similarity(first: str, second: str) -> float:
    """Return Dice's coefficient of the grams of two spellings."""
    one, other = ({f"\x02{s}\x03"[at : at + SIZE] for at in range(count_of(len(s)))} for s in (first, second))
    return 2 * len(one & other) / max(len(one) + len(other), 1)
