"""Bring the index to what the folders hold, in one transaction.

Documents that are new or changed are parsed and cut into passages, their hits go into a new segment,
and what they held before is marked dead. Documents whose ids or repeated blocks change because of
others are done again in the same write. Nothing is visible to readers before the end.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import PurePosixPath

from kb.analysis.analyzer import Analyzer
from kb.analysis.languages import STEMMERS, detect
from kb.config import Collection, Config
from kb.documents.model import Document
from kb.index import changes as changes_of
from kb.index import ids, noise, passages
from kb.index.builder import HitUnits, SegmentBuilder
from kb.index.catalog import Catalog
from kb.index.changes import Candidate, Changes
from kb.index.fingerprint import fingerprint
from kb.index.store import Store
from kb.index.tree import repair

BATCH_BYTES = 32 << 20
"""Bytes of source that are held as parsed documents at a time; bounds the memory of a build."""

Progress = Callable[[int, int], None]
"""Called with (files done, files in all)."""


@dataclass(frozen=True, slots=True)
class Report:
    """What an update did."""

    indexed: int = 0
    removed: int = 0
    unchanged: int = 0
    rebuilt: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """A document to be written: where it comes from, what it holds, and the number it replaces."""

    collection: Collection
    document: Document
    size: int
    mtime: int
    checked: int
    digest: bytes
    variant: str
    language: str
    blocks: tuple[int, ...]
    replaces: int | None


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
    with catalog.writing(**({} if wait is None else {"wait": wait})):
        fresh = rebuild or catalog.get("fingerprint") != fingerprint(config)
        if fresh:
            catalog.create()
            catalog.set("fingerprint", fingerprint(config))
        found = changes_of.find(catalog, config.collections)
        report = _Writer(catalog, config, analyzer, progress).apply(found)
        if report.indexed or report.removed or fresh:
            catalog.set("generation", str(changes_of.now()))
        catalog.set("walks", json.dumps({n: [w.skipped, w.warnings] for n, w in found.walks.items()}))
    Store(catalog).sweep()
    return replace(report, rebuilt=fresh)


class _Writer:
    def __init__(self, catalog: Catalog, config: Config, analyzer: Analyzer, progress: Progress | None) -> None:
        self._catalog = catalog
        self._db = catalog.db
        self._config = config
        self._analyzer = analyzer
        self._progress = progress
        self._store = Store(catalog)
        self._done: dict[int, None] = {}
        self._touched: set[tuple[str, str]] = set()  # (collection, wanted id) whose claims may have changed
        self._written: set[tuple[str, str]] = set()  # (collection, source) of the documents written in this update

    def apply(self, found: Changes) -> Report:
        for document in found.gone:
            self._remove(document)
        indexed = 0
        batches = list(_batches(found.candidates))
        total = len(found.candidates)
        done = 0
        for number, batch in enumerate(batches):
            jobs = [job for job in map(self._job, batch) if job is not None]
            for job in jobs:
                if job.replaces is not None:
                    self._remove(job.replaces)
                noise.count(self._db, job.collection.name, job.blocks, 1)
            if number == len(batches) - 1:
                self._settle_noise(jobs)
            self._write(jobs)
            indexed += len(jobs)
            done += len(batch)
            if self._progress:
                self._progress(done, total)
        if not batches and found.gone:
            self._settle_noise([])
        self._settle_ids()
        removed = len(found.gone)
        if indexed or removed:
            repair(self._db, self._touched)
            self._store.compact(self._languages(), self._analyzer)
        return Report(indexed, removed, len(found.walks and [f for w in found.walks.values() for f in w.files]) - indexed)

    # -- one document ----------------------------------------------------------------------------------------

    def _job(self, candidate: Candidate) -> Job | None:
        """Return what to write for a file, or None where its content is what the index holds."""
        from kb.documents.read import content, parse  # on first use: a search on an unchanged base parses nothing

        collection, file, known = candidate.collection, candidate.file, candidate.known
        checked = changes_of.now()
        data, problem = content(collection.root, file.source)
        digest = blake2b(data, digest_size=16).digest() if problem is None else b""
        if known is not None and problem is None and known.digest == digest:
            self._db.execute(
                "UPDATE documents SET size = ?, mtime = ?, checked = ? WHERE document = ?",
                (file.size, file.mtime_ns, checked, known.document),
            )
            return None
        document = parse(file.source, data) if problem is None else problem
        variant, folder_language = _variant(collection, document.source, self._flat(collection, document.source))
        language = document.language or folder_language or collection.language or _detected(document)
        keys = tuple({noise.key(block): None for s in document.sections for block in s.blocks})
        return Job(
            collection, document, file.size, file.mtime_ns, checked, digest, variant, language, keys,
            None if known is None else known.document,
        )  # fmt: skip

    def _flat(self, collection: Collection, source: str) -> bool:
        """Tell whether the path without its first folder exists too."""
        rest = source.partition("/")[2]
        return bool(rest) and (collection.root / rest).is_file()

    def _remove(self, document: int) -> None:
        row = self._db.execute(
            "SELECT collection, segment, first_hit, hits, blocks FROM documents WHERE document = ?", (document,)
        ).fetchone()
        if row is None:
            return
        collection, segment, first_hit, hits, blocks = row
        if segment is not None and hits:
            self._store.bury(segment, first_hit, hits)
        noise.count(self._db, collection, noise.unpack(blocks), -1)
        wanted = self._db.execute("SELECT DISTINCT wanted, id FROM sections WHERE document = ?", (document,)).fetchall()
        self._touched.update((collection, name) for row in wanted for name in row)
        for table in ("sections", "passages", "documents"):
            self._db.execute(f"DELETE FROM {table} WHERE document = ?", (document,))

    # -- settling what documents do to each other --------------------------------------------------------------

    def _settle_noise(self, jobs: Sequence[Job]) -> None:
        """Find the blocks that are repeated now; documents concerned that are not in `jobs` are written again."""
        pending = {(job.collection.name, job.document.source) for job in jobs}
        for collection in self._config.collections:
            here = sum(name == collection.name for name, _ in pending)
            changed = noise.refresh(self._catalog, collection.name, here)
            if not changed:
                continue
            again = []
            for document, source, blob in self._db.execute(
                "SELECT document, source, blocks FROM documents WHERE collection = ?", (collection.name,)
            ).fetchall():
                if (collection.name, source) not in pending and changed.intersection(noise.unpack(blob)):
                    again.append(document)
            self._redo(collection, again)

    def _settle_ids(self) -> None:
        """Give every contested id to the first document by path; those whose ids change are written again."""
        for _ in range(10):
            moved: dict[str, set[int]] = {}
            for name, wanted in sorted(self._touched):
                for document, current, right in self._contested(name, wanted):
                    if current != right:
                        moved.setdefault(name, set()).add(document)
            if not moved:
                return
            for collection in self._config.collections:
                self._redo(collection, sorted(moved.get(collection.name, ())))

    def _contested(self, collection: str, wanted: str) -> list[tuple[int, str, str]]:
        rows = self._db.execute(
            "SELECT s.document, s.id, d.source, d.variant, d.language FROM sections s JOIN documents d USING (document)"
            " WHERE s.wanted = ? AND s.collection = ?",
            (wanted, collection),
        ).fetchall()
        right = ids.assign(wanted, [ids.Claim(*row[2:]) for row in rows], self._taken(collection, wanted))
        return [(row[0], row[1], right[row[2]]) for row in rows]

    def _taken(self, collection: str, wanted: str) -> list[str]:
        rows = self._db.execute(
            "SELECT wanted FROM sections WHERE collection = ? AND wanted >= ? AND wanted < ? AND wanted != ?",
            (collection, wanted + "-", wanted + ".", wanted),
        )
        return [row[0] for row in rows]

    def _redo(self, collection: Collection, documents: Iterable[int]) -> None:
        from kb.documents.walk import FileStat

        jobs = []
        for document in documents:
            source, size, mtime = self._db.execute(
                "SELECT source, size, mtime FROM documents WHERE document = ?", (document,)
            ).fetchone()
            file = FileStat(source, size, mtime, str(collection.root / source))
            job = self._job(Candidate(collection, file, None))
            assert job is not None
            self._remove(document)
            noise.count(self._db, collection.name, job.blocks, 1)
            jobs.append(replace(job, replaces=None))
        self._write(jobs)

    # -- writing -----------------------------------------------------------------------------------------------

    def _write(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        self._note_languages(jobs)
        names = self._names(jobs)
        builder = SegmentBuilder(self._analyzer, self._languages())
        numbers = _Numbers(self._db)
        segment = self._store.next_number()
        rows: dict[str, list[tuple[object, ...]]] = {"documents": [], "sections": [], "passages": []}
        hits = 0
        for job in jobs:
            added = self._one(job, names, builder, numbers, rows)
            rows["documents"].append(self._document_row(job, numbers.document, segment if added else None, hits, added))
            hits += added
        for table, values in rows.items():
            if values:
                marks = ",".join("?" * len(values[0]))
                self._db.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
        if hits:
            self._store.add(segment, builder, self._languages())

    def _one(
        self,
        job: Job,
        names: dict[tuple[str, str, str], str],
        builder: SegmentBuilder,
        numbers: _Numbers,
        rows: dict[str, list[tuple[object, ...]]],
    ) -> int:
        document, collection = job.document, job.collection
        number = numbers.next_document()
        first_section = numbers.section + 1
        final = [names[collection.name, document.source, section.id] for section in document.sections]
        hit_of = passages.hit_of(document, collection.hit_level)
        for index, section in enumerate(document.sections):
            heading_parent = final[section.parent] if section.parent is not None else document.parent
            dotted = section.explicit and _is_dotted(section.id)
            rows["sections"].append(
                (
                    numbers.next_section(), number, collection.name, final[index], section.id, dotted, section.title,
                    section.level, *section.lines, None, heading_parent, first_section + hit_of[index], job.language,
                    index,
                )
            )  # fmt: skip
        if not document.sections and (wanted := document.front_matter.get("id")):
            # Front matter alone makes a node of the tree: it has a title and no text.
            name = names[collection.name, document.source, str(wanted)]
            rows["sections"].append(
                (
                    numbers.next_section(), number, collection.name, name, str(wanted), _is_dotted(str(wanted)),
                    document.title, 0, document.body_line, document.body_line, None, document.parent, None,
                    job.language, 0,
                )
            )  # fmt: skip
        words = builder.words(job.language)
        cut = passages.cut(
            document, collection.hit_level, self._config.index.passage_words,
            lambda block: noise.key(block) in self._noise(collection.name),
        )  # fmt: skip
        for hit in cut:
            section = document.sections[hit.section]
            units = []
            for passage in hit.passages:
                rows["passages"].append(
                    (
                        numbers.next_passage(), number, first_section + passage.section, *passage.lines,
                        passage.heading, passage.text,
                    )
                )  # fmt: skip
                held = words.of(passage.heading)
                held.extend(words.of(passage.text))
                units.append((numbers.passage, held))
            title = f"{section.id} {section.title}" if section.explicit else section.title
            called = [title, *(document.aliases if hit.section == 0 else ())]
            if hit.above:
                called.append(" ".join((*hit.above, section.title)))
            builder.add(
                HitUnits(
                    first_section + hit.section,
                    number,
                    ids.group_number(collection.name, final[hit.section]),
                    [words.of(name) for name in called],
                    units,
                )
            )
        return len(cut)

    def _document_row(self, job: Job, number: int, segment: int | None, first_hit: int, hits: int) -> tuple[object, ...]:
        document = job.document
        return (
            number, job.collection.name, document.source, job.size, job.mtime, job.checked, job.digest, job.variant,
            job.language, document.title, document.type or job.collection.type, document.status, document.sort_order,
            json.dumps(document.front_matter, ensure_ascii=False), document.body_line,
            json.dumps(document.warnings, ensure_ascii=False), document.error, noise.pack(job.blocks),
            segment, first_hit, hits,
        )  # fmt: skip

    def _names(self, jobs: Sequence[Job]) -> dict[tuple[str, str, str], str]:
        """Return the final id of every section to be written, by (collection, source, wanted id)."""
        claims: dict[tuple[str, str], list[ids.Claim]] = {}
        for job in jobs:
            wanted = [section.id for section in job.document.sections]
            if not wanted and job.document.front_matter.get("id"):
                wanted = [str(job.document.front_matter["id"])]
            for name in wanted:
                claims.setdefault((job.collection.name, name), []).append(
                    ids.Claim(job.document.source, job.variant, job.language)
                )
        out = {}
        for (collection, name), mine in claims.items():
            others = self._db.execute(
                "SELECT d.source, d.variant, d.language FROM sections s JOIN documents d USING (document)"
                " WHERE s.wanted = ? AND s.collection = ?",
                (name, collection),
            ).fetchall()
            if others or len(mine) > 1:
                self._touched.add((collection, name))
                assigned = ids.assign(
                    name, [*mine, *(ids.Claim(*other) for other in others)],
                    [*self._taken(collection, name), *(n for c, n in claims if c == collection and n.startswith(name + "-"))],
                )  # fmt: skip
                out.update({(collection, claim.source, name): assigned[claim.source] for claim in mine})
            else:
                self._touched.add((collection, name))
                out.update({(collection, claim.source, name): name for claim in mine})
        return out

    # -- what the base holds -----------------------------------------------------------------------------------

    def _languages(self) -> tuple[str, ...]:
        return self._catalog.languages

    def _note_languages(self, jobs: Sequence[Job]) -> None:
        held = {row[0] for row in self._db.execute("SELECT DISTINCT language FROM documents")}
        held.update(job.language for job in jobs)
        self._catalog.set("languages", json.dumps(sorted(held)))

    def _noise(self, collection: str) -> frozenset[int]:
        return noise.repeated(self._catalog, collection)


class _Numbers:
    """Catalog numbers not used before, continued from the highest there are."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.document = int(db.execute("SELECT coalesce(max(document), 0) FROM documents").fetchone()[0])
        self.section = int(db.execute("SELECT coalesce(max(section), 0) FROM sections").fetchone()[0])
        self.passage = int(db.execute("SELECT coalesce(max(passage), 0) FROM passages").fetchone()[0])

    def next_document(self) -> int:
        self.document += 1
        return self.document

    def next_section(self) -> int:
        self.section += 1
        return self.section

    def next_passage(self) -> int:
        self.passage += 1
        return self.passage


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


def _variant(collection: Collection, source: str, flat_exists: bool) -> tuple[str, str | None]:
    """Return the path that a document shares with its variants, and the language its folder names."""
    folder, _, rest = source.partition("/")
    if rest and (folder in collection.languages or (folder in STEMMERS and flat_exists)):
        return rest, folder
    return source, None


def _detected(document: Document) -> str:
    return detect(document.text)


def _is_dotted(id_: str) -> bool:
    return "." in PurePosixPath(id_).name and "/" not in id_ and "#" not in id_
