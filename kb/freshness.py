"""What keeps a knowledge base current: its connections to the index, and the look at the files before every answer."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kb.config import Config
from kb.errors import IndexBusy, IndexDamaged, IndexUnwritable
from kb.index import changes
from kb.index.catalog import Catalog, named
from kb.index.fingerprint import fingerprint
from kb.index.settled import Report, settled
from kb.records import record

if TYPE_CHECKING:
    from kb.analysis.analyzer import Analyzer
    from kb.answers import IndexAnswer
    from kb.documents.notices import Notices
    from kb.index.snapshot import Snapshot
    from kb.ranking.dense import Dense

T = TypeVar("T")
Progress = Callable[[int, int], None]

_READ_BYTES_PER_MS = 2500
"""Bytes of source that one millisecond of a refresh pays for; with refresh_ms it bounds what a search brings up to date."""
_RETRIES = 5
_SILENT_SECONDS = 1.5
"""So long nothing is said while another process makes the index."""
ASKED: ContextVar[float | None] = ContextVar("kb_asked", default=None)
"""When whoever waits for an answer asked, by time.monotonic; a look at the files that began later need not be repeated.

A server sets it to the arrival of a request, so that many requests that wait side by side cost one look.
"""


@record
class Freshness:
    """How the index stands against the files: a warning, and (collection, source) of files that have changed since.

    `unread` names folders that could not be read; what lies in them is in no answer.
    """

    warning: str | None = None
    stale: frozenset[tuple[str, str]] = frozenset()
    unread: str | None = None


class Current:
    """The part of `KnowledgeBase` that keeps its index current; it is used through that class only."""

    config: Config

    if TYPE_CHECKING:
        # What KnowledgeBase gives: its model, its engine, and its end.
        _open_dense: Callable[[], Dense]
        _fill_engine: Callable[[Catalog], int]
        close: Callable[[], None]

    def _keep_in(self, folder: Path, progress: Progress | None) -> None:
        """Say where the index lies; nothing is opened before it is needed."""
        self._progress = progress
        self._waiting: Callable[[], None] | None = None
        self._folder: Path | None = folder
        self._memory: Catalog | None = None
        self._warning: str | None = None
        self._unread: str | None = None
        self._local = threading.local()
        self._opened: list[Catalog] = []
        self._lock = threading.RLock()
        self._snapshot: Snapshot | None = None
        self._analyzer: Analyzer | None = None
        self._notices: Notices | None = None
        self._printed: str | None = None  # the fingerprint, where it does not depend on files
        self._looked = (-1.0, -1)  # when the last look at the files that found them unchanged began, and of which state

    def report_to(self, progress: Progress | None) -> None:
        """Send the progress of long work to another callback, which is called in the thread that does the work."""
        self._progress = progress

    def report_waiting(self, waiting: Callable[[], None]) -> None:
        """Call back once when an answer has begun to wait for another process that is making the index."""
        self._waiting = waiting

    def _close_index(self) -> None:
        for catalog in self._opened:
            catalog.close()
        self._opened.clear()
        self._local = threading.local()
        self._snapshot = None
        if self._notices is not None:
            self._notices.close()

    def index(self, *, rebuild: bool = False, semantic: bool = False) -> IndexAnswer:
        """Bring the index up to date with the files, however much that is.

        IndexBusy where another process writes, IndexUnwritable where it can't be kept, IndexDamaged where only `rebuild` helps.
        `semantic` makes the vectors that are missing too; SemanticUnavailable, once the rest is done, where they can't be made.
        """
        from kb.answers import IndexAnswer

        started = time.monotonic()
        try:
            catalog = self._catalog()
            if catalog.folder is None:
                raise IndexUnwritable(str(self._warning).replace("answered from memory", "nothing was written"))
            with self._lock, _damage_named(catalog):
                report = (None if rebuild else settled(catalog, self.config)) or self._whole_update(catalog, rebuild)
        except IndexDamaged:
            if not rebuild:
                raise
            self._discard()
            catalog = self._catalog()
            with self._lock:
                report = self._whole_update(catalog, rebuild)
        self._unread = report.unread
        warnings = [warning for warning in (self._warning, self._unread) if warning]
        shown = getattr(self._progress, "embedding", self._progress)
        made = self._open_dense().embed_missing(catalog, shown) if semantic else None
        self._fill_engine(catalog)
        return IndexAnswer(
            report.indexed,
            report.removed,
            report.unchanged,
            time.monotonic() - started,
            report.rebuilt,
            tuple(warnings),
            made,
        )

    def watch(self, *, semantic: bool = False, stop: threading.Event | None = None) -> Iterator[IndexAnswer]:
        """Keep the index up to date until `stop` is set or the user interrupts; yield what each run did, the first one always.

        Errors as for `index`, except that another writer is waited for.
        """
        from kb.index.watch import changes

        yield self.index(semantic=semantic)
        due = True  # what changed before the watch began
        for changed in changes(self.config.collections, stop):
            due = due or changed
            if not due:
                continue
            try:
                answer = self.index(semantic=semantic)
            except IndexBusy:
                continue  # and again a second later
            due = False
            if answer.indexed or answer.removed:
                yield answer

    def _discard(self) -> None:
        """Remove a catalog too damaged to be replaced from within, so that a rebuild starts from nothing."""
        self.close()
        assert self._folder is not None
        for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
            (self._folder / name).unlink(missing_ok=True)

    def _read(self, answer: Callable[[Catalog], T], prepare: Callable[[Catalog], object] | None = None) -> tuple[Freshness, T]:
        """Refresh what the budget allows, let `prepare` write what it needs, then answer from one state of the catalog."""
        catalog = self._catalog()
        with self._lock if catalog.folder is None else nullcontext(), _damage_named(catalog):
            if prepare is None and self._notices is not None:
                with suppress(FileNotFoundError), catalog.reading():
                    generation, printed = catalog.state
                    if self._notices.silent(generation) and printed == self._fingerprint():
                        return Freshness(self._warning, unread=self._unread), answer(catalog)
            try:
                freshness = self._refresh(catalog)
            except IndexUnwritable as error:  # and nothing older to answer from
                catalog = self._in_memory(error)
                freshness = self._refresh(catalog)
            if prepare is not None:
                prepare(catalog)
            for attempt in range(_RETRIES):
                try:
                    with catalog.reading():
                        return freshness, answer(catalog)
                except FileNotFoundError as error:
                    # A writer has joined segments between our look at the catalog and at the file: look again.
                    if attempt == _RETRIES - 1:
                        raise IndexDamaged(f"an index file is missing ({error.filename}); run: kb index --rebuild") from error
        raise AssertionError("unreachable")

    def _refresh(self, catalog: Catalog) -> Freshness:
        usable = catalog.get("fingerprint") == self._fingerprint()
        asked, began = ASKED.get(), time.monotonic()
        try:
            if not usable:
                self._make(catalog)
                return Freshness(self._warning, unread=self._unread)
            if asked is not None and self._looked[0] >= asked and self._looked[1] == catalog.generation:
                return Freshness(self._warning, unread=self._unread)
            begun = self._notices.begin() if self._notices is not None else 0
            found = changes.find(catalog, self.config.collections)
            self._unread = changes.unread(found.walks)
            if not found:
                self._unchanged(began, begun, catalog.generation, found)
                return Freshness(self._warning, unread=self._unread)
            budget = self.config.index.refresh_ms * _READ_BYTES_PER_MS
            if found.bytes > budget:
                found = changes.compared(found, budget * changes.READ_SHARE)
            if found.bytes <= budget:
                if not self._update(catalog, self.config.index.refresh_ms / 1000):
                    # Looked into, for they have only just been written, and found to be as the index knows them.
                    self._unchanged(began, begun, catalog.generation, found)
                return Freshness(self._warning, unread=self._unread)
            reason = "more files have changed than a search may read"
        except IndexBusy as error:
            if not usable:
                raise IndexBusy("another process is making this index; try again in a moment") from error
            found = changes.find(catalog, self.config.collections)
            reason = "another process is writing the index"
        except IndexUnwritable as error:
            if not usable:
                raise
            found = changes.find(catalog, self.config.collections)
            reason = str(error).partition(";")[0]
        stale = {(c.collection.name, c.file.source) for c in found.candidates if not c.doubtful}
        for document in found.gone:
            stale.update(catalog.db.execute("SELECT collection, source FROM documents WHERE document = ?", (document,)))
        unread = changes.unread(found.walks)
        return Freshness(f"{reason}: answered from the index as it was; run: kb index", frozenset(stale), unread)

    def _unchanged(self, began: float, begun: int, generation: int, found: changes.Changes) -> None:
        """Note that a look at the files found them as the index knows them."""
        if self._notices is None and self._looked[0] >= 0:  # a command that asks once needs none
            from kb.documents.notices import Notices

            with self._lock:
                self._notices = self._notices or Notices(one.root for one in self.config.collections)
        self._looked = (began, generation)
        if self._notices is not None:
            self._notices.unchanged(begun, generation, found.walks.values())

    def _whole_update(self, catalog: Catalog, rebuild: bool) -> Report:
        from kb.index.update import update

        words = self._words()
        return self._patiently(
            lambda wait: update(catalog, self.config, words, rebuild=rebuild, wait=wait, progress=self._progress)
        )

    def _make(self, catalog: Catalog) -> None:
        """Make the index, or wait for another process that does."""
        self._patiently(lambda wait: self._update(catalog, wait))

    def _patiently(self, work: Callable[[float | None], T]) -> T:
        """Do work that is told how long to wait for another writer (None: as long as writers do); say so after a while."""
        if self._waiting is not None:
            try:
                return work(_SILENT_SECONDS)
            except IndexBusy:
                self._waiting()
        return work(None)

    def _update(self, catalog: Catalog, wait: float | None) -> bool:
        """Bring the index up to date; tell whether that made another state of it."""
        from kb.index.update import update

        with self._lock:
            report = update(catalog, self.config, self._words(), wait=wait, progress=self._progress)
            self._unread = report.unread
            return bool(report.indexed or report.removed or report.rebuilt)

    def _fingerprint(self) -> str:
        if self._printed is not None:
            return self._printed
        found = fingerprint(self.config)
        if all(collection.schema is None for collection in self.config.collections):
            self._printed = found
        return found

    def _state(self, catalog: Catalog) -> Snapshot:
        from kb.index.snapshot import load

        with self._lock:
            self._snapshot = load(catalog, self._snapshot)
            return self._snapshot

    def _words(self) -> Analyzer:
        if self._analyzer is None:
            from kb.analysis.analyzer import Analyzer

            self._analyzer = Analyzer()
        return self._analyzer

    def _catalog(self) -> Catalog:
        """Return this thread's connection; one in memory where the cache folder can't be written."""
        if self._memory is not None:
            return self._memory
        held: Catalog | None = getattr(self._local, "catalog", None)
        if held is not None and not held.removed:
            return held
        with self._lock:
            if held is not None:  # somebody has deleted the index under an open process
                self._opened.remove(held)
                held.close()
                self._snapshot = None
            try:
                assert self._folder is not None
                self._folder.mkdir(parents=True, exist_ok=True)
                catalog = Catalog.open(self._folder)
            except (OSError, IndexUnwritable) as error:
                return self._in_memory(error)
            self._opened.append(catalog)
            self._local.catalog = catalog
            return catalog

    def _in_memory(self, error: Exception) -> Catalog:
        """Answer from memory from now on, and say why."""
        with self._lock:
            if self._memory is None:
                why = str(named(error)).partition(" and stays")[0]
                self._warning = f"{why}: answered from memory; set KB_CACHE to a folder that can be written"
                self._memory = Catalog.open(None)
                self._opened.append(self._memory)
            return self._memory


@contextmanager
def _damage_named(catalog: Catalog) -> Iterator[None]:
    """Let no error of damaged files through as anything but IndexDamaged.

    Large files are not compared with their checksums before a query; where what was read makes no sense, they are now.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise named(error) from error
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
        from kb.index.integrity import find_damage

        found = next(find_damage(catalog), None)
        if found is None:
            raise
        raise IndexDamaged(f"the index is damaged: {found}; run: kb index --rebuild") from error
