"""Blocks that many documents of a collection repeat (footers, notices): they carry no answer and don't rank.

A block is known by a hash of its words. Which blocks are repeated is kept in the catalog, so that a
later write sees when one becomes, or stops being, a repeated block.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

from kb.documents.model import Block
from kb.index.catalog import Catalog

FEWEST_DOCUMENTS = 5
"""In fewer documents a block may be repeated by chance or on purpose (must agree with the index in the schema)."""
SHARE = 0.2
"""And it must stand in at least this share of the collection's documents."""


def key(block: Block) -> int:
    """Return the hash under which two blocks of the same words are one, whatever the spacing."""
    text = block.text
    if "\n" in text or "  " in text or "\t" in text:
        text = " ".join(text.split())
    digest = blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def pack(keys: Iterable[int]) -> bytes:
    """Return keys as bytes for the catalog."""
    return array("q", keys).tobytes()


def unpack(blob: bytes) -> list[int]:
    """Return the keys that `pack` made bytes of."""
    found = array("q")
    found.frombytes(blob)
    return found.tolist()


def count(db: sqlite3.Connection, collection: str, keys: Iterable[int], change: int) -> None:
    """Note, for each time a key is given, that one document more (or less) holds its block."""
    times = Counter(keys)
    rows = [(collection, value, change * times[value]) for value in sorted(times)]
    db.executemany(
        "INSERT INTO blocks VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET documents = documents + excluded.documents", rows
    )
    if change < 0:
        db.executemany("DELETE FROM blocks WHERE collection = ? AND hash = ? AND documents <= 0", [r[:2] for r in rows])


def repeated(catalog: Catalog, collection: str) -> frozenset[int]:
    """Return the keys of the blocks that don't rank."""
    return frozenset(json.loads(catalog.get(f"repeated:{collection}") or "[]"))


def refresh(catalog: Catalog, collection: str) -> frozenset[int]:
    """Decide anew which blocks are repeated; return those for which that has changed."""
    documents = catalog.db.execute(
        "SELECT count(*) FROM documents WHERE collection = ? AND error IS NULL", (collection,)
    ).fetchone()[0]
    least = max(FEWEST_DOCUMENTS, -(-documents * SHARE // 1))
    now = frozenset(
        row[0]
        for row in catalog.db.execute(
            f"SELECT hash FROM blocks WHERE collection = ? AND documents >= {FEWEST_DOCUMENTS} AND documents >= ?",
            (collection, least),
        )
    )
    before = repeated(catalog, collection)
    if now != before:
        catalog.set(f"repeated:{collection}", json.dumps(sorted(now)))
    return now ^ before
