"""A section's Markdown or HTML as HTML that can't do anything: no script, no style, no address that runs or loads something."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TAGS = frozenset(
    "a abbr b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6"
    " hr i ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var"
    " wbr".split()
)
_DROPPED = frozenset("script style template noscript svg math iframe object title".split())
_ATTRIBUTES: dict[str, set[str]] = {
    "a": {"href", "title"},
    "abbr": {"title"},
    "col": {"span"},
    "colgroup": {"span"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "code": {"class"},
    "span": {"class"},
}
_SCHEMES = frozenset(("http", "https", "mailto"))
_CLASSES = ("language-", "image")
_READ = (".md", ".markdown", ".html", ".htm", ".txt", ".text")


def html(text: str, source: str | None, collection: str) -> str:
    """Return Markdown as sanitised HTML. Links to other documents of the base lead to their sections in the page."""
    return sanitised(_parser().render(text), source, collection)


def sanitised(markup: str, source: str | None, collection: str) -> str:
    """Return HTML, as a document holds it, without anything that runs, loads or styles; on disk it stays as written."""
    import nh3

    def attribute(tag: str, name: str, value: str) -> str | None:
        if tag == "a" and name == "href":
            return link(value, source, collection)
        if name == "class":
            kept = [word for word in value.split() if word.startswith(_CLASSES) and word.replace("-", "").isalnum()]
            return " ".join(kept) or None
        return value

    return nh3.clean(
        markup,
        clean_content_tags=set(_DROPPED),
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=attribute,
        url_schemes=set(_SCHEMES),
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def link(href: str, source: str | None, collection: str) -> str | None:
    """Return where a link may lead: a web or mail address, a section of the base, or nowhere."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme in _SCHEMES:
        return href
    if parts.scheme or parts.netloc or not parts.path or source is None:
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), unquote(parts.path)))
    if target.startswith(("/", "..")) or not target.lower().endswith(_READ):
        return None
    return f"/section/{quote(target, safe='')}%40{quote(collection, safe='')}"


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    return parser


def _image(renderer: Any, tokens: Sequence[Token], number: int, options: Any, env: Any) -> str:
    """An image is named, never loaded: its address would tell others who reads what."""
    from markdown_it.common.utils import escapeHtml

    return f'<span class="image">{escapeHtml(tokens[number].content or "image")}</span>'
