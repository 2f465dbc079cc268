"""What a knowledge base does with an engine; nothing of it is loaded before kb.toml names one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kb.config import Config
from kb.errors import ConfigError
from kb.records import replace

if TYPE_CHECKING:
    from kb.embedding.attempt import Attempt
    from kb.embedding.protocol import Matrix
    from kb.engines.engine import Engine, Search
    from kb.index.catalog import Catalog
    from kb.index.embed import ReadRaw, View
    from kb.index.snapshot import Snapshot
    from kb.ranking.dense import Dense
    from kb.ranking.ranker import Weights
    from kb.ranking.search import Filters
    from kb.reading.likeness import ChunksAnswer

FILTERS = {"collection": "collections", "type": "types", "status": "status", "language": "language"}
"""Payload key -> the filter it stands for."""


class Engined:
    """The part of `KnowledgeBase` that is about an engine; it is used through that class only."""

    config: Config
    _lock: threading.RLock
    _engine: Engine | None
    _dense: Dense | None

    if TYPE_CHECKING:
        _read: Callable[..., tuple[Any, Any]]
        _state: Callable[[Catalog], Snapshot]
        _catalog: Callable[[], Catalog]
        _read_raw: Callable[[], ReadRaw]
        _progress: Callable[[int, int], None] | None
        chunks: Callable[..., ChunksAnswer]
        index: Callable[[], object]

    def _open_engine(self) -> Engine | None:
        """Return the engine that ranks, None where that is the index itself."""
        if self._engine is None and self.config.engine.kind != "embedded":
            with self._lock:
                if self._engine is None:
                    from kb.base import key_of
                    from kb.engines.engine import open_engine

                    self._engine = open_engine(self.config, key_of(self.config))
        return self._engine

    def _close_engine(self) -> None:
        if self._engine is not None and self.config.engine.kind != "embedded":
            self._engine.close()
            self._engine = None

    def _engine_search(self, engine: Engine, catalog: Catalog, weights: Weights, filters: Filters) -> Search:
        match: dict[str, Sequence[str]] = {}
        for key, name in FILTERS.items():
            chosen = getattr(filters, name)
            if chosen:
                match[key] = (chosen,) if isinstance(chosen, str) else chosen
        return engine.search(catalog, weights, match)

    def _preparing(self, attempt: Attempt | None, engine: Engine | None) -> Callable[[Catalog], object] | None:
        """Return what a search writes before it reads: vectors, then points."""
        steps: list[Callable[[Catalog], object]] = []
        if attempt is not None:
            steps.append(attempt.prepare)
        if engine is not None:

            def bring(catalog: Catalog) -> None:
                view = None if attempt is None else lambda: attempt.run(lambda dense: self._whole_view(catalog, engine, dense))
                engine.prepare(catalog, lambda: self._state(catalog), self._own_weights(), view)

            steps.append(bring)
        if not steps:
            return None
        return lambda catalog: [step(catalog) for step in steps]

    @staticmethod
    def _whole_view(catalog: Catalog, engine: Engine, dense: Dense) -> View | None:
        """Return a model's vectors where the engine holds that model's and none is missing here."""
        view = dense.present(catalog)
        return None if view.missing or engine.model(catalog) != (view.store.model, view.store.dimension) else view

    def search_vector(self, vector: Sequence[float], collection: str, limit: int = 5) -> ChunksAnswer:
        """Return the passages of a collection nearest to a ready vector of as many numbers as the base's vectors have.

        With an engine that holds vectors no model is loaded.
        """
        return self.chunks(None, collection=collection, limit=limit, vector=vector)

    def _nearest(self, vector: Sequence[float], collection: str, limit: int) -> ChunksAnswer | None:
        """Return what the engine says of a ready vector, None where there is none, or it holds not all vectors."""
        engine = self._open_engine()
        if engine is None:
            return None
        from kb.reading import similar

        given = similar.check_vector(vector)
        freshness, found = self._read(
            lambda catalog: engine.nearest(catalog, given, collection, limit), self._preparing(None, engine)
        )
        return None if found is None else replace(found, warning=freshness.warning)

    def _nearest_by(
        self, catalog: Catalog, model: tuple[str, int], vector: Matrix, collection: str, limit: int
    ) -> ChunksAnswer | None:
        """Return what the engine says of a vector that a model made, None where it does not hold that model's vectors."""
        engine = self._open_engine()
        if engine is None or engine.model(catalog) != model:
            return None
        return engine.nearest(catalog, vector, collection, limit)

    def _fill_engine(self, catalog: Catalog) -> int:
        """Bring the engine, if there is one, to what the catalog holds; return how many documents were written."""
        engine = self._open_engine()
        if engine is None:
            return 0
        progress = getattr(self._progress, "sending", self._progress)
        view = self._held_view(catalog, engine)
        return engine.fill(catalog, lambda: self._state(catalog), self._own_weights(), view, progress)

    def engine_export(self) -> dict[str, Any]:
        """Bring the engine to what the files hold, with the vectors that are there; return its part of the status."""
        self._named_engine()
        self.index()
        status: dict[str, Any] = self._read(self._engine_status)[1]["engine"]
        return status

    def engine_import(self) -> int:
        """Take the vectors that the engine holds into this index, for texts that have none here; return how many.

        Nothing is embedded. The index is brought up to date first, and the engine afterwards.
        """
        from kb.engines.back import take

        engine = self._named_engine()
        self._read(lambda catalog: None)
        catalog = self._catalog()
        return take(catalog, engine, self._read_raw())

    def _named_engine(self) -> Engine:
        engine = self._open_engine()
        if engine is None:
            raise ConfigError('no engine is set: write [engine] kind = "qdrant" and its url into kb.toml')
        return engine

    def _held_view(self, catalog: Catalog, engine: Engine) -> View | None:
        """Return the vectors that the index holds: of the model in use, or the one the engine has, or that has made most."""
        from kb.index import embed, vectors

        held = [(one.model, one.dimension) for one in vectors.held(catalog) if one.rows and not one.model.startswith("lexical")]
        if not held:
            return None
        used = self._dense.loaded if self._dense is not None else None
        for one in ((used.id, used.dimension) if used is not None else None, engine.model(catalog)):
            if one in held:
                return embed.view(catalog, *one, self._read_raw())
        model, dimension = held[0]
        return embed.view(catalog, model, dimension, self._read_raw())

    def _engine_status(self, catalog: Catalog) -> dict[str, Any]:
        engine = self._open_engine()
        return {} if engine is None else {"engine": engine.status(catalog, lambda: self._state(catalog))}

    def _own_weights(self) -> Weights:
        from kb.base import ranking_weights

        return ranking_weights(self.config.search)
