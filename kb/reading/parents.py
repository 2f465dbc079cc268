"""Where a document stands among the others, as a path such as `prozesse/rag-prozess`."""

from __future__ import annotations

import json
import sqlite3

from kb.documents.ids import document_id
from kb.documents.slugs import slug
from kb.reading.section import Found

_DEEPEST = 64


def path_of(db: sqlite3.Connection, found: Found) -> str:
    """Return the path of a section, without a leading `/`: its document's, and its own name where it is not the root.

    A document's path is that of its file without a language's folder; a file at the top whose front matter names a
    parent lies below that one's path.
    """
    row = db.execute(
        "SELECT s.ordinal, d.variant, d.front FROM sections s JOIN documents d USING (document) WHERE s.section IS ?",
        (found.section,),
    ).fetchone()
    if row is None:
        return slug(found.id or found.title)
    ordinal, variant, front = row
    path = _document(db, found.collection, variant, json.loads(front), 0)
    if ordinal == 0:
        return path
    own = (found.id or "").partition("#")[2] or found.id or found.title
    return f"{path}/{slug(own)}"


def _document(db: sqlite3.Connection, collection: str, variant: str, front: dict[str, object], depth: int) -> str:
    path = document_id(variant)
    above = front.get("parent")
    if "/" in path or not isinstance(above, str) or depth > _DEEPEST:
        return path
    row = db.execute(
        "SELECT d.variant, d.front FROM sections s JOIN documents d USING (document)"
        " WHERE s.id = ? AND s.collection = ? AND s.ordinal = 0 ORDER BY s.section LIMIT 1",
        (above, collection),
    ).fetchone()
    if row is None or row[0] == variant:
        return path
    own = front.get("slug")
    name = slug(own) if isinstance(own, str) and own else path
    return f"{_document(db, collection, row[0], json.loads(row[1]), depth + 1)}/{name}"
