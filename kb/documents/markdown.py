"""Markdown text to headings and blocks."""

from __future__ import annotations

import re

from kb.documents import text
from kb.documents.comments import readable, without_comments
from kb.documents.model import Block, Heading

_LONG_LIST_WORDS = 60
_PLACEHOLDER = re.compile(r"\s*(?:\{[^{}]+\}|\{\{[^{}]+\}\})\s*")
_LISTS = ("bullet_list_open", "ordered_list_open")
_LIST_ENDS = ("bullet_list_close", "ordered_list_close")
_KINDS = {"fence": "code", "code_block": "code", "table": "table", "blockquote_open": "quote"}


def parts(source: str, lines: list[str], first: int) -> tuple[list[Heading | Block], list[str]]:
    """The headings and blocks of `lines`, in order, and what there is to warn of.

    `lines` is the body without its front matter and `first` the line number of its first line in the file.
    Only headings of the document itself are headings: one inside a quote or a list item is content there.
    """
    from kb.documents.cutting import cut
    from kb.documents.titles import plain_text

    try:
        tokens = cut("\n".join(lines))
    except (IndexError, RecursionError, RuntimeError) as error:
        # The text is worth more than its structure.
        problem = f"{source}:{first}: Markdown could not be parsed ({type(error).__name__}), read as plain text"
        return [*text.blocks(lines, first)], [problem]
    found: list[Heading | Block] = []
    warnings: list[str] = []
    items: list[tuple[int, int]] = []
    whole = (0, 0)
    for token in tokens:
        if token.level == 1 and token.type == "list_item_open" and token.map:
            items.append((token.map[0], token.map[1]))
        if token.level:
            continue
        if token.type in _LIST_ENDS:
            found += _list_blocks(lines, whole, items, first)
        if token.map is None:
            continue
        start, end = token.map
        if token.type == "heading":
            found.append(Heading(int(token.tag[1]), plain_text(token.content), (first + start, first + end - 1)))
        elif token.type == "paragraph":
            found += _paragraph(lines, start, end, first)
        elif token.type in _LISTS:
            whole, items = (start, end), []
        elif token.type in _KINDS:
            found += _block(lines, start, end, first, _KINDS[token.type])
        elif token.type == "html_block":
            found += _html(lines, start, end, first)
            if _opens_comment(lines[start:end]):
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
    written = "\n".join(lines[start:end])
    if kind != "code":
        written = without_comments(written)
    if kind == "paragraph":
        written = written.strip()
    if not written.strip():
        return []
    return [Block(written, (first + start, first + end - 1), kind)]


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


def _html(lines: list[str], start: int, end: int, first: int) -> list[Block]:
    start, end = _trimmed(lines, start, end)
    if _opens_comment(lines[start:end]):
        return []
    plain = readable(without_comments("\n".join(lines[start:end]), code_spans=False))
    return [Block(plain, (first + start, first + end - 1), "html")] if plain else []


def _opens_comment(lines: list[str]) -> bool:
    return lines[0].lstrip().startswith("<!--") and "-->" not in "\n".join(lines)
