"""Embeddings of one base at search time: the model, the vectors of the present state, and cosines of hits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.embedding import loading
from kb.embedding.loading import Choice
from kb.embedding.protocol import Embedder, Matrix, Reranker, usable
from kb.errors import SemanticUnavailable
from kb.index import embed, vectors
from kb.index.catalog import Catalog
from kb.index.embed import ReadRaw, View
from kb.index.segment import LEAD, Segment, ranges
from kb.index.snapshot import Snapshot
from kb.reading.likeness import VectorsMade

EMBEDDED_AT_SEARCH = 4
"""Passages without a vector that a search embeds itself (about .4 s each with the small model); more is for `kb index`."""
NAMES_AT_SEARCH = 64
"""The same of names, which are short."""
_INDEX = "run: kb index --semantic"


@dataclass(frozen=True, slots=True)
class HitCosines:
    """For every hit of a segment its cosine (-inf without a vector): its lead's, where that has none or there is none its best
    passage's. `units`: the cosine of every passage, -inf for leads.

    Of the longer section the best of more passages is nearer by chance. With the small model and all passages of FPF embedded
    (107 dev questions), the hybrid MRR@10 and R@5 are .852/.916 by leads, .850/.907 where a tenth to .15 of the best passage is
    mixed in, .848/.907 by a quarter, .839/.897 by the mean of both. On the shipped base, whose texts are short, they are equal.
    """

    hits: NDArray[np.float32]
    units: NDArray[np.float32]


class Dense:
    """The model a base uses and the vectors it has made. Safe to share between threads; close it."""

    def __init__(self, choice: Choice | None, read_raw: ReadRaw, embedder: Embedder | None = None, *, names: bool = True) -> None:
        self.choice = choice
        self._names = names  # whether names have vectors too
        self._read_raw = read_raw
        self._embedder = embedder  # given, where there is nothing to choose and load
        self._cross: Reranker | None = None
        self._view: View | None = None
        self._lock = threading.RLock()

    @property
    def embedder(self) -> Embedder:
        """The model, loaded on first use; SemanticUnavailable where that fails or takes too long."""
        with self._lock:
            if self._embedder is None:
                choice = self.choice
                assert choice is not None
                self._embedder = loading.within(loading.SECONDS, lambda: loading.load(choice))
            return self._embedder

    @property
    def loaded(self) -> Embedder | None:
        """The model, None where it has not been loaded."""
        return self._embedder

    def load(self) -> None:
        """Load the model now; SemanticUnavailable where that fails or takes too long."""
        _ = self.embedder

    def close(self) -> None:
        """Let go of the model."""
        with self._lock:
            if self._embedder is not None and self.choice is not None:
                loading.release(self.choice)
                self._embedder = None
            if self._cross is not None:
                self._cross.close()
                self._cross = None
            self._view = None

    def reranker(self, setting: str) -> Reranker | None:
        """Return what `semantic.rerank` asks for: None for none, and for auto where no graphics card runs the model."""
        from kb.embedding.rerank import CrossEncoder, HeadReranker

        if setting == "none":
            return None
        if setting in ("auto", "heads"):
            embedder = self.embedder
            if setting == "auto" and not str(getattr(embedder, "device", "cpu")).startswith("cuda"):
                return None
            return HeadReranker(embedder)
        with self._lock:
            if self._cross is None:
                self._cross = loading.within(loading.SECONDS, lambda: CrossEncoder(Path(setting)))
            return self._cross

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of questions, shape (n, dimension); SemanticUnavailable where one is no vector."""
        return self._vectors(texts, lambda embedder: embedder.embed_queries(texts).dense)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts that are compared with passages; SemanticUnavailable where one is no vector."""
        return self._vectors(texts, lambda embedder: embedder.embed_passages(texts).dense)

    def prepare(self, catalog: Catalog) -> None:
        """Embed what has changed since `kb index --semantic`, if that is little. Call it outside of any transaction."""
        present = self.present(catalog)
        names = present.missing_names
        if 0 < present.missing <= EMBEDDED_AT_SEARCH + names and names <= NAMES_AT_SEARCH:
            embedder = self.embedder
            made = loading.within(loading.SECONDS, lambda: embed.embed_missing(catalog, embedder, present, self._read_raw))
            self._view = made[0]

    def view(self, catalog: Catalog) -> View:
        """Return the vectors of the present state; SemanticUnavailable where some are missing."""
        present = self.present(catalog)
        if present.missing:
            raise SemanticUnavailable(self._lacking(catalog, present), _INDEX)
        return present

    def embed_missing(self, catalog: Catalog, progress: embed.Progress | None = None, *, size: int = embed.BATCH) -> VectorsMade:
        """Embed everything that has no vector yet, `size` texts at a time. Call it outside of any transaction."""
        present = self.present(catalog)
        try:
            self._view, report = embed.embed_missing(catalog, self.embedder, present, self._read_raw, progress, size)
        except SemanticUnavailable:
            raise
        except (RuntimeError, ValueError, TypeError, MemoryError, AssertionError) as error:
            raise loading.failed(error) from error
        return report

    def present(self, catalog: Catalog) -> View:
        """Return the vectors of the present state, as many as there are."""
        embedder = self.embedder
        with self._lock:
            try:
                self._view = embed.view(catalog, embedder.id, embedder.dimension, self._read_raw, self._view, names=self._names)
            except ValueError as error:
                raise SemanticUnavailable(str(error), "run: kb index --semantic with the model they were made with") from error
            return self._view

    def _lacking(self, catalog: Catalog, present: View) -> str:
        embedder = self.embedder
        wanted = f"{embedder.id} ({embedder.dimension} dimensions)"
        others = [one for one in vectors.held(catalog) if one.model != embedder.id and one.rows]
        if not len(present.store.keys) and others:
            held = ", ".join(f"{one.model} ({one.dimension} dimensions)" for one in others)
            return f"the index holds vectors of {held}, none of {wanted}"
        if not len(present.store.keys):
            return f"the index holds no vectors of {wanted} yet"
        return f"{present.missing} of {present.wanted} passages and names have no vector of {wanted} yet"

    def _vectors(self, texts: Sequence[str], work: Callable[[Embedder], Matrix]) -> Matrix:
        embedder = self.embedder
        found = loading.within(loading.SECONDS, lambda: work(embedder))
        if found.shape != (len(texts), embedder.dimension):
            raise SemanticUnavailable(
                f"the model gave vectors of shape {found.shape} instead of {(len(texts), embedder.dimension)}", "run: kb doctor"
            )
        if not usable(found).all():
            raise SemanticUnavailable("the model gave a vector that is zero or not finite", "run: kb doctor")
        return found


def cosines(snapshot: Snapshot, view: View, queries: Matrix) -> list[HitCosines]:
    """Return for each segment the cosines of its hits with the nearest of the queries."""
    rows = vectors.best_cosines(view.store.matrix, queries)
    return [_segment(segment, view, rows) for segment in snapshot.segments]


def cosines_of(snapshot: Snapshot, view: View, queries: Matrix, hits: Sequence[NDArray[np.int64]]) -> list[HitCosines]:
    """Return the same of some hits, by their positions in each segment; all others stand as if they had no vector."""
    out = []
    for segment, chosen in zip(snapshot.segments, hits, strict=True):
        starts = segment.hit_start
        units = ranges(starts, chosen)
        leads = segment.unit_passage[units] == LEAD
        at = view.rows_of(numbers_of(segment, units))
        held = at >= 0
        values = np.full(len(units), -np.inf, dtype=np.float32)
        values[held] = vectors.best_cosines(view.store.matrix[at[held]], queries)
        whole = np.full(len(segment.unit_passage), -np.inf, dtype=np.float32)
        best = np.full(len(segment.hit_section), -np.inf, dtype=np.float32)
        counts = starts[chosen + 1] - starts[chosen]
        filled = chosen[counts > 0]
        if len(filled):
            first = np.cumsum(counts) - counts
            best[filled] = _of_hits(values, leads, first[counts > 0])
        best[segment.dead.hits] = -np.inf
        whole[units[~leads]] = values[~leads]
        out.append(HitCosines(best, whole))
    return out


def numbers_of(segment: Segment, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers by which the texts of some units are known (see `kb.index.embed`)."""
    passages = segment.unit_passage[units]
    leads = embed.LEAD_OFFSET + segment.hit_section[segment.unit_hit[units]]
    found: NDArray[np.int64] = np.where(passages == LEAD, leads, passages)
    return found


