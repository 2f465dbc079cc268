"""Ready tokens into one large segment file, batch by batch, in memory that does not grow with their number.

For text that has been cut and analysed elsewhere: each unit is a passage and a hit of its own, without names. The file is like
any other, and read by the same reader.

A batch is sorted once by term, for the postings, and once by unit, for the forward lists. Forward lists go into the file at
once; the postings wait in a temporary file until all batches are there, and are then put together term by term.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kb.index import arrays
from kb.index.builder import field_arrays, first_of_each, sorted_pairs, word_arrays
from kb.index.segment import MOST_COUNTED
from kb.index.vocabulary import pack
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_TOKENS = 500_000
"""Tokens that are sorted at a time: 2 MB of keys. Larger arrays are given back to the system and fetched anew every time."""
_JOINED = 2_000_000
"""Postings that are put together at a time."""
_BATCH_UNITS = 1 << 16  # so that a unit of a batch is a number of 16 bits
_ARRAYS = 48


@record
class Tokens:
    """Some units: `terms` holds their tokens one unit after the other, as positions in the vocabulary; `lengths` their number."""

    terms: NDArray[np.int32]
    lengths: NDArray[np.int32]


def write(path: Path, vocabulary: Sequence[str], batches: Iterable[Tokens]) -> NDArray[np.int32]:
    """Write the segment file of the units of all batches, in order; return the length of each unit."""
    terms, order = pack("term", vocabulary)
    renumber = np.empty(len(order), dtype=np.int32)
    renumber[order] = np.arange(len(order), dtype=np.int32)
    lengths: list[NDArray[np.int32]] = []
    forward_counts: list[NDArray[np.int64]] = []
    with arrays.writing(path, _ARRAYS) as file, tempfile.TemporaryFile() as temporary:
        waiting = _Waiting(temporary, len(order))
        forward = file.part("text_forward_term", np.int32)
        for batch in _cut(batches):
            held, units, counts = _postings(renumber[batch.terms], batch.lengths, len(order))
            waiting.add(held, units, counts, len(batch.lengths))
            found, sizes = _forward(held, units, len(batch.lengths))
            forward.add(found)
            forward_counts.append(sizes)
            lengths.append(batch.lengths.astype(np.int32))
        postings = int(waiting.frequency.sum())
        text_units = file.part("text_unit", np.int32, postings)
        text_counts = file.part("text_count", np.uint8, postings)
        for of_terms, often in waiting.by_term():
            text_units.add(of_terms)
            text_counts.add(often)
        whole = np.concatenate(lengths) if lengths else np.zeros(0, np.int32)
        file.put("text_start", _starts(waiting.frequency))
        file.put("text_length", whole)
        file.put("text_forward_start", _starts(np.concatenate(forward_counts) if forward_counts else np.zeros(0, np.int64)))
        documents = waiting.frequency[renumber].astype(np.int32)
        words = word_arrays(vocabulary, np.arange(len(order), dtype=np.int32)[:, None], documents, renumber)
        for name, array in {**terms, **words, **_each_a_hit(len(whole), len(order))}.items():
            file.put(name, array)
    return whole


def _each_a_hit(total: int, vocabulary: int) -> dict[str, NDArray[Any]]:
    """Return the arrays that say of every unit that it is a hit by itself, without names."""
    numbers = np.arange(total + 1, dtype=np.int32)
    catalog = np.arange(1, total + 1, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int32)
    return {
        **dict.fromkeys(("unit_hit", "hit_group"), numbers[:-1]),
        "hit_start": numbers,
        **dict.fromkeys(("group", "unit_passage", "hit_section", "hit_document"), catalog),
        "hit_language": np.zeros(total, dtype=np.uint8),
        "name_start": np.zeros(total + 1, dtype=np.int32),
        **field_arrays("head", nothing, nothing, np.zeros(0, np.uint8), nothing, vocabulary),
    }


def _cut(batches: Iterable[Tokens]) -> Iterator[Tokens]:
    for batch in batches:
        ends = np.cumsum(batch.lengths, dtype=np.int64)
        first = 0
        while first < len(ends):
            start = int(ends[first - 1]) if first else 0
            last = max(int(ends.searchsorted(start + BATCH_TOKENS, side="right")), first + 1)
            last = min(last, first + _BATCH_UNITS)
            yield Tokens(batch.terms[start : int(ends[last - 1])], batch.lengths[first:last])
            first = last


def _postings(
    terms: NDArray[np.int32], lengths: NDArray[np.int32], vocabulary: int
) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint8]]:
    """Return how many units of a batch hold each term, those units term by term, and how often each holds it."""
    keys, bits = sorted_pairs(terms, np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths), vocabulary, len(lengths))
    first = first_of_each(keys)
    counts = np.minimum(_lengths(first, len(keys)), MOST_COUNTED).astype(np.uint8)
    keys = keys[first]
    held = _counted(keys >> keys.dtype.type(bits), vocabulary).astype(np.int32)
    keys &= keys.dtype.type((1 << bits) - 1)
    return held, keys.astype(np.uint16), counts


def _forward(held: NDArray[np.int32], units: NDArray[np.uint16], count: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the terms of each unit of a batch, unit by unit, and how many each has."""
    keys, bits = sorted_pairs(units, np.repeat(np.arange(len(held), dtype=np.uint32), held), count, len(held))
    sizes = _counted(keys >> keys.dtype.type(bits), count)
    keys &= keys.dtype.type((1 << bits) - 1)
    return keys.astype(np.int32), sizes


