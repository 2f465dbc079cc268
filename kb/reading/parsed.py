"""A section as data: front matter, canonical headings, items and entries."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from kb.config import Collection
from kb.documents import structure
from kb.documents.model import Document
from kb.documents.read import read
from kb.documents.schema import TypeSchema, below, load
from kb.errors import BaseUnusable
from kb.reading.records import ParsedAnswer, ParsedEntry, ParsedHeading, ParsedItem
from kb.reading.section import FAILED, Found


def parsed(db: sqlite3.Connection, collections: Mapping[str, Collection], found: Found) -> ParsedAnswer:
    """Return a section with its subsections as data; the front matter is that of its document.

    Headings, items and entries are read from the file as it stands. Call it where `found` was looked up.
    """
    row = db.execute("SELECT source, type, status, error, front FROM documents WHERE document IS ?", (found.document,)).fetchone()
    collection = collections.get(found.collection)
    if row is None or collection is None:
        # A node of the tree without a text of its own.
        return ParsedAnswer(found.id, found.title, found.collection, None, None, None, found.language, {}, (), (), ())
    source, type_, status, error, front = row
    if error is not None:
        return ParsedAnswer(None, FAILED, found.collection, source, type_, FAILED, None, {}, (), (), (), error)
    document = read(collection.root, source)
    if document.error is not None:
        raise BaseUnusable(f"{source}: {document.error}; run: kb index")
    schema = load(collection.schema).types.get(type_ or "") if collection.schema is not None else None
    sections = _sections(db, document, found)
    headings, items, entries = _contents(document, sections, schema or TypeSchema(), found.language)
    return ParsedAnswer(
        id=found.id,
        title=found.title,
        collection=found.collection,
        source=source,
        type=type_,
        status=status,
        language=found.language,
        front_matter=json.loads(front),
        headings=tuple(headings),
        items=tuple(items),
        entries=tuple(entries),
    )


def _sections(db: sqlite3.Connection, document: Document, found: Found) -> range:
    """The section and its subsections in the document as it is now: by the id it wants, else by its place."""
    wanted, ordinal = db.execute("SELECT wanted, ordinal FROM sections WHERE section = ?", (found.section,)).fetchone()
    if not document.sections:
        return range(0)
    if ordinal == 0:
        # The root stands for the whole document, also where later headings are no deeper than its own.
        return range(len(document.sections))
    index = next((i for i, section in enumerate(document.sections) if section.id == wanted), None)
    return range(0) if index is None else below(document, index)


def _contents(
    document: Document, sections: range, schema: TypeSchema, language: str | None
) -> tuple[list[ParsedHeading], list[ParsedItem], list[ParsedEntry]]:
    headings: list[ParsedHeading] = []
    items: list[ParsedItem] = []
    entries: list[ParsedEntry] = []
    dated: dict[int, str] = {}  # sections that lie in one of entries, and its canonical name
    for index in sections:
        section = document.sections[index]
        known = schema.heading(section.title, language)
        name = known.name if known else section.title
        text = "\n\n".join(block.text for block in section.blocks)
        headings.append(ParsedHeading(name, section.title, section.level, section.lines, text))
        if known is not None and known.kind == "entries" and index not in dated:
            inside = below(document, index)
            dated.update(dict.fromkeys(inside, name))
            entries += [
                ParsedEntry(entry.at, entry.text, entry.line, name)
                for entry in structure.entries(document, inside)
                if entry.at is not None
            ]
        if index not in dated:
            found, _ = structure.items(document, range(index, index + 1))
            items += [ParsedItem(item.text, item.done, item.depth, item.line, name) for item in found]
    return headings, items, entries