def best_unit(segment: Segment, found: HitCosines, hit: int) -> int:
    """Return the unit of a hit's best passage, -1 where it has none with a vector."""
    start, end = int(segment.hit_start[hit]), int(segment.hit_start[hit + 1])
    if start == end:
        return -1
    at = start + int(np.argmax(found.units[start:end]))
    return at if np.isfinite(found.units[at]) else -1


def _segment(segment: Segment, view: View, rows: NDArray[np.float32]) -> HitCosines:
    leads = segment.unit_passage == LEAD
    numbers = np.where(leads, embed.LEAD_OFFSET + segment.hit_section[segment.unit_hit], segment.unit_passage)
    at = view.rows_of(numbers)
    held = at >= 0
    units = np.full(len(at), -np.inf, dtype=np.float32)
    units[held] = rows[at[held]]
    hits = np.full(len(segment.hit_section), -np.inf, dtype=np.float32)
    starts = segment.hit_start
    filled = np.flatnonzero(starts[1:] > starts[:-1])
    if len(filled):
        hits[filled] = _of_hits(units, leads, starts[filled])
    hits[segment.dead.hits] = -np.inf
    units[leads] = -np.inf
    return HitCosines(hits, units)


def _of_hits(
    values: NDArray[np.float32], leads: NDArray[np.bool_], starts: NDArray[np.signedinteger[Any]]
) -> NDArray[np.float32]:
    """Return the cosine of each hit from those of its units, which begin at `starts`."""
    passage = np.maximum.reduceat(np.where(leads, np.float32(-np.inf), values), starts)
    lead = np.maximum.reduceat(np.where(leads, values, np.float32(-np.inf)), starts)
    found: NDArray[np.float32] = np.where(np.isfinite(lead), lead, passage)
    return found
