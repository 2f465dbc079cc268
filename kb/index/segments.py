"""The segment files of a base: adding one, burying what it holds, joining small ones, removing unused ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kb.analysis.analyzer import Analyzer
from kb.errors import IndexDamaged
from kb.index import arrays
from kb.index.catalog import Catalog, SegmentRow
from kb.index.dead import Dead
from kb.index.merge import merge
from kb.index.segment import NOTHING_DEAD, Postings, Segment
from kb.index.snapshot import open_segment
from kb.index.vocabulary import Arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_SEGMENTS = 8
"""A write that leaves more segments than this joins the small ones: each costs every query a little."""
_DEAD_SHARE = 0.3


class Segments:
    """The segments of one catalog. Files lie in `segments/` beside it; a catalog in memory keeps theirs in memory."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def next_number(self) -> int:
        """Return a segment number that has not been used while any later one exists."""
        return int(self._catalog.db.execute("SELECT coalesce(max(segment), 0) + 1 FROM segments").fetchone()[0])

    def add(self, number: int, parts: Arrays, languages: Sequence[str]) -> None:
        """Write a new segment and name it in the catalog; `languages` are those its words have terms under."""
        name = f"{number:08d}-{os.urandom(4).hex()}.seg"
        if self._catalog.folder is None:
            self._catalog.buffers[name] = arrays.dump(parts)
        else:
            folder: Path = self._catalog.folder / "segments"
            folder.mkdir(exist_ok=True)
            arrays.write(folder / name, parts)
        self._catalog.put_segment(
            SegmentRow(
                number, name, tuple(languages),
                len(parts["unit_hit"]), int(parts["text_length"].sum()),
                len(parts["head_length"]), int(parts["head_length"].sum()),
                len(parts["hit_section"]),
                NOTHING_DEAD,
            )
        )  # fmt: skip

    def bury(self, number: int, first: int, count: int, spellings: Iterable[str]) -> None:
        """Mark a document's hits dead, from `first` on, with their units and postings; `spellings` are all it holds."""
        row = next(row for row in self._catalog.segments() if row.number == number)
        segment = self._open_for_write(row)
        units = np.arange(segment.hit_start[first], segment.hit_start[first + count], dtype=np.int32)
        names = np.arange(segment.name_start[first], segment.name_start[first + count], dtype=np.int32)
        hits = np.arange(first, first + count, dtype=np.int32)
        dead = Dead(
            _joined(row.dead.units, units),
            _joined(row.dead.names, names),
            _joined(row.dead.hits, hits),
            _counted(row.dead.text, segment.text, units),
            _counted(row.dead.head, segment.head, names),
            _added(row.dead.words, [number for number in map(segment.words.find, spellings) if number is not None]),
        )
        self._catalog.put_segment(
            replace(
                row,
                dead=dead,
                units=row.units - len(units),
                unit_terms=row.unit_terms - int(segment.text.lengths[units].sum()),
                names=row.names - len(names),
                name_terms=row.name_terms - int(segment.head.lengths[names].sum()),
                hits=row.hits - len(hits),
            )
        )

    def compact(self, languages: Sequence[str], analyzer: Analyzer) -> None:
        """Drop empty segments, and join small or half-dead ones where there are too many."""
        rows = self._catalog.segments()
        for row in rows:
            if not row.hits:
                self._catalog.db.execute("DELETE FROM segments WHERE segment = ?", (row.number,))
        rows = [row for row in rows if row.hits]
        chosen = _to_join(rows)
        if not chosen:
            return
        opened = [self._open_for_write(row) for row in chosen]
        number = self.next_number()
        self.add(number, merge(opened, languages, analyzer), languages)
        start = 0
        for row, segment in zip(chosen, opened, strict=True):
            live = np.ones(len(segment.hit_section), dtype=bool)
            live[segment.dead.hits] = False
            moved = np.cumsum(live) - 1 + start
            start += int(live.sum())
            old = self._catalog.db.execute(
                "SELECT document, first_hit FROM documents WHERE segment = ?", (row.number,)
            ).fetchall()
            self._catalog.db.executemany(
                "UPDATE documents SET segment = ?, first_hit = ? WHERE document = ?",
                [(number, int(moved[first]), document) for document, first in old],
            )
            self._catalog.db.execute("DELETE FROM segments WHERE segment = ?", (row.number,))

    def check(self) -> None:
        """Open every segment; IndexDamaged where one is missing or not what it was written as."""
        for row in self._catalog.segments():
            self._open_for_write(row)

    def sweep(self) -> None:
        """Remove files that the catalog no longer names. Readers that mapped them keep what they mapped."""
        if self._catalog.folder is None:
            named = {row.file for row in self._catalog.segments()}
            for name in set(self._catalog.buffers) - named:
                del self._catalog.buffers[name]
            return
        folder = self._catalog.folder / "segments"
        try:
            # The list of files is taken first: what a later writer adds after it is not ours to judge.
            present = [entry.name for entry in os.scandir(folder)]
            with self._catalog.writing(wait=0.0):
                if self._catalog.removed:  # the files belong to the catalog that has taken its place
                    return
                named = {row.file for row in self._catalog.segments()}
                for name in present:
                    if name not in named:
                        (folder / name).unlink(missing_ok=True)
        except Exception:  # busy, or a file still open on a system that locks it: a later write sweeps again
            return

    def _open_for_write(self, row: SegmentRow) -> Segment:
        try:
            return open_segment(self._catalog, row)
        except FileNotFoundError as error:
            raise IndexDamaged(f"index file {row.file} is missing; run: kb index --rebuild") from error


def _to_join(rows: Sequence[SegmentRow]) -> list[SegmentRow]:
    """Return the segments to join: the smallest ones while there are too many, and any that is largely dead."""
    rotten = [row for row in rows if len(row.dead.units) > _DEAD_SHARE * (row.units + len(row.dead.units))]
    chosen = list(rotten)
    rest = sorted((row for row in rows if row not in rotten), key=lambda row: (row.units, row.number))
    if len(rest) + (1 if rotten else 0) > MOST_SEGMENTS:
        size = sum(row.units for row in chosen)
        for row in rest:
            # Take in the next larger one only while it is not much larger than all before it together.
            if len(chosen) >= 2 and row.units > 2 * size and len(rest) - len(chosen) < MOST_SEGMENTS // 2:
                break
            if len(chosen) >= MOST_SEGMENTS and row.units > size:
                break
            chosen.append(row)
            size += row.units
    if not rotten and len(chosen) < 2:
        return []
    return sorted(chosen, key=lambda row: row.number)


def _joined(held: NDArray[np.int32], new: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.union1d(held, new).astype(np.int32)


def _counted(
    held: tuple[NDArray[np.int32], NDArray[np.int32]], postings: Postings, units: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return _added(held, [term for unit in units for term in postings.terms_of(int(unit)).tolist()])


def _added(
    held: tuple[NDArray[np.int32], NDArray[np.int32]], numbers: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    found, counts = np.unique(np.concatenate([np.repeat(*held), np.array(numbers, np.int32)]), return_counts=True)
    return found.astype(np.int32), counts.astype(np.int32)
