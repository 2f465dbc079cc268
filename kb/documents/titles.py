"""The plain text of a Markdown heading."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from kb.documents.comments import is_html, without_comments

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Inline parsing is not linear on hostile text; no heading that a person wrote is longer.
_LONGEST = 1000
_MARKUP = re.compile(r"[*`\[\]<>&\\]|(?<![^\W_])_|_(?![^\W_])")
_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]")
_TAG_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)")


def plain_text(raw: str) -> str:
    """`raw` without emphasis, ticks, link and image syntax and tags, entities decoded, white space collapsed."""
    if len(raw) <= _LONGEST and _MARKUP.search(raw):
        tokens = _inline().parseInline(without_comments(raw))
        raw = "".join(_texts(child for token in tokens for child in token.children or ()))
        if "][" in raw:
            raw = _REFERENCE.sub(r"\1", raw)
    return " ".join(raw.split())


@lru_cache(maxsize=1)
def _inline() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _texts(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "html_inline":
            tag = _TAG_NAME.match(token.content)
            if tag and not is_html(tag.group(1)):
                yield token.content
        elif token.type == "image":
            yield from _texts(token.children or ())
        else:
            yield token.content
