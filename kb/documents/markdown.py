"""Markdown text to headings and blocks."""

from __future__ import annotations

import re

from kb.documents.comments import readable, without_comments
from kb.documents.model import Block, Heading

_LONG_LIST_WORDS = 60
_PLACEHOLDER = re.compile(r"\s*(?:\{[^{}]+\}|\{\{[^{}]+\}\})\s*")
_LISTS = ("bullet_list_open", "ordered_list_open")


def parts(source: str, lines: list[str], first: int) -> tuple[list[Heading | Block], list[str]]:
    """The headings and blocks of `lines`, in order, and what there is to warn of.

    `lines` is the body without its front matter and `first` the line number of its first line in the file.
    Only headings of the document itself are headings: one inside a quote or a list item is content there.
    """
    from kb.documents.cutting import cut
    from kb.documents.titles import plain_text

    found: list[Heading | Block] = []
    warnings: list[str] = []
    listed: tuple[int, int] | None = None
    items: list[tuple[int, int]] = []
    for token in cut("\n".join(lines)):
        kind = token.type
        if token.map is None or token.level > 1:
            if listed and token.level == 0:
                found += _list_blocks(lines, listed, items, first)
                listed = None
            continue
        start, end = token.map
        if token.level == 1:
            if listed and kind == "list_item_open":
                items.append((start, end))
        elif kind == "heading":
            found.append(Heading(int(token.tag[1]), plain_text(token.content), (first + start, first + end - 1)))
        elif kind == "paragraph":
            found += _paragraph(lines, start, end, first)
        elif kind in _LISTS:
            listed, items = (start, end), []
        elif kind in ("fence", "code_block"):
            found += _block(lines, start, end, first, "code")
        elif kind == "table":
            found += _block(lines, start, end, first, "table")
        elif kind == "blockquote_open":
            found += _block(lines, start, end, first, "quote")
        elif kind == "html_block":
            blocks, unclosed = _html(lines, start, end, first)
            found += blocks
            if unclosed:
                warnings.append(f"{source}:{first + start}: comment is never closed, the rest of the file is left out")
    return found, warnings


def is_placeholder(line: str) -> bool:
    """Whether the line is nothing but `{something to fill in}`."""
    return _PLACEHOLDER.fullmatch(line) is not None


def _trimmed(lines: list[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _block(lines: list[str], start: int, end: int, first: int, kind: str) -> list[Block]:
    start, end = _trimmed(lines, start, end)
    text = "\n".join(lines[start:end])
    if kind != "code":
        text = without_comments(text)
    if kind == "paragraph":
        text = text.strip()
    if not text.strip():
        return []
    return [Block(text, (first + start, first + end - 1), kind)]


def _paragraph(lines: list[str], start: int, end: int, first: int) -> list[Block]:
    found: list[Block] = []
    done = start
    for number in range(start, end):
        if "{" in lines[number] and is_placeholder(lines[number]):
            found += _block(lines, done, number, first, "paragraph")
            found += _block(lines, number, number + 1, first, "placeholder")
            done = number + 1
    return found + _block(lines, done, end, first, "paragraph")


def _list_blocks(lines: list[str], whole: tuple[int, int], items: list[tuple[int, int]], first: int) -> list[Block]:
    block = _block(lines, *whole, first, "list")
    if not block or len(items) < 2 or len(block[0].text.split(None, _LONG_LIST_WORDS)) <= _LONG_LIST_WORDS:
        return block
    return [item for start, end in items for item in _block(lines, start, end, first, "list")]


def _html(lines: list[str], start: int, end: int, first: int) -> tuple[list[Block], bool]:
    start, end = _trimmed(lines, start, end)
    raw = "\n".join(lines[start:end])
    text = without_comments(raw, code_spans=False)
    unclosed = text.lstrip().startswith("<!--")
    if unclosed:
        return [], True
    text = readable(text)
    return ([Block(text, (first + start, first + end - 1), "html")] if text else []), False
