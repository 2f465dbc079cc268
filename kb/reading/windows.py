"""Parts of a passage in whole lines: the one that holds most of a question, and the longest beginning that fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from kb.ranking.snippet import matches
from kb.reading.records import GroundPassage


def best(passage: GroundPassage, spellings: Mapping[str, float], characters: int) -> GroundPassage:
    """Return the lines of a passage, at most `characters` long, in which the most weight of distinct words stands.

    `spellings`: every spelling that counts, with its weight. A part begins where a paragraph does, and holds one line at
    least, however long that is. A passage that is short enough comes back whole.
    """
    if len(passage.text) <= characters:
        return passage
    lines = passage.text.split("\n")
    held = [{spelt: weight for _, _, spelt, weight in matches(line, spellings)} for line in lines]
    ends = list(accumulate(len(line) + 1 for line in lines))
    starts = [at for at, line in enumerate(lines) if line.strip() and (at == 0 or not lines[at - 1].strip())]
    top, chosen = -1.0, (starts[0], starts[0] + 1)
    for start in starts:
        before = ends[start - 1] if start else 0
        end = start + 1
        while end < len(lines) and ends[end] - 1 - before <= characters:
            end += 1
        weight = sum({spelt: value for line in held[start:end] for spelt, value in line.items()}.values())
        if weight > top:
            top, chosen = weight, (start, end)
    return _lines(passage, lines, *chosen)


def shortened(passage: GroundPassage, fits: Callable[[GroundPassage], bool]) -> GroundPassage | None:
    """Return the longest beginning of a passage, in whole lines, that fits; None where not even its first line does."""
    lines = passage.text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_lines(passage, lines, 0, middle)):
            low = middle
        else:
            high = middle - 1
    return _lines(passage, lines, 0, low) if low else None


def _lines(passage: GroundPassage, lines: Sequence[str], start: int, end: int) -> GroundPassage:
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    first = passage.lines[0]
    return replace(passage, lines=(first + start, first + end - 1), text="\n".join(lines[start:end]))
