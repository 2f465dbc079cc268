"""HTML inside Markdown: comments out, tags away, text kept."""

from __future__ import annotations

import re
from bisect import bisect_left
from html import unescape

_TICKS_OR_COMMENT = re.compile(r"`+|<!--")
_DROPPED = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*)((?:\s|/)[^<>]*)?>")
_SPOKEN = re.compile(r"\b(?:alt|title|aria-label)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_NAMES = frozenset(
    str.split(
        "a abbr address article aside audio b base bdi bdo blockquote body br button canvas caption cite "
        "code col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption "
        "figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img "
        "input ins kbd label legend li link main map mark menu meta meter nav noscript object ol optgroup "
        "option output p param picture pre progress q rp rt ruby s samp script search section select slot "
        "small source span strong style sub summary sup svg table tbody td template textarea tfoot th "
        "thead time title tr track tt u ul var video wbr center big strike nobr"
    )
)


def without_comments(text: str, code_spans: bool = True) -> str:
    """`text` without `<!-- … -->`; a comment inside a code span is code and stays. An open comment stays as text."""
    if "<!--" not in text:
        return text
    marks = [(m.start(), m.group()) for m in _TICKS_OR_COMMENT.finditer(text)]
    runs: dict[int, list[int]] = {}
    if code_spans:
        for start, mark in marks:
            if mark[0] == "`":
                runs.setdefault(len(mark), []).append(start)
    kept: list[str] = []
    done = passed = 0
    for start, mark in marks:
        if start < passed:
            continue
        if mark[0] == "`":
            places = runs.get(len(mark), [])
            after = bisect_left(places, start + 1)
            if after < len(places):
                passed = places[after] + len(mark)
            continue
        close = text.find("-->", start + 2)
        if close < 0:
            break
        kept.append(text[done:start])
        done = passed = close + 3
    kept.append(text[done:])
    return "".join(kept)


def readable(text: str) -> str:
    """The readable text of an HTML block in Markdown: known tags, scripts and styles removed, `alt` texts kept."""
    if "<" not in text:
        return text
    plain = _TAG.sub(_spoken, _DROPPED.sub(" ", text))
    lines = (" ".join(unescape(line).split()) for line in plain.split("\n"))
    return "\n".join(line for line in lines if line)


def is_html(name: str) -> bool:
    """Whether `name` is an element of HTML: `<T>` and `<your-name>` are text that looks like a tag."""
    return name.lower() in _NAMES


def _spoken(tag: re.Match[str]) -> str:
    if not is_html(tag.group(1)):
        return tag.group()
    said = _SPOKEN.findall(tag.group(2) or "")
    return f" {' '.join(a or b for a, b in said)} " if said else " "
