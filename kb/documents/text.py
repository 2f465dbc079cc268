"""Plain text to blocks: paragraphs are what blank lines separate; nothing in it is a heading."""

from __future__ import annotations

from kb.documents.model import Block


def blocks(lines: list[str], first: int) -> list[Block]:
    """The paragraphs of `lines`; `first` is the line number of the first of them in the file."""
    found: list[Block] = []
    start: int | None = None
    for number, line in enumerate([*lines, ""]):
        if line.strip():
            start = number if start is None else start
        elif start is not None:
            text = "\n".join(lines[start:number]).strip()
            found.append(Block(text, (first + start, first + number - 1), "paragraph"))
            start = None
    return found
