"""The catalog: one SQLite file that says what the index holds, and which segment files belong to it.

It is the single source of truth. A write happens in one transaction, which also swaps in the files of
postings; a reader works inside one read transaction and so sees one state, whatever is written
meanwhile. Write-ahead logging lets readers and the one writer go on side by side, and the write lock
is SQLite's own: it ends with the process that holds it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.errors import IndexBusy, IndexDamaged, IndexUnwritable, KBError
from kb.index.dead import Dead
from kb.records import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


SCHEMA_VERSION = "9"
BUSY_SECONDS = 30.0
"""How long a second writer waits for the first before it says that the base is busy."""
_KEPT_LOG_BYTES = 4 << 20

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE segments (
    segment INTEGER PRIMARY KEY, file TEXT NOT NULL, languages TEXT NOT NULL,
    units INTEGER NOT NULL, unit_terms INTEGER NOT NULL,      -- live ones, and the terms in them
    names INTEGER NOT NULL, name_terms INTEGER NOT NULL, hits INTEGER NOT NULL,
    dead_units BLOB NOT NULL, dead_names BLOB NOT NULL, dead_hits BLOB NOT NULL,
    dead_text_terms BLOB NOT NULL, dead_text_counts BLOB NOT NULL,
    dead_head_terms BLOB NOT NULL, dead_head_counts BLOB NOT NULL,
    dead_words BLOB NOT NULL, dead_word_counts BLOB NOT NULL
);
CREATE TABLE documents (
    document INTEGER PRIMARY KEY, collection TEXT NOT NULL, source TEXT NOT NULL,
    size INTEGER NOT NULL, changed INTEGER NOT NULL, checked INTEGER NOT NULL, digest BLOB NOT NULL,
    variant TEXT NOT NULL, language TEXT NOT NULL, title TEXT NOT NULL, type TEXT, status TEXT, sort_order REAL,
    front TEXT NOT NULL, body_line INTEGER NOT NULL, warnings TEXT NOT NULL, error TEXT, blocks BLOB NOT NULL,
    segment INTEGER, first_hit INTEGER NOT NULL, hits INTEGER NOT NULL,
    UNIQUE (collection, source)
);
CREATE TABLE sections (
    section INTEGER PRIMARY KEY, document INTEGER, collection TEXT NOT NULL, id TEXT NOT NULL, wanted TEXT NOT NULL,
    dotted INTEGER NOT NULL, title TEXT NOT NULL, level INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    parent TEXT, heading_parent TEXT, hit INTEGER, language TEXT, ordinal INTEGER NOT NULL
);
CREATE INDEX sections_id ON sections (id, collection);
CREATE INDEX sections_folded ON sections (lower(id));
CREATE INDEX sections_wanted ON sections (wanted, collection);
CREATE INDEX sections_document ON sections (document);
CREATE INDEX sections_parent ON sections (parent, collection) WHERE parent IS NOT NULL;
CREATE TABLE passages (
    passage INTEGER PRIMARY KEY, document INTEGER NOT NULL, section INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX passages_document ON passages (document);
CREATE TABLE names (document INTEGER NOT NULL, section INTEGER NOT NULL, name TEXT NOT NULL,
    language TEXT NOT NULL, key TEXT NOT NULL, title INTEGER NOT NULL);
CREATE INDEX names_document ON names (document);
CREATE INDEX names_section ON names (section);
CREATE INDEX names_key ON names (key);
CREATE TABLE blocks (collection TEXT NOT NULL, hash INTEGER NOT NULL, documents INTEGER NOT NULL,
    PRIMARY KEY (collection, hash)) WITHOUT ROWID;
CREATE INDEX blocks_repeated ON blocks (collection, documents) WHERE documents >= 5;
"""


@record
class SegmentRow:
    """What the catalog says of one segment: its file, its live totals, and what is dead in it."""

    number: int
    file: str
    languages: tuple[str, ...]
    units: int
    unit_terms: int
    names: int
    name_terms: int
    hits: int
    dead: Dead


