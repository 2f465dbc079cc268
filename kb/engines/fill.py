"""Bring a collection to what the catalog holds: everything into a new one, or only what has changed into the present one.

A new collection is filled aside and takes over the alias when it is complete, so nobody sees half of it. How far it has come
is noted after every batch; a run that ends half way goes on there. Writing the same again changes nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.engines import state
from kb.engines.points import FORMAT, Means, PointMaker, batches
from kb.engines.state import Change, Filled
from kb.engines.store import Point, Store
from kb.errors import IndexBusy
from kb.index.catalog import Catalog
from kb.index.snapshot import Snapshot
from kb.ranking.ranker import Weights

if TYPE_CHECKING:
    from kb.index.embed import View

Progress = Callable[[int, int], None]
"""Called with (documents written, documents to write)."""
PUT_POINTS = 200
"""Points in one request: about 4 MB with vectors of 1,024 numbers, against the 32 MB that a server takes."""
DOCUMENTS = 100
"""Documents made into points at a time."""
DRIFT = 0.1
"""How far a mean length may move before all points are written anew. Less only makes a search ask for a few more points."""


class Filler:
    """Writes the points of one catalog into collections of a store, under an alias."""

    def __init__(
        self,
        store: Store,
        alias: str,
        catalog: Catalog,
        snapshot: Callable[[], Snapshot],
        weights: Weights,
        view: View | None,
        progress: Progress | None = None,
    ) -> None:
        self._store = store
        self._alias = alias
        self._catalog = catalog
        self._snapshot = snapshot
        self._weights = weights
        self._view = view
        self._progress = progress

    def fill(self, *, wait: float = 30.0) -> int:
        """Write what differs; return how many documents were written. IndexBusy where another process does so already."""
        with _alone(self._catalog, wait):
            with self._catalog.writing():
                state.make(self._catalog)
            present = state.current(self._catalog)
            if present is None or self._outdated(present) or self._store.held(present.collection) is None:
                return self._anew()
            written = self._drain(present.collection, present)
            held = self._store.held(present.collection)
            if held is None or held.points != self._expected():  # somebody has taken points out, or put some in
                return self._anew()
            self._store.switch(self._alias, present.collection)  # whoever has made the name stand for something else meanwhile
            return written

    def follow(self) -> int:
        """Write only what has changed, into the collection that is there; return how many documents, 0 where it can't take them.

        That mean lengths have moved is for `fill`: a search does not wait until everything is written anew. IndexBusy where
        another process writes.
        """
        with _alone(self._catalog, 0.0):
            present = state.current(self._catalog)
            if present is None or not self._fits(present) or self._store.held(present.collection) is None:
                return 0
            return self._drain(present.collection, present)

    # -- everything ----------------------------------------------------------------------------------------------

    def _anew(self) -> int:
        target, written = self._begin(), 0
        total = int(self._catalog.db.execute("SELECT count(*) FROM documents").fetchone()[0])
        while True:
            with self._catalog.reading():
                numbers = [
                    row[0]
                    for row in self._catalog.db.execute(
                        "SELECT document FROM documents WHERE document > ? ORDER BY document LIMIT ?", (target.done, DOCUMENTS)
                    )
                ]
                made = self._made(numbers, target)
            if not numbers:
                break
            bare = self._put(target.collection, made, target)
            target = replace(target, done=numbers[-1])
            with self._catalog.writing():
                state.put(self._catalog, "building", target)
                state.settle(self._catalog, (), [self._change(number) for number in bare])
            written += len(numbers)
            if self._progress:
                self._progress(min(written, total), total)
        self._drain(target.collection, target)
        self._store.switch(self._alias, target.collection)
        with self._catalog.writing():
            state.put(self._catalog, "current", target)
            state.put(self._catalog, "building", None)
        for name in names(self._catalog):
            if name != target.collection:
                self._store.drop(name)
        _note_names(self._catalog, [target.collection])
        return written

    def _begin(self) -> Filled:
        """Return the collection to fill: the one left half full, if it is of the same kind, else a new one."""
        self._store.version()
        held = state.building(self._catalog)
        settings = self._settings()
        if held is not None and _same(held.settings, settings) and self._store.held(held.collection) is not None:
            return held
        made = Filled(f"{self._alias}-{os.urandom(4).hex()}", settings)
        _note_names(self._catalog, [*names(self._catalog), made.collection])  # first: what is not noted is never removed
        self._store.create(made.collection, settings["dimension"])
        with self._catalog.writing():
            state.forget_changes(self._catalog)
            state.put(self._catalog, "building", made)
        return made

    def _expected(self) -> int:
        with self._catalog.reading():
            return expected(self._snapshot())

    def _settings(self) -> dict[str, Any]:
        """Return all that the points depend on, beside the documents."""
        with self._catalog.reading():
            snapshot = self._snapshot()
        view, used = self._view, self._weights
        return {
            "format": FORMAT,
            "text": [used.text.k1, used.text.b],
            "head": [used.head.k1, used.head.b],
            "means": [snapshot.text.mean, snapshot.head.mean],
            "model": view.store.model if view else None,
            "dimension": view.store.dimension if view else None,
        }

    def _outdated(self, present: Filled) -> bool:
        return not (self._fits(present) and _near(present.settings["means"], self._settings()["means"]))

    def _fits(self, present: Filled) -> bool:
        """Return whether points made by the present settings can stand beside those held, mean lengths aside."""
        wanted = self._settings()
        if self._view is None:  # vectors that are there do no harm
            wanted.update(model=present.settings["model"], dimension=present.settings["dimension"])
        return _alike(present.settings, wanted)

    # -- what has changed ------------------------------------------------------------------------------------------

    def _drain(self, collection: str, target: Filled) -> int:
        """Write the documents that have changed, oldest change first; return how many."""
        written = 0
        kinds = (state.PUT, state.GONE) if self._view is None else (state.PUT, state.GONE, state.VECTORS)
        while True:
            with self._catalog.reading():
                found = state.changes(self._catalog, kinds, DOCUMENTS)
                made = self._made(sorted({one.document for one in found if one.what != state.GONE}), target)
                held = {source: number for number, source in self._sources(found)}
            if not found:
                return written
            bare = self._put(collection, made, target)
            for place in dict.fromkeys((one.collection, one.source) for one in found):
                kept = [point.id for number, points, _ in made if number == held.get(place) for point in points]
                if place in held and not any(number == held[place] for number, _, _ in made):
                    continue  # written with a later change
                self._store.remove(collection, {"collection": [place[0]], "source": [place[1]]}, kept)
            with self._catalog.writing():
                state.settle(self._catalog, found, [self._change(number) for number in bare])
            written += len(found)
            if bare and all(one.what == state.VECTORS for one in found):
                return written  # their vectors are not there yet

    def _sources(self, found: Sequence[Change]) -> Iterator[tuple[int, tuple[str, str]]]:
        for one in found:
            row = self._catalog.db.execute(
                "SELECT document FROM documents WHERE collection = ? AND source = ?", (one.collection, one.source)
            ).fetchone()
            if row:
                yield int(row[0]), (one.collection, one.source)

    def _change(self, document: int) -> Change:
        row = self._catalog.db.execute("SELECT collection, source FROM documents WHERE document = ?", (document,)).fetchone()
        collection, source = row or ("", "")
        return Change(0, document, collection, source, state.VECTORS)

    def _made(self, documents: Sequence[int], target: Filled) -> list[tuple[int, list[Point], bool]]:
        used = self._weights
        maker = PointMaker(self._catalog, self._snapshot(), used.text, used.head, Means(*target.means), self._view)
        return list(maker.points(documents))

    def _put(self, collection: str, made: Sequence[tuple[int, list[Point], bool]], target: Filled) -> list[int]:
        """Write points; return the documents that lack vectors which the collection has a place for."""
        for batch in batches((point for _, points, _ in made for point in points), PUT_POINTS):
            self._store.put(collection, batch)
        unsure = self._view is None and target.settings["model"] is not None
        return [document for document, points, bare in made if bare or (unsure and points)]


def expected(snapshot: Snapshot) -> int:
    """Return how many points stand for a state of the catalog: one a passage, lead and name."""
    return snapshot.text.units + snapshot.head.units


def _same(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether points made by the settings held serve for those wanted: equal, and mean lengths not far apart."""
    return _alike(held, wanted) and _near(held["means"], wanted["means"])


