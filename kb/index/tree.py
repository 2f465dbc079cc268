"""The tree that headings and dotted identifiers make together.

Parents are kept in the catalog. After a write only the families concerned, all ids that share a first
component with a changed one, are looked at again.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from kb.index import ids

_FAMILY = "(id = ? OR (id > ? AND id < ?) OR (id > ? AND id < ?))"
_FIRST = re.compile(r"[^.:]+")
_NAMED = "heading_parent IS NOT NULL AND document IN (SELECT document FROM documents WHERE front LIKE '%\"parent\": %')"
"""Sections of the documents whose front matter names a parent."""


def repair(db: sqlite3.Connection, touched: Iterable[tuple[str, str]]) -> None:
    """Set the parents of new sections and of the families of ids that have come or gone.

    A prefix that no section has becomes a node of its own, without text; such a node goes when nothing lies under it.
    """
    # Front matter may name a parent that is not there, or that lies below: those are always looked at again.
    loose = db.execute(
        f"SELECT collection, id FROM sections WHERE (dotted OR parent IS NOT heading_parent) AND {_NAMED}"
    ).fetchall()
    touched = {*touched, *loose}
    db.execute("UPDATE sections SET parent = heading_parent WHERE NOT dotted AND parent IS NOT heading_parent")
    families = {(collection, _family(id_)) for collection, id_ in touched}
    nested: set[tuple[str, str]] = set()
    for collection, family in sorted(families):
        nested.update((collection, id_) for id_ in _family_parents(db, collection, family))
    _untie(db, touched, nested)


def _untie(db: sqlite3.Connection, touched: Iterable[tuple[str, str]], nested: set[tuple[str, str]]) -> None:
    """Put on top what hangs from nothing, and the first id of a circle of parents.

    `nested`: dotted ids that lie under a heading; where that heading lies under them in turn, this makes a circle.
    """
    db.execute(
        f"UPDATE sections AS s SET parent = NULL WHERE parent IS NOT NULL AND {_NAMED}"
        " AND NOT EXISTS (SELECT 1 FROM sections AS above WHERE above.id = s.parent AND above.collection = s.collection)"
    )
    named = set(db.execute(f"SELECT collection, id FROM sections WHERE {_NAMED}"))
    loose = named | nested
    tied: set[tuple[str, str]] = set()  # what is known to hang from the top, by way of others
    for collection, start in sorted(named.intersection(touched) | nested):
        chain: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in chain and (collection, at) not in tied:
            chain[at] = None
            row = db.execute(
                "SELECT parent FROM sections WHERE id = ? AND collection = ? ORDER BY parent IS NULL, parent LIMIT 1",
                (at, collection),
            ).fetchone()
            at = row[0] if row is not None else None
        if at is not None and at in chain:
            circle = list(chain)[list(chain).index(at) :]
            first = min(id_ for id_ in circle if (collection, id_) in loose)
            db.execute("UPDATE sections SET parent = NULL WHERE id = ? AND collection = ?", (first, collection))
        tied.update((collection, id_) for id_ in chain)


def _family(id_: str) -> str:
    match = _FIRST.match(id_)
    return match.group() if match else id_


def _family_parents(db: sqlite3.Connection, collection: str, family: str) -> list[str]:
    """Set the parents of one family; return the dotted ids of it that a heading holds."""
    db.execute(
        f"DELETE FROM sections WHERE document IS NULL AND collection = ? AND {_FAMILY}",
        (collection, *_range(family)),
    )
    rows = db.execute(
        f"SELECT section, id, dotted, heading_parent, parent FROM sections WHERE collection = ? AND {_FAMILY}",
        (collection, *_range(family)),
    ).fetchall()
    existing: dict[str, object] = {row[1]: row for row in rows}
    nodes: dict[str, bool] = {}
    implied: dict[str, str | None] = {}
    nested: list[str] = []
    moved: list[tuple[str | None, int]] = []
    for section, id_, dotted, heading_parent, current in rows:
        nearest = ids.nearest(id_, existing)
        if heading_parent is not None and nearest is None:
            # Only now does the heading above count, and front matter may have named one that is not there.
            if heading_parent not in nodes:
                nodes[heading_parent] = _is_node(db, collection, heading_parent)
            heading_parent = heading_parent if nodes[heading_parent] else None
        above = ids.parent(id_, bool(dotted), heading_parent, nearest)
        if dotted and above is not None and above == heading_parent:
            nested.append(id_)
        if above != current:
            moved.append((above, section))
        if dotted and above is not None and above != heading_parent and above not in existing:
            chain = [above, *ids.prefixes(above)]
            for node, parent in zip(chain, [*chain[1:], None], strict=True):
                implied[node] = parent
    db.executemany("UPDATE sections SET parent = ? WHERE section = ?", moved)
    db.executemany(
        "INSERT INTO sections VALUES (NULL, NULL, ?, ?, ?, 1, ?, 0, 0, 0, ?, NULL, NULL, NULL, 0)",
        [(collection, node, node, node, parent) for node, parent in sorted(implied.items())],
    )
    return nested


def _is_node(db: sqlite3.Connection, collection: str, id_: str) -> bool:
    """Tell whether a section has an id, or lies under it."""
    found = db.execute(
        f"SELECT 1 FROM sections WHERE collection = ? AND document IS NOT NULL AND {_FAMILY} LIMIT 1",
        (collection, *_range(id_)),
    )
    return found.fetchone() is not None


def _range(id_: str) -> tuple[str, ...]:
    """Return the bounds of an id and all that lies under it, for `_FAMILY`: "/" and ";" follow "." and ":"."""
    return (id_, id_ + ".", id_ + "/", id_ + ":", id_ + ";")
