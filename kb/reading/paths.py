"""Breadcrumbs: where a section stands in the tree."""

from __future__ import annotations

import re
import sqlite3

_SEPARATOR = " > "
_DOTTED = re.compile(r"[^\W\d_][^\W_]*(?:\.[^\W_]+)+(?::[^\W_]+(?:\.[^\W_]+)*)?$")
_DEEPEST = 64


def label(id_: str, title: str) -> str:
    """Return a section's name in a breadcrumb: its title, after its identifier where it has one."""
    if _DOTTED.match(id_):
        return id_ if title == id_ else f"{id_} {title}"
    if len(id_) == 1 and id_ != title:
        return f"{id_}. {title}"
    return title


def breadcrumb(db: sqlite3.Connection, collection: str, id_: str, title: str, parent: str | None, language: str | None) -> str:
    """Return the names from the top of the tree down to a section, in its language where the nodes above have it."""
    above = ancestors(db, collection, id_, parent, language)
    return _SEPARATOR.join([*(label(*node) for node in above), label(id_, title)])


def ancestors(
    db: sqlite3.Connection, collection: str, id_: str, parent: str | None, language: str | None
) -> list[tuple[str, str]]:
    """Return (id, title) of what stands above a section, from the top, in its language where that is there."""
    above: list[tuple[str, str]] = []
    seen = {id_}
    while parent is not None and parent not in seen and len(above) < _DEEPEST:
        seen.add(parent)
        row = db.execute(
            "SELECT id, title, parent FROM sections WHERE id = ? AND collection = ? ORDER BY language IS NOT ?, language LIMIT 1",
            (parent, collection, language),
        ).fetchone()
        if row is None:
            break
        above.append((row[0], row[1]))
        parent = row[2]
    return above[::-1]