def _alike(held: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(held[key] == wanted[key] for key in wanted if key != "means")


def _near(held: Sequence[float], wanted: Sequence[float]) -> bool:
    pairs = zip(held, wanted, strict=True)
    return all(abs(now - then) <= DRIFT * then if then else now == 0 for then, now in pairs)


@contextmanager
def _alone(catalog: Catalog, wait: float) -> Iterator[None]:
    """Be the one process that writes points; the lock is SQLite's, and ends with the process that holds it."""
    assert catalog.folder is not None
    lock = sqlite3.connect(catalog.folder / "engine.lock", timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        try:
            lock.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise IndexBusy("another process is writing to Qdrant; try again in a moment") from error
        yield
    finally:
        lock.close()


def names(catalog: Catalog) -> list[str]:
    """Return the collections that were made for this index and not removed yet, whatever became of its catalog since."""
    try:
        found = json.loads(_names_file(catalog).read_text(encoding="utf-8"))
        return [str(name) for name in found]
    except (OSError, ValueError, TypeError):
        return []


def _note_names(catalog: Catalog, held: Sequence[str]) -> None:
    path = _names_file(catalog)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(list(dict.fromkeys(held))), encoding="utf-8")
    partial.replace(path)


def _names_file(catalog: Catalog) -> Path:
    assert catalog.folder is not None
    return catalog.folder / "engine.json"