def _counted(ordered: NDArray[np.integer[Any]], numbers: int) -> NDArray[np.int64]:
    """Return how often each number below `numbers` stands among sorted ones."""
    out = np.zeros(numbers, dtype=np.int64)
    first = first_of_each(ordered)
    out[ordered[first]] = _lengths(first, len(ordered))
    return out


def _lengths(first: NDArray[np.int64], end: int) -> NDArray[np.int64]:
    """Return the lengths of runs that begin at `first`, the last of which ends before `end`."""
    out = np.empty_like(first)
    np.subtract(first[1:], first[:-1], out=out[:-1])
    out[-1:] = end - first[-1:]
    return out


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


class _Batch(NamedTuple):
    """Where a batch lies in the temporary file: how many units hold each term, those units, the counts; and its first unit."""

    held: int
    units: int
    counts: int
    first: int


class _Waiting:
    """The sorted postings of all batches, in a temporary file; `frequency`: how many units hold each term so far."""

    def __init__(self, file: IO[bytes], vocabulary: int) -> None:
        self.frequency = np.zeros(vocabulary, dtype=np.int64)
        self._file = file
        self._batches: list[_Batch] = []
        self._units = 0

    def add(self, held: NDArray[np.int32], units: NDArray[np.uint16], counts: NDArray[np.uint8], size: int) -> None:
        """Keep a batch of `size` units."""
        self.frequency += held
        at = self._file.tell()
        self._batches.append(_Batch(at, at + held.nbytes, at + held.nbytes + units.nbytes, self._units))
        self._units += size
        for part in (held, units, counts):
            self._file.write(part.data)

    def by_term(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint8]]]:
        """Yield units and counts term by term, some terms at a time; those of a term in the order of the batches."""
        # Many terms that few units hold cost as much as few that many hold: each has a place in every batch.
        cost = np.cumsum(self.frequency + len(self._batches))
        done = np.zeros(len(self._batches), dtype=np.int64)
        first = 0
        while first < len(cost):
            before = int(cost[first - 1]) if first else 0
            last = max(int(cost.searchsorted(before + _JOINED, side="right")), first + 1)
            held = np.empty((len(self._batches), last - first), dtype=np.int32)
            for row, batch in zip(held, self._batches, strict=True):
                self._read(batch.held + 4 * first, row)
            sizes = held.sum(axis=1)
            units = np.empty(int(sizes.sum()), dtype=np.uint16)
            counts = np.empty(len(units), dtype=np.uint8)
            start = 0
            for batch, skipped, size in zip(self._batches, done.tolist(), sizes.tolist(), strict=True):
                self._read(batch.units + 2 * skipped, units[start : start + size])
                self._read(batch.counts + skipped, counts[start : start + size])
                start += size
            done += sizes
            yield self._turned(held, units, counts)
            first = last

    def _turned(
        self, held: NDArray[np.int32], units: NDArray[np.uint16], counts: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Bring what stands batch by batch, in each term by term, into the order of the terms, in each batch by batch."""
        ends = np.cumsum(held).reshape(held.shape)
        sizes = held.T.ravel()
        places = np.repeat((ends - held).T.ravel() - (np.cumsum(sizes) - sizes), sizes)
        places += np.arange(len(units))
        firsts = np.tile(np.array([batch.first for batch in self._batches], dtype=np.int32), held.shape[1])
        out = np.repeat(firsts, sizes)
        out += units[places]
        return out, counts[places]

    def _read(self, at: int, into: NDArray[Any]) -> None:
        self._file.seek(at)
        self._file.readinto(into.data)  # type: ignore[attr-defined]
