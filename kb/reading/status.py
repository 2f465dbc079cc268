"""The state of a base: what each collection holds, what failed, and how the index stands."""

from __future__ import annotations

import json
import sqlite3

from kb.answers import CollectionStatus
from kb.config import Collection
from kb.index.catalog import Catalog


def collection_status(catalog: Catalog, collection: Collection) -> CollectionStatus:
    """Return what one collection holds."""
    db = catalog.db
    name = collection.name
    walks = json.loads(catalog.get("walks") or "{}")
    skipped, warnings = walks.get(name, [{}, []])
    documents = db.execute("SELECT count(*) FROM documents WHERE collection = ?", (name,)).fetchone()[0]
    notes = [
        note
        for row in db.execute("SELECT warnings FROM documents WHERE collection = ? ORDER BY source", (name,))
        for note in json.loads(row[0])
    ]
    return CollectionStatus(
        name=name,
        root=str(collection.root),
        documents=documents,
        sections=db.execute("SELECT count(DISTINCT id) FROM sections WHERE collection = ? AND hit = section", (name,)).fetchone()[
            0
        ],
        passages=db.execute(
            "SELECT count(*) FROM passages JOIN documents USING (document) WHERE collection = ?", (name,)
        ).fetchone()[0],
        languages=dict(
            db.execute(
                "SELECT language, count(*) FROM documents WHERE collection = ? AND error IS NULL GROUP BY 1 ORDER BY 1",
                (name,),
            ).fetchall()
        ),
        skipped=skipped,
        errors=tuple(
            db.execute(
                "SELECT source, error FROM documents WHERE collection = ? AND error IS NOT NULL ORDER BY source",
                (name,),
            ).fetchall()
        ),
        warnings=(*warnings, *notes),
        clashes=_clashes(db, name),
    )


def _clashes(db: sqlite3.Connection, collection: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    rows = db.execute(
        "SELECT s.wanted, d.source FROM sections s JOIN documents d USING (document) WHERE s.collection = ?"
        " AND s.wanted IN (SELECT wanted FROM sections WHERE collection = ? AND id != wanted AND document IS NOT NULL)"
        " ORDER BY s.wanted, d.source",
        (collection, collection),
    ).fetchall()
    found: dict[str, list[str]] = {}
    for wanted, source in rows:
        found.setdefault(wanted, []).append(source)
    return tuple((wanted, tuple(sources)) for wanted, sources in found.items())
