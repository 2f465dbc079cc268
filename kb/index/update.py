"""Bring the index to what the folders hold, in one transaction.

Documents that are new or changed are prepared and go into a new segment, and what they held before is
marked dead. Documents whose ids or repeated blocks change because of others are done again in the
same write. Nothing is visible to readers before the end.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.config import Collection, Config
from kb.index import changes as changes_of
from kb.index import ids, noise
from kb.index.catalog import Catalog, named
from kb.index.changes import Candidate, Changes
from kb.index.fingerprint import fingerprint
from kb.index.prepare import Job, Prepared, Task, variant_of
from kb.index.settled import Report
from kb.index.tree import repair
from kb.index.workers import prepared
from kb.records import replace

if TYPE_CHECKING:
    from kb.index.rows import SegmentWriter
    from kb.index.segments import Segments

BATCH_BYTES = 32 << 20
"""Bytes of source that go into one segment at most; bounds the memory of a build."""

Progress = Callable[[int, int], None]
"""Called with (files done, files in all)."""

_ROUNDS = 10


def update(
    catalog: Catalog,
    config: Config,
    analyzer: Analyzer,
    *,
    rebuild: bool = False,
    wait: float | None = None,
    progress: Progress | None = None,
) -> Report:
    """Make the index say what the folders hold. IndexBusy where another process writes longer than `wait` seconds."""
    started = False
    try:
        with catalog.writing(**({} if wait is None else {"wait": wait})), _without_collector():
            started = True
            fresh = rebuild or catalog.get("fingerprint") != fingerprint(config)
            if fresh:
                catalog.create()
                catalog.set("fingerprint", fingerprint(config))
            found = changes_of.find(catalog, config.collections)
            report = _Update(catalog, config, analyzer, progress).apply(found)
            if report.indexed or report.removed or fresh:
                catalog.set("generation", str(changes_of.now()))
            catalog.set("walks", changes_of.noted(found.walks))
    except OSError as error:
        raise named(error) from error
    finally:
        if started:  # whether it ended well or not, what the catalog does not name goes
            from kb.index.segments import Segments

            Segments(catalog).sweep()
    return replace(report, rebuilt=fresh, unread=changes_of.unread(found.walks))


class _Update:
    def __init__(self, catalog: Catalog, config: Config, analyzer: Analyzer, progress: Progress | None) -> None:
        self._catalog = catalog
        self._db = catalog.db
        self._config = config
        self._progress = progress
        self._analyzer = analyzer
        self._families: set[tuple[str, str]] = set()  # (collection, id) that came or went
        self._contested: set[tuple[str, str]] = set()  # (collection, wanted id) that more than one may claim

    # What writes segments takes longer to import than other processes need to begin with the files: they begin first.

    @cached_property
    def _segments(self) -> Segments:
        from kb.index.segments import Segments

        return Segments(self._catalog)

    @cached_property
    def _writer(self) -> SegmentWriter:
        from kb.index.rows import SegmentWriter

        return SegmentWriter(self._catalog, self._analyzer)

    def apply(self, found: Changes) -> Report:
        """Write what differs."""
        if self._db.execute("SELECT EXISTS (SELECT 1 FROM segments)").fetchone()[0]:
            self._segments.check()
        moved = {(c.collection.name, c.file.source) for c in found.candidates if c.known is None}
        for document in found.gone:
            moved.update(self._db.execute("SELECT collection, source FROM documents WHERE document = ?", (document,)))
            self._remove(document)
        total = len(found.candidates)
        indexed = done = 0
        for batch in _batches(found.candidates):
            if done:
                self._writer.finish()  # two batches at once would take the memory of two
            indexed += self._write(self._jobs(batch, done, total))
            done += len(batch)
        if indexed or found.gone:
            self._settle_variants(moved)
            self._settle_noise()
            self._settle_ids()
            repair(self._db, self._families)
            self._note_languages(())  # the last document of a language may have gone
            self._writer.finish()
            self._segments.compact(self._catalog.languages, self._analyzer)
        files = sum(len(walk.files) for walk in found.walks.values())
        return Report(indexed, len(found.gone), files - indexed)

    def _jobs(self, batch: Sequence[Candidate], done: int, total: int) -> Iterator[Job]:
        """Prepare files; those whose content the index holds already are only noted as looked at."""
        checked = changes_of.now()
        repeated = {c.name: noise.repeated(self._catalog, c.name) for c in self._config.collections}
        tasks = [
            self._task(c.collection, c.file.source, c.known.digest if c.known else None, repeated[c.collection.name])
            for c in batch
        ]
        outcomes = prepared(tasks, [candidate.file.size for candidate in batch])
        for number, (candidate, outcome) in enumerate(zip(batch, outcomes, strict=True), done + 1):
            file, known = candidate.file, candidate.known
            if outcome is not None:
                yield Job(
                    candidate.collection, outcome, file.size, file.changed_ns, checked, None if known is None else known.document
                )
            elif known is not None:
                self._db.execute(
                    "UPDATE documents SET size = ?, changed = ?, checked = ? WHERE document = ?",
                    (file.size, file.changed_ns, checked, known.document),
                )
            if self._progress:
                self._progress(number, total)

    def _task(self, collection: Collection, source: str, digest: bytes | None, repeated: frozenset[int]) -> Task:
        return Task(collection, source, digest, repeated, self._config.index.passage_words)

    def _write(self, found: Iterable[Job]) -> int:
        jobs = []
        for job in found:
            if job.replaces is not None:
                self._remove(job.replaces)
            jobs.append(job)
            self._writer.take(job)
        if jobs:
            names = self._names(jobs)
            self._note_languages(job.prepared for job in jobs)
            self._writer.write(names)
        return len(jobs)

    def _remove(self, document: int) -> None:
        self._writer.finish()
        row = self._db.execute(
            "SELECT collection, segment, first_hit, hits, blocks FROM documents WHERE document = ?", (document,)
        ).fetchone()
        if row is None:
            return
        collection, segment, first_hit, hits, blocks = row
        if segment is not None and hits:
            self._segments.bury(segment, first_hit, hits, self._spellings(document))
        noise.count(self._db, collection, noise.unpack(blocks), -1)
        for wanted, id_ in self._db.execute("SELECT DISTINCT wanted, id FROM sections WHERE document = ?", (document,)):
            # An id that ends in a number may have been, or become, the one that another contest gives out.
            self._contested.update(((collection, wanted), (collection, ids.without_number(wanted))))
            self._families.update(((collection, wanted), (collection, id_)))
        for table in ("sections", "passages", "names", "documents"):
            self._db.execute(f"DELETE FROM {table} WHERE document = ?", (document,))

    def _spellings(self, document: int) -> set[str]:
        """Return every spelling that a document was indexed with, from the texts that the catalog keeps of it."""
        texts = [row[0] for row in self._db.execute("SELECT name FROM names WHERE document = ?", (document,))]
        for row in self._db.execute("SELECT heading, text FROM passages WHERE document = ?", (document,)):
            texts.extend(row)
        found = {word for text in texts for word in words.find(text)}
        return {spelling for word in found for spelling in words.spellings(word)}

    # -- what documents do to each other -----------------------------------------------------------------------

    def _settle_variants(self, moved: Set[tuple[str, str]]) -> None:
        """Do documents in a language folder again when the document they may be a variant of has come or gone."""
        for collection in self._config.collections:
            rows = self._db.execute(
                "SELECT document, source, variant FROM documents WHERE collection = ? AND substr(source, 3, 1) = '/'",
                (collection.name,),
            ).fetchall()
            self._redo(
                collection,
                [
                    document
                    for document, source, variant in rows
                    if (collection.name, source[3:]) in moved and variant_of(collection, source)[0] != variant
                ],
            )

    def _settle_noise(self) -> None:
        """Find the blocks that are repeated now; documents that hold one for which that has changed are done again."""
        for collection in self._config.collections:
            changed = noise.refresh(self._catalog, collection.name)
            if changed:
                self._redo(
                    collection,
                    [
                        document
                        for document, blocks in self._db.execute(
                            "SELECT document, blocks FROM documents WHERE collection = ?", (collection.name,)
                        ).fetchall()
                        if changed.intersection(noise.unpack(blocks))
                    ],
                )

    def _settle_ids(self) -> None:
        """Give every contested id to the first document by path; those whose ids change are done again."""
        for _ in range(_ROUNDS):
            moved: dict[str, set[int]] = {}
            for name, wanted in sorted(self._contested):
                rows = self._db.execute(
                    "SELECT s.document, s.id, d.source, d.variant, d.language FROM sections s"
                    " JOIN documents d USING (document) WHERE s.wanted = ? AND s.collection = ?",
                    (wanted, name),
                ).fetchall()
                right = ids.assign(wanted, [ids.Claim(*row[2:]) for row in rows], self._taken(name, wanted))
                moved.setdefault(name, set()).update(row[0] for row in rows if row[1] != right[row[2]])
            if not any(moved.values()):
                return
            for collection in self._config.collections:
                self._redo(collection, sorted(moved.get(collection.name, ())))

    def _taken(self, collection: str, wanted: str) -> list[str]:
        rows = self._db.execute(
            "SELECT wanted FROM sections WHERE collection = ? AND wanted > ? AND wanted < ?",
            (collection, wanted + "-", wanted + "."),
        )
        return [row[0] for row in rows]

    def _redo(self, collection: Collection, documents: Sequence[int]) -> None:
        if not documents:
            return
        repeated = noise.repeated(self._catalog, collection.name)
        marks = ",".join("?" * len(documents))
        rows = self._db.execute(
            f"SELECT document, source, size, changed, checked FROM documents WHERE document IN ({marks}) ORDER BY source",
            documents,
        ).fetchall()
        tasks = [self._task(collection, row[1], None, repeated) for row in rows]
        outcomes = prepared(tasks, [row[2] for row in rows])
        pairs = zip(rows, outcomes, strict=True)
        self._write(Job(collection, made, row[2], row[3], row[4], row[0]) for row, made in pairs if made is not None)

    def _names(self, jobs: Sequence[Job]) -> dict[tuple[str, str, str], str]:
        """Return the final id of every section to be written, by (collection, source, wanted id)."""
        claims: dict[tuple[str, str], list[ids.Claim]] = {}
        for job in jobs:
            claim = ids.Claim(job.prepared.source, job.prepared.variant, job.prepared.language)
            for wanted in job.prepared.wanted():
                claims.setdefault((job.collection.name, wanted), []).append(claim)
        self._families.update(claims)
        alone = self._db.execute("SELECT NOT EXISTS (SELECT 1 FROM sections WHERE document IS NOT NULL)").fetchone()[0]
        numbered: dict[tuple[str, str], list[str]] = {}  # what is wanted by itself and another contest may not give out
        for collection, wanted in claims:
            name = ids.without_number(wanted)
            if name != wanted:
                numbered.setdefault((collection, name), []).append(wanted)
        if not alone:
            self._contested.update(numbered)
        out = {}
        for (collection, wanted), mine in claims.items():
            others = [] if alone else self._claims(collection, wanted)
            if others or len(mine) > 1:
                self._contested.add((collection, wanted))
                taken = [*self._taken(collection, wanted), *numbered.get((collection, wanted), ())]
                assigned = ids.assign(wanted, [*mine, *others], taken)
                out.update({(collection, claim.source, wanted): assigned[claim.source] for claim in mine})
            else:
                out[collection, mine[0].source, wanted] = wanted
        return out

    def _claims(self, collection: str, wanted: str) -> list[ids.Claim]:
        rows = self._db.execute(
            "SELECT d.source, d.variant, d.language FROM sections s JOIN documents d USING (document)"
            " WHERE s.wanted = ? AND s.collection = ?",
            (wanted, collection),
        )
        return [ids.Claim(*row) for row in rows]

    def _note_languages(self, found: Iterable[Prepared]) -> None:
        held = {row[0] for row in self._db.execute("SELECT language FROM documents UNION SELECT language FROM names")}
        held.update(language for document in found for language in document.languages())
        self._catalog.set("languages", json.dumps(sorted(held)))


def _batches(candidates: Sequence[Candidate]) -> Iterable[list[Candidate]]:
    batch: list[Candidate] = []
    size = 0
    for candidate in candidates:
        if batch and size + candidate.file.size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(candidate)
        size += candidate.file.size
    if batch:
        yield batch


@contextmanager
def _without_collector() -> Iterator[None]:
    """Hold off the cycle collector: a build makes millions of objects and no cycles, and is a tenth faster without."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
