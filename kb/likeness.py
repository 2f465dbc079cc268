"""What a knowledge base does with likeness: related and similar sections, nearest passages, vectors, and whether they work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kb.config import Config
from kb.errors import ArgumentError
from kb.reading import checks
from kb.records import replace

if TYPE_CHECKING:
    from kb.embedding.attempt import Attempt
    from kb.embedding.protocol import Matrix
    from kb.index.catalog import Catalog
    from kb.index.embed import ReadRaw
    from kb.ranking.dense import Dense
    from kb.reading.likeness import ChunksAnswer, DoctorAnswer, SimilarAnswer, VectorAnswer

T = TypeVar("T")
L = TypeVar("L", "SimilarAnswer", "ChunksAnswer")


class Likeness:
    """The part of `KnowledgeBase` that is about likeness; it is used through that class only."""

    config: Config
    _lock: threading.RLock
    _dense: Dense | None = None
    _lexical: Dense | None = None

    if TYPE_CHECKING:
        # What KnowledgeBase gives: one state of the catalog to read from, and checks of arguments.
        _read: Callable[..., tuple[Any, Any]]
        _catalog: Callable[[], Catalog]
        _query: Callable[[str], str]
        _nearest: Callable[[Sequence[float], str, int], ChunksAnswer | None]
        _nearest_by: Callable[[Catalog, tuple[str, int], Matrix, str, int], ChunksAnswer | None]
        _known_collections: Callable[[Sequence[str]], None]
        _known_types: Callable[[Catalog, Sequence[str]], None]

    def related(
        self, id_: str, *, top_k: int = 10, min_score: float | None = None, types: Sequence[str] = (), language: str | None = None
    ) -> SimilarAnswer:
        """Return the sections nearest to one by embeddings, itself left out. NotFound where there is no such section."""
        from kb.reading import section as sections
        from kb.reading import similar
        from kb.reading.likeness import SimilarAnswer

        wanted = checks.check_id(id_)
        checks.check_language(language)
        similar.check(top_k, min_score)
        return self._likeness(
            SimilarAnswer,
            types,
            lambda catalog, dense: similar.related(
                catalog, dense.view(catalog), sections.find(catalog.db, wanted, language),
                top_k=top_k, min_score=min_score, types=types,
            ),
        )  # fmt: skip

    def similar(self, text: str, *, top_k: int = 10, min_score: float | None = None, types: Sequence[str] = ()) -> SimilarAnswer:
        """Return the sections nearest to a text by embeddings; a section's own text, heading included, finds itself at 1."""
        from kb.reading import similar
        from kb.reading.likeness import SimilarAnswer

        given = similar.check_text(text)
        similar.check(top_k, min_score)
        return self._likeness(
            SimilarAnswer,
            types,
            lambda catalog, dense: similar.similar(
                catalog, dense.view(catalog), dense.passages(similar.passages_of(given)),
                top_k=top_k, min_score=min_score, types=types,
            ),
        )  # fmt: skip

    def chunks(
        self, query: str | None, *, collection: str, limit: int = 5, vector: Sequence[float] | None = None
    ) -> ChunksAnswer:
        """Return the passages of a collection nearest to a question, or to a ready vector of the base's model."""
        from kb.reading import similar
        from kb.reading.likeness import ChunksAnswer

        if (query is None) == (vector is None):
            raise ArgumentError("give either a query or a vector")
        text = None if query is None else self._query(query)
        given = None if vector is None else similar.check_vector(vector)
        similar.check_count("limit", limit, similar.MOST)
        self._known_collections([collection])
        if vector is not None:
            held = self._nearest(vector, collection, limit)
            if held is not None:
                return held
        return self._likeness(
            ChunksAnswer,
            (),
            lambda catalog, dense: self._chunks(catalog, dense, text, given, collection, limit),
        )

    def _chunks(
        self, catalog: Catalog, dense: Dense, text: str | None, given: Matrix | None, collection: str, limit: int
    ) -> ChunksAnswer:
        from kb.reading import similar

        if given is not None:
            asked = similar.of_dimension(given, dense.embedder.dimension)
        else:
            asked = dense.queries([text or ""])
        held = self._nearest_by(catalog, (dense.embedder.id, dense.embedder.dimension), asked, collection, limit)
        return held or similar.chunks(catalog, dense.view(catalog), asked, collection=collection, limit=limit)

    def vector(self, query: str, *, top_k: int = 5, collections: Sequence[str] = (), types: Sequence[str] = ()) -> VectorAnswer:
        """Return the sections nearest to a query by deterministic lexical vectors; no model is needed."""
        from kb.embedding.lexical import LexicalEmbedder
        from kb.ranking.dense import Dense
        from kb.reading import similar

        text = self._query(query)
        similar.check_count("top_k", top_k, None)
        counts = similar.lexical_query(text)
        self._known_collections(collections)
        with self._lock:
            lexical = self._lexical = self._lexical or Dense(None, self._read_raw(), LexicalEmbedder(), names=False)

        def answer(catalog: Catalog) -> VectorAnswer:
            self._known_types(catalog, types)
            return similar.vector(catalog, lexical.view(catalog), text, counts, top_k=top_k, collections=collections, types=types)

        found: VectorAnswer = self._read(answer, lambda catalog: lexical.embed_missing(catalog, size=2048))[1]
        return found

    def doctor(self, *, verify: bool = False) -> DoctorAnswer:
        """Look whether the index and the embeddings can be used; `verify` compares every index file with its checksums."""
        from kb.reading.doctor import doctor

        return doctor(self._catalog, self.config, self._open_dense, verify=verify)

    def _likeness(self, kind: type[L], types: Sequence[str], work: Callable[[Catalog, Dense], L]) -> L:
        attempt = self._attempt()

        def answer(catalog: Catalog) -> L | None:
            self._known_types(catalog, types)
            return attempt.run(lambda dense: work(catalog, dense))

        found, warning = None, None
        if attempt.reason is None:
            freshness, found = self._read(answer, attempt.prepare)
            warning = freshness.warning
        if found is None:
            assert attempt.reason is not None
            return kind(available=False, reason=attempt.reason.reason, message=str(attempt.reason))
        made: L = replace(found, warning=warning)
        return made

    def _attempt(self) -> Attempt:
        from kb.embedding.attempt import Attempt

        return Attempt(self._open_dense)

    def _open_dense(self) -> Dense:
        """Return the base's model, loaded, with its vectors; SemanticUnavailable where it can't be had."""
        from kb.embedding import loading

        loading.check_enabled()
        with self._lock:
            if self._dense is None:
                choice = loading.choose(self.config.semantic.model)
                from kb.ranking.dense import Dense  # only now: where there is no model nothing else is needed

                self._dense = Dense(choice, self._read_raw())
            dense = self._dense
        dense.load()
        return dense

    def _read_raw(self) -> ReadRaw:
        from kb.index.embed import raw_reader

        return raw_reader({collection.name: collection.root for collection in self.config.collections})

    def _close_model(self) -> None:
        if self._dense is not None:
            self._dense.close()
            self._dense = None
