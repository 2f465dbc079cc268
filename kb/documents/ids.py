"""The ids of a document's sections: written down where they are, else derived from path and heading.

First that applies: the front matter's `id` (root section only), a dotted identifier that opens the heading, a dotted
number inside the document (`guide#1.2`), the slug of the heading (`guide#setup`). A derived id that several headings
of one document want is told apart by the headings above it (`guide#install/setup`), then by a number.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from kb.documents.slugs import slug
from kb.records import record

_LONGEST_ID = 200
_DOTTED = re.compile(r"(?>([^\W\d_][^\W_]*(?:\.[^\W_]+)+)(?::[^\W_]+(?:\.[^\W_]+)*)?)(?=$|[\s:–—-])")
_NUMBER = re.compile(r"(\d+(?:\.\d+)+)\.?(?=$|[\s:–—-])")
_SEPARATOR = re.compile(r"\s*(?:[:–—]|-{1,3}(?=\s|$)|(?<!\s)-)\s*|\s+")
_SUFFIX = re.compile(r"\.(?:md|markdown|html?|txt|text)$", re.IGNORECASE)


@record
class Wanted:
    """What a section's id is made from: an explicit id, or the heading's text and the parent's index."""

    explicit: str | None
    text: str
    parent: int | None
    line: int


def dotted(heading: str) -> tuple[str | None, str]:
    """The identifier that opens a plain heading, and the title that follows it.

    `"B.3 - Trust"` gives `("B.3", "Trust")`, `"B.3"` gives `("B.3", "B.3")`. A name whose last part is a lower-case
    word (`Node.js`, `config.yaml`) and an abbreviation (`U.S. policy`) are no identifiers: the heading comes back as
    it is, with `None`.
    """
    match = _DOTTED.match(heading)
    if not match or match.end() > _LONGEST_ID:
        return None, heading
    last = match.group(1).rpartition(".")[2]
    if len(last) > 1 and last.isalpha() and last.islower():
        return None, heading
    rest = heading[match.end() :]
    separator = _SEPARATOR.match(rest)
    title = rest[separator.end() :] if separator else rest
    return unicodedata.normalize("NFC", match.group()), title or heading


def document_id(source: str) -> str:
    """The path of a file without its suffix, each folder and the name as a slug: `Глава 1/Роль.md`, `glava-1/rol`."""
    return "/".join(slug(part) for part in PurePosixPath(_SUFFIX.sub("", source)).parts) or slug(source)


def assign(source: str, wanted: Sequence[Wanted]) -> tuple[list[str], list[str]]:
    """An id for each section of one document, all different, and warnings about explicit ones that repeat.

    Sections come in file order; the first is the root. A repeated explicit id stays with its first section, the
    later ones get `-2`, `-3`.
    """
    ids = [section.explicit for section in wanted]
    warnings: list[str] = []
    document = document_id(source)
    names = _names(wanted, [index for index, known in enumerate(ids) if known is None and index > 0])
    derived = {index: f"{document}#{name}" for index, name in names.items()}
    if wanted and ids[0] is None:
        derived[0] = document
    free = _Free({*derived.values(), *(known for known in ids if known)})
    given: set[str] = set()
    for index, section in enumerate(wanted):
        name = section.explicit
        if name is None:
            continue
        if name in given:
            ids[index] = other = free.numbered(name)
            warnings.append(f"{source}:{section.line}: id {name} stands in this file already, this one became {other}")
        given.add(name)
    for index in sorted(derived):
        name = derived[index]
        ids[index] = free.numbered(name) if name in given else name
        given.add(name)
    return [known or document for known in ids], warnings


class _Free:
    """Hands out `name-2`, `name-3`, …, none of them an id that another section has or wants."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._last: dict[str, int] = {}

    def numbered(self, name: str) -> str:
        number = self._last.get(name, 1) + 1
        while f"{name}-{number}" in self._taken:
            number += 1
        self._last[name] = number
        self._taken.add(f"{name}-{number}")
        return f"{name}-{number}"


def _names(wanted: Sequence[Wanted], indexes: Sequence[int]) -> dict[int, str]:
    """The part of derived ids after `#`: unique as far as the headings above can make it so."""
    own = {index: _own_name(wanted[index]) for index in indexes}
    above = {index: _above(wanted, index) for index in indexes}
    names = dict(own)
    depth = 0
    clashing = [same for same in _groups(names, indexes) if len(same) > 1]
    while clashing:
        depth += 1
        for same in clashing:
            for index in same:
                prefix = [_label(wanted[at]) for at in above[index][:depth]]
                names[index] = "/".join([*reversed(prefix), own[index]])
        clashing = [
            again
            for same in clashing
            for again in _groups(names, same)
            if len(again) > 1 and any(len(above[index]) > depth for index in again)
        ]
    return names


def _groups(names: dict[int, str], indexes: Sequence[int]) -> list[list[int]]:
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for index in indexes:
        groups[names[index]].append(index)
    return list(groups.values())


def _above(wanted: Sequence[Wanted], index: int) -> list[int]:
    """The sections above, nearest first, without the root: the document's own id stands for it."""
    found: list[int] = []
    at = wanted[index].parent
    while at:
        found.append(at)
        at = wanted[at].parent
    return found


def _own_name(section: Wanted) -> str:
    number = _NUMBER.match(section.text)
    return number.group(1) if number else slug(section.text)


def _label(section: Wanted) -> str:
    return slug(section.explicit) if section.explicit else _own_name(section)
