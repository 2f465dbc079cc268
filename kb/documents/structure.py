"""What a section holds beside prose: items that are open or done, and entries that carry a date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from pathlib import PurePosixPath

from kb.documents.model import Document
from kb.records import record

_BULLET = r"(?:[-*+]|\d{1,9}[.)])"
_ROW = re.compile(rf"(?P<indent>[ \t]*)(?:{_BULLET}[ \t]+)?(?P<text>.*)")
_LISTED = re.compile(rf"[ \t]*{_BULLET}(?:[ \t]|$)")
_ITEM = re.compile(r"\[(?P<mark>[ xX])\](?:[ \t]+(?P<text>.*))?$")
_STAMP = re.compile(
    r"(?:\*\*|__|`|\[)?(?P<day>\d{4}-\d{2}-\d{2})"
    r"(?:(?:T|[ \t]+)(?P<clock>\d{1,2}:\d{2}(?::\d{2})?)[ \t]?(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?"
    r"(?:\*\*|__|`|\])?(?=$|[\s:,.–—-])[ \t]*(?:[:–—-]+[ \t]*)?(?:\*\*|__)?(?P<text>.*)$"
)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HTML = (".html", ".htm")


@record
class Item:
    """A list entry that opens with `[ ]` or `[x]`: `depth` counts indentation from 0, `line` is its line in the file."""

    text: str
    done: bool
    depth: int
    line: int


@record
class Entry:
    """A dated note: `at` is ISO 8601, a day or a day with a time; None where the entry has no date that exists."""

    at: str | None
    text: str
    line: int


def items(document: Document, sections: range) -> tuple[list[Item], list[int]]:
    """The items of some sections, in order, and the lines of list entries that are none (nested ones left out)."""
    found: list[Item] = []
    others: list[int] = []
    for line, indent, listed, text in _rows(document, sections):
        match = _ITEM.match(text) if listed else None
        if match:
            found.append(Item((match["text"] or "").strip(), match["mark"] != " ", indent // 2, line))
        elif listed and indent < 2:
            others.append(line)
        elif not listed and found and text:
            last = found[-1]
            found[-1] = Item(f"{last.text} {text}".strip(), last.done, last.depth, last.line)
    return found, others


def entries(document: Document, sections: range) -> list[Entry]:
    """The dated notes of some sections, in the order of the file: list entries, and subsections titled with a date."""
    found: list[Entry] = []
    for line, indent, listed, text in _rows(document, sections):
        if listed and indent < 2:
            match = _STAMP.match(text)
            found.append(Entry(_moment(match), match["text"].strip(), line) if match else Entry(None, text, line))
        elif found and text:
            last = found[-1]
            found[-1] = Entry(last.at, f"{last.text} {text}".strip(), last.line)
    for index in sections[1:]:
        section = document.sections[index]
        match = _STAMP.match(section.title)
        if match:
            blocks = " ".join(" ".join(block.text.split()) for block in section.blocks)
            found.append(Entry(_moment(match), f"{match['text']} {blocks}".strip(), section.lines[0]))
    return sorted(found, key=lambda entry: entry.line)


def disordered(found: list[Entry]) -> int | None:
    """The line of the first entry that is newer than the one before it; None where all stand newest first."""
    for before, after in zip(found, found[1:], strict=False):
        if before.at and after.at and _newer(after.at, before.at):
            return after.line
    return None


def _newer(one: str, other: str) -> bool:
    if len(one) == 10 or len(other) == 10:
        # A day without a time is neither before nor after what happened on it.
        return one[:10] > other[:10]
    return _instant(one) > _instant(other)


def _instant(at: str) -> datetime:
    moment = datetime.fromisoformat(at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moment(match: re.Match[str]) -> str | None:
    try:
        day = date.fromisoformat(match["day"])
        if not match["clock"]:
            return day.isoformat()
        clock = time.fromisoformat(match["clock"].zfill(5))
        zone = (match["zone"] or "").replace("UTC", "Z")
        return datetime.fromisoformat(f"{day.isoformat()}T{clock.isoformat()}{zone}").isoformat()
    except ValueError:
        return None


def _rows(document: Document, sections: range) -> Iterator[tuple[int, int, bool, str]]:
    """The lines of the lists of some sections: number, indentation, whether a list entry begins there, its text.

    A fenced part of a list is text of the entry it stands in.
    """
    html = PurePosixPath(document.source).suffix.lower() in _HTML
    lines = document.text.split("\n")
    for index in sections:
        for block in document.sections[index].blocks:
            if block.kind != "list":
                continue
            if html:
                yield block.lines[0], 0, True, " ".join(block.text.split())
                continue
            fence: str | None = None
            for number in range(block.lines[0], block.lines[1] + 1):
                line = lines[number - 1]
                mark = _FENCE.match(line)
                if mark and (fence is None or mark[1].startswith(fence)):
                    fence = mark[1] if fence is None else None
                row = _ROW.match(line)
                assert row is not None  # every part of the pattern may be empty
                listed = fence is None and not mark and _LISTED.match(line) is not None
                yield number, len(row["indent"].expandtabs(4)), listed, (row["text"] if listed else line).strip()
