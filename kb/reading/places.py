"""Where names lead: the sections that an id or a source path stands for."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from kb.records import record


@record
class Place:
    """A section that a name stands for, by the hit that answers for it. `by` is what the name is: `id` or `source`."""

    by: str
    collection: str
    id: str
    source: str


_BY_ID = """
SELECT DISTINCT s.collection, h.id, d.source FROM sections s
JOIN sections h ON h.section = s.hit JOIN documents d ON d.document = h.document
WHERE s.id = ? ORDER BY d.variant != '', 1, 3
"""
_BY_SOURCE = """
SELECT DISTINCT d.collection, h.id, d.source FROM documents d
JOIN sections h ON h.document = d.document AND h.hit = h.section
WHERE d.source = ? ORDER BY 1, h.section
"""


def places(db: sqlite3.Connection, name: str, collections: Sequence[str]) -> tuple[Place, ...]:
    """Return the places of a name: an id (`B.3`, `B.3@collection`), else a source path; empty where nothing has it.

    A section below hit level is stood for by the hit that holds it. `collections`: only these; empty means all.
    """
    for by, query in (("id", _BY_ID), ("source", _BY_SOURCE)):
        rows = db.execute(query, (name,)).fetchall()
        if not rows and "@" in name:
            bare, _, wanted = name.rpartition("@")
            rows = [row for row in db.execute(query, (bare,)) if row[0] == wanted]
        found = tuple(Place(by, *row) for row in rows if not collections or row[0] in collections)
        if found:
            return found
    return ()
