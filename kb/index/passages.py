"""Sections into passages: pieces of about 200 words that ranking works on.

A passage takes whole blocks until it is long enough and never crosses from one hit into another. A
block that is too long by itself is cut at line and sentence ends, and only there do pieces overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from kb.documents.model import Block, Document
from kb.records import record

PASSAGE_WORDS = 200
"""Words a passage aims at; published and own measurements agree on 150 to 250."""
_SLACK = 1.25
_OVERLAP_WORDS = 30
_MOST_CHARACTERS = 8 * PASSAGE_WORDS * 2
_SPLIT = re.compile(r"(?<=[.!?…。！？])\s+|\n")
_NO_RANK = {"placeholder"}


@record
class Passage:
    """A piece of a section: the text as it stands, and the headings below the hit that open within it."""

    section: int  # the deepest section that holds all of it, as an index into Document.sections
    lines: tuple[int, int]
    heading: str
    text: str


@record
class Hit:
    """A section that answers, with its passages; `above` are the titles of the sections that hold it."""

    section: int
    above: tuple[str, ...]
    passages: tuple[Passage, ...]


def cut(
    document: Document,
    hit_level: int,
    target: int = PASSAGE_WORDS,
    repeated: Callable[[Block], bool] | None = None,
) -> list[Hit]:
    """Return the hits of a document in order.

    `hit_level`: headings up to this level are hits of their own. `target`: words of a passage. `repeated` tells the
    blocks that many documents share; they are left out, unless the document consists of nothing else.
    """
    repeated = repeated or _never
    if all(repeated(block) for section in document.sections for block in section.blocks):
        repeated = _never
    members: dict[int, list[int]] = {}
    for index, hit in enumerate(hit_of(document, hit_level)):
        members.setdefault(hit, []).append(index)
    return [
        Hit(hit, _above(document, hit), tuple(_passages(document, hit, inside, target, repeated)))
        for hit, inside in members.items()
    ]


def hit_of(document: Document, hit_level: int) -> list[int]:
    """Return for each section the hit it belongs to: itself, or the nearest section above it that is a hit."""
    out: list[int] = []
    for index, section in enumerate(document.sections):
        own = section.parent is None or section.level <= hit_level
        out.append(index if own else out[section.parent or 0])
    return out


def _never(block: Block) -> bool:
    return False


def _above(document: Document, section: int) -> tuple[str, ...]:
    titles: list[str] = []
    parent = document.sections[section].parent
    while parent is not None:
        titles.append(document.sections[parent].title)
        parent = document.sections[parent].parent
    return tuple(reversed(titles))


def _passages(
    document: Document, hit: int, inside: Sequence[int], target: int, repeated: Callable[[Block], bool]
) -> Iterator[Passage]:
    held: list[tuple[int, Block]] = []
    headings: list[str] = []
    count = 0

    def close() -> Passage:
        sections = [section for section, _ in held]
        passage = Passage(
            section=_deepest(document, sections),
            lines=(held[0][1].lines[0], held[-1][1].lines[1]),
            heading="\n".join(headings),
            text="\n\n".join(block.text for _, block in held),
        )
        held.clear()
        headings.clear()
        return passage

    for index in inside:
        section = document.sections[index]
        if held and count >= target / 2:
            yield close()
            count = 0
        if index != hit:
            headings.append(section.title)
        for block in section.blocks:
            if block.kind in _NO_RANK or repeated(block):
                continue
            for piece, words in _pieces(block, target):
                # Where words are not set apart by spaces, characters have to tell how much there is.
                length = max(words, target * len(piece.text) // _MOST_CHARACTERS)
                if held and count + length > target * _SLACK:
                    yield close()
                    count = 0
                held.append((index, piece))
                count += length
                if count >= target:
                    yield close()
                    count = 0
    if held:
        yield close()
    elif headings:
        # Headings without text of their own still have to be found.
        last = document.sections[inside[-1]]
        yield Passage(inside[-1] if len(headings) == 1 else hit, (last.lines[0], last.lines[0]), "\n".join(headings), "")


def _deepest(document: Document, sections: Iterable[int]) -> int:
    chains = []
    distinct = [*dict.fromkeys(sections)]
    if len(distinct) == 1:
        return distinct[0]
    for section in distinct:
        chain: list[int] = []
        step: int | None = section
        while step is not None:
            chain.append(step)
            step = document.sections[step].parent
        chains.append(chain[::-1])
    common = chains[0]
    for chain in chains[1:]:
        same = 0
        while same < min(len(common), len(chain)) and common[same] == chain[same]:
            same += 1
        common = common[:same]
    return common[-1]


def _pieces(block: Block, target: int) -> Iterator[tuple[Block, int]]:
    """Yield what a block is cut into, each piece with the number of its words."""
    words = len(block.text.split())
    if words <= target * _SLACK and len(block.text) <= _MOST_CHARACTERS:
        yield block, words
        return
    first, last = block.lines
    # Only where each line of the text is a line of the file can a piece say where it stands.
    exact = block.text.count("\n") == last - first
    start = 0
    for end, resume in _cuts(block.text, target):
        text = block.text[start:end].strip("\n")
        if exact:
            begin = first + block.text.count("\n", 0, start)
            yield Block(text, (begin, begin + text.count("\n")), block.kind), len(text.split())
        else:
            yield Block(text, block.lines, block.kind), len(text.split())
        start = resume


def _cuts(text: str, target: int) -> Iterator[tuple[int, int]]:
    """Yield (end of a piece, where the next begins) so that pieces hold about `target` words."""
    bounds = [match.end() for match in _SPLIT.finditer(text)]
    if not bounds or bounds[-1] != len(text):
        bounds.append(len(text))
    bounds = list(_no_longer(text, bounds, target))
    begin = previous = 0
    count = overlap_from = 0
    tail: list[tuple[int, int]] = []  # (start, words) of the sentences in the piece
    for bound in bounds:
        size = len(text[previous:bound].split())
        if tail and (count + size > target or bound - begin > _MOST_CHARACTERS):
            overlap_from, shared = previous, 0
            for start, length in reversed(tail[1:]):
                if shared + length > min(_OVERLAP_WORDS, target // 4):
                    break
                overlap_from, shared = start, shared + length
            yield previous, overlap_from
            begin, count = overlap_from, shared
            tail = [piece for piece in tail if piece[0] >= overlap_from]
        tail.append((previous, size))
        count += size
        previous = bound
    yield len(text), len(text)


def _no_longer(text: str, bounds: Iterable[int], target: int) -> Iterator[int]:
    """Yield bounds between which there are at most `target` words and a bounded number of characters."""
    start = 0
    for bound in bounds:
        if bound - start <= min(target, _MOST_CHARACTERS):  # at most one word for each character
            yield bound
            start = bound
            continue
        words = list(re.finditer(r"\S+", text[start:bound]))
        for number in range(target, len(words), target):
            yield start + words[number].start()
        last = start + (words[(len(words) - 1) // target * target].start() if len(words) > target else 0)
        while bound - last > _MOST_CHARACTERS:
            last += _MOST_CHARACTERS
            yield last
        yield bound
        start = bound
