"""HTML to headings and blocks: one pass over the tags, no tree.

Headings cut sections by their level. A paragraph, list item, quote, definition, caption or preformatted text is a block
each, a table is one block with a line a row. Scripts, styles, templates, vector graphics, comments and the head are
dropped; of the head the title and of the root element the language are kept. Broken nesting costs nothing, since only
counts of open elements are held.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from kb.documents.frontmatter import language_tag
from kb.documents.markdown import is_placeholder
from kb.documents.model import Block, Heading
from kb.records import record

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_DROPPED = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_LISTS = frozenset({"ul", "ol", "menu", "dl"})
_ENDS_HEADING = frozenset(str.split("p ul ol dl table pre blockquote section article main nav footer header body"))
_BLOCKS = _ENDS_HEADING.union(
    _LISTS,
    str.split("address aside button caption center dd details dialog div dt fieldset figcaption figure form"),
    str.split("hgroup hr html legend li option select summary td textarea th tr"),
)
_ROWS = ("tr", "td", "th", "caption")
_BREAK = "\0"
_MARKED_SECTION = re.compile(r"<!\[CDATA\[|\]\]>|<!\[[^<>]*>|<!\[")


@record
class Page:
    """What one HTML file holds; `title` and `language` are what its head and root element say."""

    parts: list[Heading | Block]
    title: str | None
    language: str | None


def parts(lines: list[str], first: int) -> Page:
    """The headings and blocks of an HTML text, in order; `first` is the line number of the first line in the file."""
    text = _harmless("\n".join(lines))
    reader = _Reader(text, first)
    reader.feed(text)
    reader.close()
    reader.finish()
    return Page(reader.found, " ".join(reader.title.split()) or None, reader.language)


def _harmless(text: str) -> str:
    """`text` without what the parser of the standard library reads in quadratic time or refuses.

    A tag that is never closed is text, and so is a comment; marked sections lose their marks.
    """
    if "<![" in text:
        text = _MARKED_SECTION.sub(" ", text)
    last = text.rfind(">") + 1
    tail = text[last:]
    comment = text.rfind("-->") + 3 if "-->" in text else 0
    head, middle = text[: min(comment, last)], text[min(comment, last) : last]
    return head + middle.replace("<!--", "&lt;!--") + tail.replace("<", "&lt;")


class _Reader(HTMLParser):
    def __init__(self, text: str, first: int) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Heading | Block] = []
        self.title = ""
        self.language: str | None = None
        self._offset = first - 1
        lowered = text.lower()
        # An element without an end does not hide the rest of the file.
        self._last_end = {
            name: lowered.count("\n", 0, lowered.rfind(f"</{name}")) + 1 if f"</{name}" in lowered else 0 for name in _DROPPED
        }
        self._dropped: str | None = None
        self._dropped_depth = 0
        self._in_title = False
        self._open = dict.fromkeys((*_LISTS, "pre", "blockquote", "table", "caption"), 0)
        self._heading: tuple[int, int] | None = None
        self._pieces: list[str] = []
        self._first_line = self._last_line = 0
        self._rows: list[list[str]] = []
        self._table_lines = (0, 0)

    # What the parser calls, in the order of the file.

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropped and not self._leaves_dropped(tag):
            self._dropped_depth += tag == self._dropped
            self._in_title = tag == "title" and self._dropped == "head" and not self.title
            return
        if tag in _DROPPED:
            if self._last_end[tag] >= self.getpos()[0]:
                self._dropped, self._dropped_depth = tag, 1
        elif tag in _HEADINGS:
            self._end_block()
            self._end_table()
            self._heading = (_HEADINGS[tag], self._line())
        elif tag == "br":
            self._pieces.append("\n" if self._open["pre"] else _BREAK)
        elif tag == "img":
            self._pieces += [f" {value} " for name, value in attrs if name == "alt" and value]
        elif tag == "title":
            self._in_title = not self.title
        elif tag in _BLOCKS:
            self._start_block(tag)
        if tag == "html":
            self.language = next((language_tag(value) for name, value in attrs if name == "lang" and value), None)

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if self._dropped:
            self._dropped_depth -= tag == self._dropped
            if not self._dropped_depth:
                self._dropped = None
        elif tag in _HEADINGS:
            self._end_block()
        elif tag in _BLOCKS:
            self._finish_block(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._dropped and data:
            self._pieces.append(data)
            stripped = data.strip()
            if stripped:
                before = len(data) - len(data.lstrip())
                line = self._line() + data.count("\n", 0, before)
                self._first_line = self._first_line or line
                self._last_line = line + stripped.count("\n")

    def finish(self) -> None:
        """End what the file left open."""
        self._end_block()
        self._end_table()

    # Blocks.

    def _line(self) -> int:
        return self.getpos()[0] + self._offset

    def _leaves_dropped(self, tag: str) -> bool:
        if self._dropped in ("head", "svg") and (tag in _BLOCKS or tag in _HEADINGS) and tag != "html":
            self._dropped = None
            return True
        return False

    def _start_block(self, tag: str) -> None:
        if self._heading and (tag not in _ENDS_HEADING or not "".join(self._pieces).strip()):
            self._pieces.append(" ")
            return
        depth = self._open["table"]
        if depth > 1 or (depth and tag not in _ROWS):
            self._pieces.append(" ")
        else:
            self._end_block()
            if tag == "tr":
                self._rows.append([])
        if tag in self._open:
            self._open[tag] += 1

    def _finish_block(self, tag: str) -> None:
        if self._heading and tag not in _ENDS_HEADING:
            self._pieces.append(" ")
            return
        if self._open["table"] == 1 and tag in ("td", "th"):
            self._end_block(cell=True)
        elif self._open["table"] > 1 or (self._open["table"] and tag not in ("table", "tr", "caption")):
            self._pieces.append(" ")
        else:
            self._end_block()
        if self._open.get(tag):
            self._open[tag] -= 1
            if tag == "table" and not self._open["table"]:
                self._end_table()

    def _end_block(self, cell: bool = False) -> None:
        """Make a heading, a cell or a block of the text gathered so far."""
        raw = "".join(self._pieces)
        first, last = self._first_line, min(self._last_line, self._line())
        self._pieces.clear()
        self._first_line = self._last_line = 0
        heading, self._heading = self._heading, None
        if heading:
            level, line = heading
            self.found.append(Heading(level, " ".join(raw.replace(_BREAK, " ").split()), (line, max(line, last))))
            return
        if self._open["pre"]:
            text = raw.replace(_BREAK, "\n").strip("\n").rstrip()
        else:
            text = "\n".join(filter(None, (" ".join(line.split()) for line in raw.split(_BREAK))))
        first = first or self._line()
        last = max(first, last)
        if self._open["table"] and not self._open["caption"]:
            if text or cell:
                self._cell(text.replace("\n", " "), first, last)
        elif text.strip():
            self.found.append(Block(text, (first, last), self._kind(text)))

    def _kind(self, text: str) -> str:
        if self._open["pre"]:
            return "code"
        if any(self._open[name] for name in _LISTS):
            return "list"
        if self._open["blockquote"]:
            return "quote"
        return "placeholder" if is_placeholder(text) else "paragraph"

    def _cell(self, text: str, first: int, last: int) -> None:
        if not self._rows:
            self._rows.append([])
        self._rows[-1].append(text)
        if text:
            self._table_lines = (self._table_lines[0] or first, last)

    def _end_table(self) -> None:
        rows = [" | ".join(row) for row in self._rows if any(row)]
        if rows:
            self.found.append(Block("\n".join(rows), self._table_lines, "table"))
        self._rows.clear()
        self._table_lines = (0, 0)
