"""HTML of documents made safe for a page in a browser; on disk it stays as it was written."""

from __future__ import annotations

_SCHEMES = {"http", "https", "mailto"}


def safe_html(text: str) -> str:
    """Return HTML without scripts, styles, forms, frames, event handlers and addresses that run code.

    Headings, lists, tables, code, quotes, links and images stay. Links get `rel="noopener noreferrer"`.
    """
    import nh3  # on use: only a page in a browser needs it

    return nh3.clean(
        text,
        clean_content_tags={"script", "style", "template", "noscript", "svg", "math", "iframe", "object"},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
        strip_comments=True,
    )
