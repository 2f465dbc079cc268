"""Clauses: sections that state one rule, with where it comes from."""

from __future__ import annotations

import json
import sqlite3

from kb.errors import NotFound
from kb.reading.paths import breadcrumb
from kb.reading.records import Clause
from kb.reading.section import Found, suggestions

TYPE = "clause"
_NAMED = ("scheme", "version", "clause", "summary", "source_url", "as_of", "disclaimer")
_HELD = (*_NAMED, "id", "title", "collection", "language", "source", "path")


def cite(db: sqlite3.Connection, found: Found, wanted: str) -> Clause:
    """Return the clause that an id led to. NotFound where it is a section of another type, or a file that failed."""
    row = db.execute("SELECT source, type, front, title, error FROM documents WHERE document IS ?", (found.document,)).fetchone()
    if row is not None and row[4] is not None:
        raise NotFound(f"{row[0]}: {row[4]}")
    if row is None or row[1] != TYPE or found.id is None:
        kind = f"of type {row[1]}" if row is not None and row[1] else "without a type"
        raise NotFound(f"clause not found: {wanted} is a section {kind}; read it with: kb section {wanted}", near(db, wanted))
    source, _, front, title, _ = row
    values = json.loads(front)
    named = {key: None if values.get(key) is None else str(values[key]) for key in _NAMED}
    return Clause(
        id=found.id,
        title=str(values.get("title") or title),
        **named,
        fields={key: value for key, value in values.items() if key not in _HELD},
        collection=found.collection,
        language=found.language,
        source=source,
        path=breadcrumb(db, found.collection, found.id, found.title, found.parent, found.language),
    )


def near(db: sqlite3.Connection, wanted: str) -> tuple[str, ...]:
    """Return the ids of clauses nearest to one that is not there."""
    clauses = {
        row[0]
        for row in db.execute(
            "SELECT s.id FROM sections s JOIN documents d USING (document) WHERE d.type = ? AND s.ordinal = 0", (TYPE,)
        )
    }
    return tuple(id_ for id_ in suggestions(db, wanted) if id_ in clauses)
