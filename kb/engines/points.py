"""Documents of the catalog into points."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.engines.store import NAMES, TEXT, Point, Sparse
from kb.index.catalog import Catalog
from kb.index.segment import LEAD, Postings, Segment
from kb.index.snapshot import Snapshot
from kb.ranking import impacts
from kb.ranking.bm25 import Parameters
from kb.reading.paths import breadcrumb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.index.embed import View

NAMESPACE = uuid.UUID("6f1d0f0e-7a0c-5b0e-9a55-1f6f0f2b6b62")
"""The UUIDv5 namespace of point ids."""
FORMAT = 1
"""Changes with what a point holds; another one means that all are written again."""


@dataclass(frozen=True, slots=True)
class Means:
    """Mean lengths of the units of both fields, in terms, by which the values of sparse vectors are made."""

    text: float
    head: float


def point_id(collection: str, source: str, unit: str) -> str:
    """Return the id of a point: the UUIDv5 of what names its unit."""
    return str(uuid.uuid5(NAMESPACE, f"{collection}\0{source}\0{unit}"))


def number_of(term: str) -> int:
    """Return a term's place in a sparse vector, from 0 to 2**32 - 1.

    Two terms may share one. Their values then add up, so that a score found is never lower than the right one; the order
    of hits does not depend on it (see `kb.engines.candidates`).
    """
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")


def sparse(numbers: Sequence[int] | NDArray[np.uint32], values: Sequence[float] | NDArray[np.float32]) -> Sparse:
    """Return a sparse vector in which every number stands once; values of equal numbers are added."""
    distinct, at = np.unique(np.asarray(numbers, dtype=np.uint32), return_inverse=True)
    out = np.zeros(len(distinct), dtype=np.float32)
    np.add.at(out, at, np.asarray(values, dtype=np.float32))
    return distinct, out


def unit_vectors(
    segment: Segment, field: str, units: range, mean: float, parameters: Parameters, numbers: dict[str, int]
) -> list[Sparse]:
    """Return the sparse vectors of some neighbouring units of a field; `numbers` keeps those of terms met before."""
    postings: Postings = getattr(segment, field)
    starts = postings.forward_starts[units.start : units.stop + 1]
    terms = postings.forward_terms[int(starts[0]) : int(starts[-1])]
    unit_of = np.repeat(np.arange(units.start, units.stop, dtype=np.int32), np.diff(starts))
    norm = impacts.norms(segment, field, mean, parameters)
    values = impacts.saturated(_counts(postings, terms, unit_of), norm[unit_of], 1.0, parameters)
    distinct, at = np.unique(terms, return_inverse=True)
    words = [segment.terms[number] for number in distinct.tolist()]
    for word in words:
        if word not in numbers:
            numbers[word] = number_of(word)
    places = np.array([numbers[word] for word in words], dtype=np.uint32)[at] if words else np.zeros(0, np.uint32)
    cuts = (starts - starts[0]).tolist()
    return [sparse(places[start:end], values[start:end]) for start, end in zip(cuts, cuts[1:], strict=False)]


def _counts(postings: Postings, terms: NDArray[np.int32], units: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return how often each term stands in its unit: a binary search in each term's postings, all at once."""
    low, high = postings.starts[terms], postings.starts[terms + 1]
    while (open_ := low < high).any():
        middle = (low + high) // 2
        before = open_ & (postings.units[np.where(open_, middle, 0)] < units)
        low = np.where(before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
    return postings.counts[low]


class PointMaker:
    """Makes the points of documents out of one state of the catalog. Use it inside `catalog.reading()`."""

    def __init__(
        self, catalog: Catalog, snapshot: Snapshot, text: Parameters, head: Parameters, means: Means, view: View | None
    ) -> None:
        self._db = catalog.db
        self._segments = {segment.number: segment for segment in snapshot.segments}
        self._parameters = (text, head)
        self._means = means
        self._view = view
        self._numbers: dict[str, int] = {}

    def points(self, documents: Sequence[int]) -> Iterator[tuple[int, list[Point], bool]]:
        """Yield for each document its points, and whether one of its passages has no vector yet."""
        marks = ",".join("?" * len(documents))
        for row in self._db.execute(
            "SELECT document, collection, source, language, title, type, status, segment, first_hit, hits FROM documents"
            f" WHERE document IN ({marks}) ORDER BY document",
            tuple(documents),
        ).fetchall():
            yield self._document(*row)

    def _document(
        self, document: int, collection: str, source: str, language: str, title: str, type_: str | None, status: str | None,
        number: int | None, first_hit: int, hits: int,
    ) -> tuple[int, list[Point], bool]:  # fmt: skip
        if number is None or not hits:
            return document, [], False
        segment = self._segments[number]
        shared = {"collection": collection, "type": type_, "language": language, "status": status, "source": source}
        shown = self._passages(document, collection, source, title, language)
        end = first_hit + hits
        units = range(int(segment.hit_start[first_hit]), int(segment.hit_start[end]))
        names = range(int(segment.name_start[first_hit]), int(segment.name_start[end]))
        text = unit_vectors(segment, "text", units, self._means.text, self._parameters[0], self._numbers)
        head = unit_vectors(segment, "head", names, self._means.head, self._parameters[1], self._numbers)
        out: list[Point] = []
        bare = False
        for place, hit in enumerate(range(first_hit, end)):
            own: dict[str, Any] = {**shared, "hit": int(segment.hit_section[hit])}
            for unit in range(int(segment.hit_start[hit]), int(segment.hit_start[hit + 1])):
                passage = int(segment.unit_passage[unit])
                lead = passage == LEAD
                dense, missing, made_of = self._dense(own["hit"] if lead else passage, lead)
                bare = bare or missing
                if lead:
                    id_ = point_id(collection, source, f"lead {place}")
                    out.append(Point(id_, {TEXT: text[unit - units.start]}, dense, {**own, "kind": "lead", **made_of}))
                    continue
                payload = {**own, "kind": "passage", "passage": passage, **shown[passage], **made_of}
                out.append(
                    Point(point_id(collection, source, payload["chunk_id"]), {TEXT: text[unit - units.start]}, dense, payload)
                )
            for name, unit in enumerate(range(int(segment.name_start[hit]), int(segment.name_start[hit + 1]))):
                id_ = point_id(collection, source, f"name {place} {name}")
                out.append(Point(id_, {NAMES: head[unit - names.start]}, None, {**own, "kind": "name"}))
        return document, out, bare

    def _dense(self, number: int, lead: bool) -> tuple[NDArray[np.float32] | None, bool, dict[str, Any]]:
        """Return the vector of a passage or lead, whether it should have one and has none, and what it was made of."""
        view = self._view
        if view is None:
            return None, False, {}
        from kb.index.embed import LEAD_OFFSET
        from kb.index.vectors import MISSING

        number += LEAD_OFFSET if lead else 0
        row = int(view.rows_of(np.array([number]))[0])
        if row < 0:
            return None, row == MISSING, {}
        made_of = {"model": view.store.model, "vector_key": f"{int(view.store.keys[row]):016x}"}
        return np.asarray(view.store.matrix[row], dtype=np.float32), False, made_of

    def _passages(self, document: int, collection: str, source: str, title: str, language: str) -> Mapping[int, dict[str, Any]]:
        paths: dict[str, str] = {}
        seen: dict[str, int] = {}
        out = {}
        for passage, first, last, text, id_, heading, parent in self._db.execute(
            "SELECT p.passage, p.first, p.last, p.text, s.id, s.title, s.parent FROM passages p JOIN sections s USING (section)"
            " WHERE p.document = ? ORDER BY p.passage",
            (document,),
        ).fetchall():
            if id_ not in paths:
                paths[id_] = breadcrumb(self._db, collection, id_, heading, parent, language)
            out[passage] = {
                "chunk_id": chunk_id(source, first, last, seen),
                "document_title": title,
                "content": text,
                "section_id": id_,
                "path": paths[id_],
                "lines": [first, last],
            }
        return out


def chunk_id(source: str, first: int, last: int, seen: dict[str, int]) -> str:
    """Return a passage's id: source and lines. Pieces of one long line are numbered; `seen` counts them."""
    name = f"{source}:{first}-{last}"
    count = seen[name] = seen.get(name, 0) + 1
    return name if count == 1 else f"{name}.{count}"


def batches(points: Iterable[Point], size: int) -> Iterator[list[Point]]:
    """Yield the points in lists of at most `size`."""
    batch: list[Point] = []
    for point in points:
        batch.append(point)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
