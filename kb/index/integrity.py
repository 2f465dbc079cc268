"""Is the index what it was written as? Asked when something is odd, and by `kb doctor --verify`; never by a query."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from kb.errors import IndexDamaged
from kb.index.catalog import Catalog
from kb.index.snapshot import open_segment


def find_damage(catalog: Catalog) -> Iterator[str]:
    """Yield what is wrong with the catalog or a segment file, one line each; nothing where all is well.

    Reads every byte of the segments and every page of the catalog: about a second for a gigabyte.
    """
    try:
        for (line,) in catalog.db.execute("PRAGMA integrity_check(5)").fetchall():
            if line != "ok":
                yield f"catalog.db: {' '.join(line.split())}"
        rows = catalog.segments()
    except (sqlite3.DatabaseError, ValueError, TypeError) as error:
        yield f"catalog.db: {error}"
        return
    for row in rows:
        try:
            segment = open_segment(catalog, row)
            segment.arrays.verify()
        except FileNotFoundError:
            yield f"segments/{row.file}: missing"
            continue
        except IndexDamaged as error:
            yield f"segments/{str(error).removeprefix('index file ').partition(';')[0]}"
            continue
        held = (len(segment.unit_hit) - len(row.dead.units), len(segment.hit_section) - len(row.dead.hits))
        if held != (row.units, row.hits):
            yield f"segments/{row.file}: holds {held[0]} units and {held[1]} hits, the catalog counts {row.units} and {row.hits}"