class Catalog:
    """A connection to the catalog of one base; use it in one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, folder: Path | None) -> None:
        self.db = connection
        self.folder = folder
        self.buffers: dict[str, bytes] = {}  # the segment files of a catalog in memory
        self.known: tuple[tuple[int, int], Any] | None = None  # kept by kb.index.changes
        self._state: tuple[int, int, str | None] | None = None  # as last read, and SQLite's number of what others have written
        self._held: int | None = None  # the generation, once asked for while one state is held
        self._holds = False
        self._path = None if folder is None else str(folder / "catalog.db")
        self._file = self._identity()

    @classmethod
    def open(cls, folder: Path | None) -> Catalog:
        """Open the catalog in a folder, or in memory for None; an empty one is created where there is none.

        Raises IndexDamaged where the file is not a catalog, IndexUnwritable where the folder can't be used.
        """
        target = ":memory:" if folder is None else str(folder / "catalog.db")
        db = None
        try:
            db = sqlite3.connect(target, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            _write_ahead(db)
            # Files are removed on the strength of what is committed: a commit has to be on the disk.
            db.execute("PRAGMA synchronous = FULL")
            db.execute(f"PRAGMA journal_size_limit = {_KEPT_LOG_BYTES}")
            catalog = cls(db, folder)
            if not catalog.made:
                with catalog.writing():
                    if not catalog.made:  # another process may have been first
                        catalog.create()
        except (sqlite3.DatabaseError, UnicodeDecodeError, KBError) as error:  # a message may quote the damaged bytes
            if db is not None:
                db.close()
            raise named(error) from error
        return catalog

    @property
    def removed(self) -> bool:
        """True where the file has been deleted or replaced since it was opened: what is written here reaches nobody."""
        return self._identity() != self._file

    def _identity(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)  # noqa: PTH116 - before every answer, and several times as fast
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @property
    def made(self) -> bool:
        """True where the tables are there."""
        return bool(self.db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()[0])

    def close(self) -> None:
        """Close the connection."""
        self.db.close()

    def create(self) -> None:
        """Make the tables anew, empty, inside the transaction that is open."""
        names = self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        for (name,) in names.fetchall():
            self.db.execute(f"DROP TABLE {name}")
        for statement in _SCHEMA.split(";\n"):
            if statement.strip():
                self.db.execute(statement)
        self.set("schema", SCHEMA_VERSION)
        self.set("generation", "0")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one state of the catalog for as long as the block lasts."""
        if self.db.in_transaction:
            yield
            return
        self.db.execute("BEGIN")
        self._holds = True
        try:
            yield
        finally:
            self._holds, self._held = False, None
            if self.db.in_transaction:
                self.db.execute("COMMIT")

    @contextmanager
    def writing(self, wait: float = BUSY_SECONDS) -> Iterator[None]:
        """Be the one writer: all that is done in the block is kept, or nothing of it.

        IndexBusy after `wait` seconds; IndexUnwritable or IndexDamaged where SQLite says so.
        """
        try:
            self.db.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
            try:
                self.db.execute("BEGIN IMMEDIATE")
            finally:
                self.db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
            yield
            self.db.execute("COMMIT")
        except BaseException as error:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            if isinstance(error, sqlite3.DatabaseError):
                raise named(error) from error
            raise
        finally:
            self._state = None

    def get(self, key: str) -> str | None:
        """Return a value of the catalog's own, such as its generation."""
        row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set(self, key: str, value: str) -> None:
        """Store a value of the catalog's own."""
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
        self._state = self._held = None

    @property
    def state(self) -> tuple[int, str | None]:
        """The number of the present state, and what it depends on beside the files, in one look. Ask inside `reading()`."""
        version = self.db.execute("PRAGMA data_version").fetchone()[0]  # another one once others have written
        if self._state is None or self._state[0] != version:
            found = dict(self.db.execute("SELECT key, value FROM meta WHERE key IN ('generation', 'fingerprint')").fetchall())
            self._state = version, int(found.get("generation") or 0), found.get("fingerprint")
        if self._holds:
            self._held = self._state[1]
        return self._state[1:]

    @property
    def generation(self) -> int:
        """The number of writes so far: two equal numbers mean the same state."""
        return int(self.get("generation") or 0) if self._held is None else self._held

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the documents held, in order of their codes."""
        return tuple(json.loads(self.get("languages") or "[]"))

    def segments(self) -> list[SegmentRow]:
        """Return the segments that make up this state, oldest first."""
        rows = self.db.execute(
            "SELECT segment, file, languages, units, unit_terms, names, name_terms, hits,"
            " dead_units, dead_names, dead_hits,"
            " dead_text_terms, dead_text_counts, dead_head_terms, dead_head_counts, dead_words, dead_word_counts"
            " FROM segments ORDER BY segment"
        )
        return [
            SegmentRow(
                number=row[0],
                file=row[1],
                languages=tuple(json.loads(row[2])),
                units=row[3],
                unit_terms=row[4],
                names=row[5],
                name_terms=row[6],
                hits=row[7],
                dead=Dead(
                    units=_ints(row[8]),
                    names=_ints(row[9]),
                    hits=_ints(row[10]),
                    text=(_ints(row[11]), _ints(row[12])),
                    head=(_ints(row[13]), _ints(row[14])),
                    words=(_ints(row[15]), _ints(row[16])),
                ),
            )
            for row in rows
        ]

    def put_segment(self, row: SegmentRow) -> None:
        """Store a segment's row, new or changed."""
        dead = row.dead
        self.db.execute(
            "INSERT OR REPLACE INTO segments VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                row.number,
                row.file,
                json.dumps(row.languages),
                *(row.units, row.unit_terms, row.names, row.name_terms, row.hits),
                *(part.tobytes() for part in (dead.units, dead.names, dead.hits, *dead.text, *dead.head, *dead.words)),
            ),
        )  # fmt: skip


def _write_ahead(db: sqlite3.Connection) -> None:
    """Turn on write-ahead logging; unlike other statements this one does not wait by itself for whoever is doing the same."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _code(error) not in _BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)


_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNWRITABLE = (
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM,
)  # fmt: skip


def _code(error: Exception) -> int:
    """Return SQLite's primary result code, 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def named(error: Exception) -> KBError:
    """Return what an error of SQLite, or of the system while the index was written, means for whoever runs kb."""
    if isinstance(error, KBError):
        return error
    if _code(error) in _BUSY:
        return IndexBusy("another process is writing this index; try again in a moment")
    if isinstance(error, OSError) or _code(error) in _UNWRITABLE:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return IndexUnwritable(
            f"the index can't be written ({why}) and stays as it was; free space in the cache folder or set KB_CACHE to another"
        )
    return IndexDamaged(f"the index catalog is damaged ({error}); run: kb index --rebuild")


def _ints(blob: bytes) -> NDArray[np.int32]:
    import numpy as np  # the look at the files before every answer does without

    return np.frombuffer(blob, dtype=np.int32)
