"""Breadcrumbs: where a section stands in the tree."""

from __future__ import annotations

import re
import sqlite3

_SEPARATOR = " > "
_DOTTED = re.compile(r"[^\W\d_][^\W_]*(?:\.[^\W_]+)+(?::[^\W_]+(?:\.[^\W_]+)*)?$")
_DEEPEST = 64
Nodes = dict[tuple[str, str, str | None], tuple[str, str, str | None] | None]
"""(id, collection, language) -> id, title and parent of a node, None where there is none."""


def label(id_: str, title: str) -> str:
    """Return a section's name in a breadcrumb: its title, after its identifier where it has one."""
    if _DOTTED.match(id_):
        return id_ if title == id_ else f"{id_} {title}"
    if len(id_) == 1 and id_ != title:
        return f"{id_}. {title}"
    return title


def breadcrumb(
    db: sqlite3.Connection,
    collection: str,
    id_: str,
    title: str,
    parent: str | None,
    language: str | None,
    known: Nodes | None = None,
) -> str:
    """Return the names from the top of the tree down to a section, in its language where the nodes above have it.

    `known`: what was read of nodes before, from the same state of the index; what is read now is put in.
    """
    above = ancestors(db, collection, id_, parent, language, known)
    return _SEPARATOR.join([*(label(*node) for node in above), label(id_, title)])


def ancestors(
    db: sqlite3.Connection,
    collection: str,
    id_: str,
    parent: str | None,
    language: str | None,
    known: Nodes | None = None,
) -> list[tuple[str, str]]:
    """Return (id, title) of what stands above a section, from the top, in its language where that is there."""
    above: list[tuple[str, str]] = []
    seen = {id_}
    known = {} if known is None else known
    while parent is not None and parent not in seen and len(above) < _DEEPEST:
        seen.add(parent)
        key = (parent, collection, language)
        if key not in known:
            known[key] = db.execute(
                "SELECT id, title, parent FROM sections WHERE id = ? AND collection = ?"
                " ORDER BY language IS NOT ?, language LIMIT 1",
                key,
            ).fetchone()
        row = known[key]
        if row is None:
            break
        above.append((row[0], row[1]))
        parent = row[2]
    return above[::-1]
