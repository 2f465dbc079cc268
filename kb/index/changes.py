"""What differs between the folders and the index, found without opening files where that can be told."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kb.config import Collection
from kb.documents.walk import FileStat, Walk, walk
from kb.index.catalog import Catalog
from kb.records import record

READ_SHARE = 100
"""Bytes that are read and compared in the time in which one is parsed."""
_NAMED = 3
"""Folders that a warning names; `kb status` names all."""
_DOUBT_NS = 2_000_000_000
"""A file changed within two seconds before it was read may have changed again without a new time stamp."""


class Known(NamedTuple):
    """A document as the catalog holds it."""

    document: int
    size: int
    changed: int
    checked: int
    digest: bytes


@record
class Candidate:
    """A file that is new, changed, or in doubt; `known` is what the catalog holds of it.

    `same`: it has been read, and its content is what the catalog holds.
    """

    collection: Collection
    file: FileStat
    known: Known | None
    same: bool = False

    @property
    def doubtful(self) -> bool:
        """True where size and time are as known but too fresh to be relied on, and where only the time has changed."""
        known = self.known
        return self.same or (known is not None and (self.file.size, self.file.changed_ns) == (known.size, known.changed))


@record
class Changes:
    """Everything that an update would look at."""

    candidates: tuple[Candidate, ...]
    gone: tuple[int, ...]  # document numbers
    walks: Mapping[str, Walk]

    @property
    def bytes(self) -> int:
        """Bytes an update would parse; what is only read, to see whether it has changed at all, counts for a hundredth."""
        return sum(c.file.size // READ_SHARE if c.doubtful else c.file.size for c in self.candidates)

    def __bool__(self) -> bool:
        return bool(self.candidates or self.gone)


def find(catalog: Catalog, collections: Sequence[Collection]) -> Changes:
    """Compare the folders with the catalog. Raises BaseUnusable where a root can't be listed."""
    known = _known(catalog)
    walks = {}
    candidates = []
    seen = 0
    for collection in collections:
        found = walk(collection.root, collection.include, collection.exclude)
        walks[collection.name] = found
        mine = known.get(collection.name, {})
        for file in found.files:
            held = mine.get(file.source)
            seen += held is not None
            if (
                held is None
                or file.size != held.size
                or file.changed_ns != held.changed
                or held.checked - held.changed < _DOUBT_NS
            ):
                candidates.append(Candidate(collection, file, held))
    if seen == sum(map(len, known.values())):
        return Changes(tuple(candidates), (), walks)
    there = {(name, file.source) for name, found in walks.items() for file in found.files}
    gone = (held.document for name, mine in known.items() for source, held in mine.items() if (name, source) not in there)
    return Changes(tuple(candidates), tuple(gone), walks)


def compared(found: Changes, most: float) -> Changes:
    """Return the changes with those candidates marked whose content is as known, for which up to `most` bytes are read.

    A folder that was copied, checked out or installed again has new times and the old contents.
    """
    from hashlib import blake2b

    from kb.documents.read import content

    candidates = []
    for one in found.candidates:
        if one.known is not None and one.file.size == one.known.size and not one.doubtful and one.file.size <= most:
            most -= one.file.size
            data, problem = content(one.collection.root, one.file.source)
            if problem is None and blake2b(data, digest_size=len(one.known.digest) or 1).digest() == one.known.digest:
                one = Candidate(one.collection, one.file, one.known, same=True)
        candidates.append(one)
    return Changes(tuple(candidates), found.gone, found.walks)


def _known(catalog: Catalog) -> dict[str, dict[str, Known]]:
    """Return collection -> source -> document; kept with the connection until it, or another one, writes."""
    version = (catalog.db.execute("PRAGMA data_version").fetchone()[0], catalog.db.total_changes)
    if catalog.known is None or catalog.known[0] != version:
        documents: dict[str, dict[str, Known]] = {}
        for row in catalog.db.execute("SELECT collection, source, document, size, changed, checked, digest FROM documents"):
            documents.setdefault(row[0], {})[row[1]] = Known._make(row[2:])
        catalog.known = (version, documents)
    found: dict[str, dict[str, Known]] = catalog.known[1]
    return found


def noted(walks: Mapping[str, Walk]) -> str:
    """Return what the catalog keeps of walks: what was skipped, and warnings."""
    return json.dumps({name: [found.skipped, found.warnings] for name, found in walks.items()})


def unread(walks: Mapping[str, Walk]) -> str | None:
    """Return a line that names the folders which could not be read; None where all could."""
    found = [folder for walk in walks.values() for folder in walk.unread]
    if not found:
        return None
    named = ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED} more" if len(found) > _NAMED else "")
    what = "a folder" if len(found) == 1 else "folders"
    return f"{what} can't be read, left out: {named}; give yourself the right, or exclude it"


def now() -> int:
    """Return the time a file is noted as read, in ns, comparable with its time of change."""
    return time.time_ns()
