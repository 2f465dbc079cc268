"""What a file becomes: blocks, sections and the document that holds them.

A document is one file. Its sections are cut at the headings, stand in file order, and each holds only its own blocks;
the text of a subsection belongs to the subsection. All line numbers are 1-based, inclusive, and count `\\n` in
`Document.text`, which is the whole file with its front matter.
"""

from __future__ import annotations

from collections.abc import Mapping

from kb.records import record

FAILED_TITLE = "<failed to parse>"
UNTITLED = "Untitled section"


@record
class Block:
    """One block of a section's own text, the heading excluded.

    `text` is the source for Markdown (inline markup kept, comments removed) and the readable text for HTML.
    `kind` is one of paragraph, list, table, code, quote, html, placeholder.
    """

    text: str
    lines: tuple[int, int]
    kind: str


@record
class Heading:
    """A heading as a parser found it: its level (1-6), its plain text and its lines."""

    level: int
    text: str
    lines: tuple[int, int]


@record
class Section:
    """An addressable part of a document.

    `id` is the wanted id inside its collection: unique in the document, while clashes between files are settled by
    whoever joins them. `level` is 0 for a root that no heading opens. `lines` reach from the heading to the last line
    that is not blank, subsections included. `parent` is an index into `Document.sections`. `explicit` says that the id
    was written down (front matter or a dotted identifier) and not derived from path and heading.
    """

    id: str
    title: str
    level: int
    lines: tuple[int, int]
    parent: int | None
    explicit: bool
    blocks: tuple[Block, ...]


@record
class Name:
    """What a document is called besides its title, or a question that it answers; `language` where it is not the document's."""

    text: str
    language: str | None = None


@record
class Document:
    """One file, read and cut.

    `source` is its posix path relative to the collection's root, in NFC. `language` is what the file itself says, as
    a lower-case primary tag. `aliases` are its further names, questions included. `body_line` is the line where the text
    after the front matter begins. `warnings` read `source:line: what happened, what was done`. `error` is set when the
    file could not be read or decoded; then there are no sections and the title is `<failed to parse>`.
    """

    source: str
    title: str
    language: str | None
    type: str | None
    status: str | None
    front_matter: Mapping[str, object]
    aliases: tuple[Name, ...]
    parent: str | None
    sort_order: float | None
    sections: tuple[Section, ...]
    text: str
    body_line: int
    warnings: tuple[str, ...] = ()
    error: str | None = None


def failed(source: str, error: str, text: str = "") -> Document:
    """A document that stays visible though it could not be read; `error` says why."""
    return Document(
        source=source,
        title=FAILED_TITLE,
        language=None,
        type=None,
        status=None,
        front_matter={},
        aliases=(),
        parent=None,
        sort_order=None,
        sections=(),
        text=text,
        body_line=1,
        error=error,
    )
