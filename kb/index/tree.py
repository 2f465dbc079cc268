"""The tree that headings and dotted identifiers make together.

Parents are kept in the catalog. After a write only the families concerned, all ids that share a first
component with a changed one, are looked at again.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from kb.index import ids

_FIRST = re.compile(r"[^.:]+")


def repair(db: sqlite3.Connection, touched: Iterable[tuple[str, str]]) -> None:
    """Set the parents of new sections and of the families of ids that have come or gone.

    A prefix that no section has becomes a node of its own, without text; such a node goes when nothing lies under it.
    """
    db.execute("UPDATE sections SET parent = heading_parent WHERE NOT dotted AND parent IS NOT heading_parent")
    families = {(collection, _family(id_)) for collection, id_ in touched}
    for collection, family in sorted(families):
        _family_parents(db, collection, family)


def _family(id_: str) -> str:
    match = _FIRST.match(id_)
    return match.group() if match else id_


def _family_parents(db: sqlite3.Connection, collection: str, family: str) -> None:
    db.execute(
        "DELETE FROM sections WHERE document IS NULL AND collection = ? AND (id = ? OR id GLOB ? OR id GLOB ?)",
        (collection, family, _glob(family) + ".*", _glob(family) + ":*"),
    )
    rows = db.execute(
        "SELECT section, id, dotted, heading_parent, parent FROM sections WHERE collection = ?"
        " AND (id = ? OR (id > ? AND id < ?) OR (id > ? AND id < ?))",
        (collection, family, family + ".", family + "/", family + ":", family + ";"),
    ).fetchall()
    existing: dict[str, object] = {row[1]: row for row in rows}
    implied: dict[str, str | None] = {}
    for section, id_, dotted, heading_parent, current in rows:
        above = ids.parent(id_, bool(dotted), heading_parent, existing)
        if above != current:
            db.execute("UPDATE sections SET parent = ? WHERE section = ?", (above, section))
        if dotted and above is not None and above != heading_parent and above not in existing:
            chain = [above, *ids.prefixes(above)]
            for node, parent in zip(chain, [*chain[1:], None], strict=True):
                implied[node] = parent
    db.executemany(
        "INSERT INTO sections VALUES (NULL, NULL, ?, ?, ?, 1, ?, 0, 0, 0, ?, NULL, NULL, NULL, 0)",
        [(collection, node, node, node, parent) for node, parent in sorted(implied.items())],
    )


def _glob(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)
