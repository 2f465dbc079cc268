"""Whether the index says already what the folders hold: what a run finds that has nothing to do.

It needs the catalog and a look at the files, and imports nothing of what writing an index takes.
"""

from __future__ import annotations

from kb.config import Config
from kb.errors import IndexDamaged
from kb.index import changes
from kb.index.arrays import ArrayFile
from kb.index.catalog import Catalog
from kb.index.fingerprint import fingerprint
from kb.records import record


@record
class Report:
    """What an update did."""

    indexed: int = 0
    removed: int = 0
    unchanged: int = 0
    rebuilt: bool = False
    unread: str | None = None  # which folders could not be read


def settled(catalog: Catalog, config: Config) -> Report | None:
    """Return the report of an update that would write nothing, None where one has, or may have, something to do.

    That is so where settings, files and what the walk says of them are as at the last write, and the segment files are all there,
    sound, and no others beside them.
    """
    if catalog.folder is None:
        return None
    with catalog.reading():
        if catalog.get("fingerprint") != fingerprint(config):
            return None
        found = changes.find(catalog, config.collections)
        if found or catalog.get("walks") != changes.noted(found.walks):
            return None
        named = {row[0] for row in catalog.db.execute("SELECT file FROM segments")}
    folder = catalog.folder / "segments"
    try:
        if named != ({path.name for path in folder.iterdir()} if folder.is_dir() else set()):
            return None
        for name in named:
            ArrayFile.open(folder / name)
    except (OSError, IndexDamaged):
        return None  # the update says what is wrong
    return Report(unchanged=sum(len(walk.files) for walk in found.walks.values()), unread=changes.unread(found.walks))
