"""Headings and blocks in file order to the sections of a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kb.documents import ids
from kb.documents.model import UNTITLED, Block, Heading, Section


@dataclass(slots=True)
class _Open:
    """A section that is still being filled."""

    level: int
    text: str
    first: int
    parent: int | None
    heading_last: int
    last: int = 0
    blocks: list[Block] = field(default_factory=list)


def build(
    source: str,
    parts: Sequence[Heading | Block],
    lines: Sequence[str],
    first: int,
    root_id: str | None,
    root_title: str,
) -> tuple[tuple[Section, ...], list[str]]:
    """The sections that `parts` make, and warnings about their ids.

    `lines` are the body's lines and `first` the number of the first of them in the file. A first heading with nothing
    before it is the root; text before it belongs to a root of level 0 with `root_title`, under which the headings
    hang. `root_id` is the id that the front matter gives to the root.
    """
    if not parts:
        return (), []
    opened = _opened(parts, first, root_title)
    _close(opened, lines, first)
    wanted: list[ids.Wanted] = []
    titles: list[str] = []
    for index, section in enumerate(opened):
        identifier, title = ids.dotted(section.text) if section.level else (None, section.text)
        if index == 0 and root_id is not None:
            title = title if identifier == root_id else section.text
            identifier = root_id
        if not title:
            title = root_title if index == 0 else UNTITLED
        titles.append(title)
        wanted.append(ids.Wanted(identifier, section.text or title, section.parent, section.first))
    names, warnings = ids.assign(source, wanted)
    return tuple(
        Section(
            name,
            title,
            section.level,
            (section.first, section.last),
            section.parent,
            want.explicit is not None,
            tuple(section.blocks),
        )
        for name, title, section, want in zip(names, titles, opened, wanted, strict=True)
    ), warnings


def _opened(parts: Sequence[Heading | Block], first: int, root_title: str) -> list[_Open]:
    opened: list[_Open] = []
    above: list[int] = []
    if isinstance(parts[0], Block):
        opened.append(_Open(0, root_title, first, None, first))
        above.append(0)
    for part in parts:
        if isinstance(part, Block):
            opened[-1].blocks.append(part)
            continue
        while above and opened[above[-1]].level >= part.level:
            above.pop()
        above.append(len(opened))
        parent = above[-2] if len(above) > 1 else None
        opened.append(_Open(part.level, part.text, part.lines[0], parent, part.lines[1]))
    return opened


def _close(opened: list[_Open], lines: Sequence[str], first: int) -> None:
    """Give each section its last line: the last that is not blank, of its own or of its subsections."""
    after = first + len(lines)
    for section in reversed(opened):
        last = after - 1
        while last > section.heading_last and not lines[last - first].strip():
            last -= 1
        section.last = max(section.last, last)
        if section.parent is not None:
            above = opened[section.parent]
            above.last = max(above.last, section.last)
        after = section.first
