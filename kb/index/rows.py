"""Prepared documents into rows of the catalog and hits of a segment."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kb.analysis.analyzer import Analyzer
from kb.index import ids, noise
from kb.index.builder import HitUnits, SegmentBuilder
from kb.index.catalog import Catalog
from kb.index.prepare import Job, Prepared
from kb.index.segments import Segments
from kb.index.workers import aside

if TYPE_CHECKING:
    from numpy.typing import NDArray

Names = Mapping[tuple[str, str, str], str]
"""(collection, source, wanted id) -> the id a section gets."""
_DOTTED = re.compile(r"[^/#]*\.[^/#]*$")


class SegmentWriter:
    """Collects documents, then writes them as one segment with their rows."""

    def __init__(self, catalog: Catalog, analyzer: Analyzer) -> None:
        self._catalog = catalog
        self._analyzer = analyzer
        self._segments = Segments(catalog)
        self._builder = SegmentBuilder(analyzer)
        self._taken: list[tuple[Job, NDArray[np.int32]]] = []
        self._unfinished: Callable[[], None] | None = None

    def take(self, job: Job) -> None:
        """Take one document: its words get their numbers at once, while other files are still being prepared."""
        held = job.prepared
        words = self._builder.words(held.language, held.words, held.preparer, held.fresh)
        for language in held.languages() - {held.language}:
            places = _places(held, language)
            words[places] = self._builder.words_under(language, np.frombuffer(held.words, dtype=np.int32)[places], held.preparer)
        self._taken.append((job, words))

    def write(self, names: Names) -> None:
        """Write what was taken, and be ready for more. `finish` has to follow before anything looks at the segments."""
        self.finish()
        taken, self._taken = self._taken, []
        builder, self._builder = self._builder, SegmentBuilder(self._analyzer)
        numbers = _Numbers(self._catalog.db)
        segment = self._segments.next_number()
        rows: dict[str, list[tuple[object, ...]]] = {"documents": [], "sections": [], "passages": [], "names": []}
        held: dict[str, list[int]] = {}  # collection -> the blocks of its documents
        hits = 0
        for job, words in taken:
            document = numbers.document = numbers.document + 1
            first = numbers.section + 1
            self._sections(job, names, document, numbers, rows["sections"])
            self._hits(job, names, document, first, words, numbers, builder, rows)
            added = len(job.prepared.hits)
            held.setdefault(job.collection.name, []).extend(job.prepared.blocks)
            rows["documents"].append(_document_row(job, document, segment if added else None, hits, added))
            hits += added
        languages = self._catalog.languages
        arrays = aside(partial(builder.arrays, languages), sum(job.size for job, _ in taken) if hits else 0)
        for table, values in rows.items():
            if values:
                marks = ",".join("?" * len(values[0]))
                self._catalog.db.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
        for name, blocks in held.items():
            noise.count(self._catalog.db, name, blocks, 1)
        if hits:
            self._unfinished = lambda: self._segments.add(segment, arrays(), languages)

    def finish(self) -> None:
        """Wait for the arrays of the segment last written, and name it in the catalog."""
        if self._unfinished is not None:
            unfinished, self._unfinished = self._unfinished, None
            unfinished()

    def _sections(self, job: Job, names: Names, document: int, numbers: _Numbers, rows: list[tuple[object, ...]]) -> None:
        prepared, collection = job.prepared, job.collection.name
        first = numbers.section + 1
        final = [names[collection, prepared.source, section.wanted] for section in prepared.sections]
        for index, section in enumerate(prepared.sections):
            above = final[section.parent] if section.parent is not None else prepared.parent
            dotted = section.explicit and bool(_DOTTED.match(section.wanted))
            rows.append(
                (
                    *(first + index, document, collection, final[index], section.wanted, dotted, section.title),
                    *(section.level, *section.lines, None, above, first + section.hit, prepared.language, index),
                )
            )
        numbers.section += len(prepared.sections)
        if prepared.node is not None:
            # Front matter alone makes a node of the tree: it has a title and no text.
            name = names[collection, prepared.source, prepared.node]
            numbers.section += 1
            rows.append(
                (
                    *(numbers.section, document, collection, name, prepared.node, bool(_DOTTED.match(prepared.node))),
                    *(prepared.title, 0, prepared.body_line, prepared.body_line, None, prepared.parent, None),
                    *(prepared.language, 0),
                )
            )

    def _hits(
        self,
        job: Job,
        names: Names,
        document: int,
        first: int,
        words: NDArray[np.int32],
        numbers: _Numbers,
        builder: SegmentBuilder,
        rows: Mapping[str, list[tuple[object, ...]]],
    ) -> None:
        start = 0
        for hit in job.prepared.hits:
            wanted = job.prepared.sections[hit.section].wanted
            units = []
            for passage in hit.passages:
                numbers.passage += 1
                rows["passages"].append(
                    (
                        *(numbers.passage, document, first + passage.section),
                        *(*passage.lines, passage.heading, passage.text),
                    )
                )
                units.append((numbers.passage, passage.size))
            for place, name in enumerate(hit.names):
                key = self._analyzer.key(name.text, name.language)
                rows["names"].append((document, first + hit.section, name.text, name.language, key, place == 0))
            group = ids.group_number(job.collection.name, names[job.collection.name, job.prepared.source, wanted])
            counts = [name.size for name in hit.names]
            end = start + sum(counts) + sum(count for _, count in units)
            builder.add(HitUnits(first + hit.section, document, group, job.prepared.language, words[start:end], counts, units))
            start = end


def _places(held: Prepared, language: str) -> NDArray[np.int64]:
    """Return where the words of the names in a language stand among the words of a document."""
    runs = []
    at = 0
    for hit in held.hits:
        for name in hit.names:
            if name.language == language:
                runs.append(np.arange(at, at + name.size))
            at += name.size
        at += sum(passage.size for passage in hit.passages)
    return np.concatenate(runs)


def _document_row(job: Job, number: int, segment: int | None, first_hit: int, hits: int) -> tuple[object, ...]:
    held = job.prepared
    return (
        *(number, job.collection.name, held.source, job.size, job.changed, job.checked, held.digest, held.variant),
        *(held.language, held.title, held.type, held.status, held.sort_order, held.front, held.body_line),
        *(json.dumps(held.warnings, ensure_ascii=False), held.error, noise.pack(held.blocks), segment, first_hit, hits),
    )


class _Numbers:
    """Catalog numbers not used before, continued from the highest there are."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.document = _highest(db, "document", "documents")
        self.section = _highest(db, "section", "sections")
        self.passage = _highest(db, "passage", "passages")


def _highest(db: sqlite3.Connection, column: str, table: str) -> int:
    return int(db.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0])
