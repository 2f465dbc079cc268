"""What the catalog knows of an engine: which collection holds its points, by which settings, and what has changed since.

The tables lie in the catalog itself. Triggers note every document that comes or goes in the transaction that writes it, so
nothing can change unnoticed; a catalog made anew has no such tables, and so holds nothing that an engine has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kb.index.catalog import Catalog

PUT, GONE, VECTORS = "put", "gone", "vectors"
"""Why a document has to be looked at: written, removed, or waiting for vectors."""

_TABLES = (
    "CREATE TABLE engine_state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE engine_changes (number INTEGER PRIMARY KEY, document INTEGER NOT NULL, collection TEXT NOT NULL,"
    " source TEXT NOT NULL, what TEXT NOT NULL)",
    "CREATE TRIGGER engine_put AFTER INSERT ON documents BEGIN"
    " INSERT INTO engine_changes VALUES (NULL, new.document, new.collection, new.source, 'put'); END",
    "CREATE TRIGGER engine_gone AFTER DELETE ON documents BEGIN"
    " INSERT INTO engine_changes VALUES (NULL, old.document, old.collection, old.source, 'gone'); END",
)


@dataclass(frozen=True, slots=True)
class Filled:
    """A collection and what its points were made by. `done`: the last document written, while it is being filled."""

    collection: str
    settings: Mapping[str, Any]
    done: int = 0

    @property
    def means(self) -> tuple[float, float]:
        """Mean lengths in both fields when the points were made."""
        text, head = self.settings["means"]
        return float(text), float(head)


@dataclass(frozen=True, slots=True)
class Change:
    """What has happened to one document: `number` orders the changes, `what` is `put`, `gone` or `vectors`."""

    number: int
    document: int
    collection: str
    source: str
    what: str


def made(catalog: Catalog) -> bool:
    """Return whether the catalog keeps account of an engine."""
    return catalog.db.execute("SELECT 1 FROM sqlite_master WHERE name = 'engine_state'").fetchone() is not None


def make(catalog: Catalog) -> None:
    """Keep account from now on. Call it inside `catalog.writing()`."""
    if not made(catalog):
        for statement in _TABLES:
            catalog.db.execute(statement)


def current(catalog: Catalog) -> Filled | None:
    """Return the collection that holds the points, None where there is none yet."""
    return _filled(catalog, "current")


def building(catalog: Catalog) -> Filled | None:
    """Return the collection that is being filled, None where none is."""
    return _filled(catalog, "building")


def put(catalog: Catalog, key: str, filled: Filled | None) -> None:
    """Note a collection under `current` or `building`, or forget it."""
    if filled is None:
        catalog.db.execute("DELETE FROM engine_state WHERE key = ?", (key,))
    else:
        value = json.dumps({"collection": filled.collection, "settings": filled.settings, "done": filled.done})
        catalog.db.execute("INSERT OR REPLACE INTO engine_state VALUES (?, ?)", (key, value))


def changes(catalog: Catalog, kinds: Sequence[str], limit: int) -> list[Change]:
    """Return what has changed since the points were written, oldest first."""
    rows = catalog.db.execute(
        "SELECT number, document, collection, source, what FROM engine_changes"
        f" WHERE what IN ({','.join('?' * len(kinds))}) ORDER BY number LIMIT ?",
        (*kinds, limit),
    )
    return [Change(*row) for row in rows]


def behind(catalog: Catalog, *kinds: str) -> int:
    """Return how many documents the points are behind, for these kinds of change."""
    marks = ",".join("?" * len(kinds))
    row = catalog.db.execute(
        f"SELECT count(*) FROM (SELECT DISTINCT collection, source FROM engine_changes WHERE what IN ({marks}))", kinds
    ).fetchone()
    return int(row[0])


def settle(catalog: Catalog, done: Sequence[Change], bare: Sequence[Change]) -> None:
    """Forget changes that are written; those in `bare` wait for their vectors."""
    catalog.db.executemany("DELETE FROM engine_changes WHERE number = ?", [(one.number,) for one in done])
    catalog.db.executemany(
        "INSERT INTO engine_changes VALUES (NULL, ?, ?, ?, 'vectors')",
        [(one.document, one.collection, one.source) for one in bare],
    )


def forget_changes(catalog: Catalog) -> None:
    """Forget all changes, because everything is written anew."""
    catalog.db.execute("DELETE FROM engine_changes")


def _filled(catalog: Catalog, key: str) -> Filled | None:
    row = catalog.db.execute("SELECT value FROM engine_state WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    value = json.loads(row[0])
    return Filled(value["collection"], value["settings"], value["done"])
