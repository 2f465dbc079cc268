"""Ready tokens into one large segment, batch by batch, in memory that does not grow with their number.

For text that has been cut and analysed elsewhere: each unit is a passage and a hit of its own, without names. The file is like
any other, and read by the same reader.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from kb.index.builder import field_arrays, first_of_each, sorted_pairs, word_arrays
from kb.index.segment import MOST_COUNTED
from kb.index.vocabulary import Arrays, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_TOKENS = 1_000_000
"""Tokens that are sorted at a time: 8 MB of keys. Larger arrays are given back to the system and fetched anew every time."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Some units: `terms` holds their tokens one unit after the other, as positions in the vocabulary; `lengths` their number."""

    terms: NDArray[np.int32]
    lengths: NDArray[np.int32]


def segment_of(vocabulary: Sequence[str], batches: Iterable[Tokens]) -> Arrays:
    """Return the arrays of a segment over the units of all batches, in order.

    The sorted postings of each batch wait in a temporary file; in memory are the segment's own arrays, what one batch needs,
    and a few numbers for each word of the vocabulary.
    """
    out, order = pack("term", vocabulary)
    renumber = np.empty(len(order), dtype=np.int32)
    renumber[order] = np.arange(len(order), dtype=np.int32)
    frequency = np.zeros(len(order), dtype=np.int64)
    lengths: list[NDArray[np.int32]] = []
    with tempfile.TemporaryFile() as waiting:
        for batch in _cut(batches):
            held, units, counts = _sorted(renumber[batch.terms], batch.lengths, len(order))
            frequency += held
            lengths.append(batch.lengths.astype(np.int32))
            for part in (held, units, counts):
                waiting.write(part.data)
        waiting.seek(0)
        out.update(_joined(waiting, lengths, frequency))
    total = len(out["text_length"])
    numbers = np.arange(total + 1, dtype=np.int32)
    out.update(
        word_arrays(vocabulary, np.arange(len(order), dtype=np.int32)[:, None], frequency[renumber].astype(np.int32), renumber)
    )
    out["unit_hit"] = out["hit_group"] = numbers[:-1]
    out["hit_start"] = numbers
    out["group"] = out["unit_passage"] = out["hit_section"] = out["hit_document"] = np.arange(1, total + 1, dtype=np.int64)
    out["name_start"] = np.zeros(total + 1, dtype=np.int32)
    nothing = np.zeros(0, dtype=np.int32)
    out.update(field_arrays("head", nothing, nothing, np.zeros(0, np.uint8), nothing, len(order)))
    return out


def _cut(batches: Iterable[Tokens]) -> Iterator[Tokens]:
    for batch in batches:
        ends = np.cumsum(batch.lengths, dtype=np.int64)
        first = 0
        while first < len(ends):
            start = int(ends[first - 1]) if first else 0
            last = max(int(ends.searchsorted(start + BATCH_TOKENS, side="right")), first + 1)
            yield Tokens(batch.terms[start : int(ends[last - 1])], batch.lengths[first:last])
            first = last


def _sorted(
    terms: NDArray[np.int32], lengths: NDArray[np.int32], vocabulary: int
) -> tuple[NDArray[np.int32], NDArray[np.generic], NDArray[np.uint8]]:
    """Return how many units of a batch hold each term, those units term by term, and how often each holds it."""
    keys, bits = sorted_pairs(terms, np.repeat(np.arange(len(lengths), dtype=np.uint32), lengths), vocabulary, len(lengths))
    first = first_of_each(keys)
    counts = np.minimum(np.diff(np.append(first, len(keys))), MOST_COUNTED).astype(np.uint8)
    found = keys[first]
    held = np.bincount(found >> bits, minlength=vocabulary).astype(np.int32)
    found &= (1 << bits) - 1
    return held, found.astype(_narrow(len(lengths))), counts


def _narrow(count: int) -> type[np.uint16] | type[np.uint32]:
    """Return the smallest type for numbers below `count`."""
    return np.uint16 if count <= 1 << 16 else np.uint32


def _joined(waiting: IO[bytes], lengths: Sequence[NDArray[np.int32]], frequency: NDArray[np.int64]) -> Arrays:
    """Return the field `text` from the sorted batches: each batch's postings of a term follow those of the batch before."""
    total, vocabulary = int(frequency.sum()), len(frequency)
    units = np.empty(total, dtype=np.int32)
    counts = np.empty(total, dtype=np.uint8)
    forward = np.empty(total, dtype=np.int32)
    starts = np.zeros(vocabulary + 1, dtype=np.int64)
    np.cumsum(frequency, out=starts[1:])
    forward_starts = np.zeros(sum(map(len, lengths)) + 1, dtype=np.int64)
    cursor = starts[:-1].copy()
    base = done = 0
    position = np.int32 if total < 1 << 31 else np.int64
    for batch in lengths:
        held = np.frombuffer(waiting.read(4 * vocabulary), dtype=np.int32)
        size, narrow = int(held.sum()), _narrow(len(batch))
        batch_units: NDArray[np.integer[Any]] = np.frombuffer(waiting.read(np.dtype(narrow).itemsize * size), dtype=narrow)
        batch_counts = np.frombuffer(waiting.read(size), dtype=np.uint8)
        target = np.repeat((cursor - (np.cumsum(held, dtype=np.int64) - held)).astype(position), held)
        target += np.arange(size, dtype=position)
        units[target] = batch_units.astype(np.int32) + np.int32(base)
        counts[target] = batch_counts
        cursor += held
        keys, bits = sorted_pairs(batch_units, np.repeat(np.arange(vocabulary, dtype=np.uint32), held), len(batch), vocabulary)
        keys &= (1 << bits) - 1
        forward[done : done + size] = keys
        forward_starts[base + 1 : base + len(batch) + 1] = np.bincount(batch_units, minlength=len(batch))
        base += len(batch)
        done += size
    np.cumsum(forward_starts, out=forward_starts)
    return {
        "text_start": starts,
        "text_unit": units,
        "text_count": counts,
        "text_length": np.concatenate(lengths) if lengths else np.zeros(0, np.int32),
        "text_forward_start": forward_starts,
        "text_forward_term": forward,
    }
