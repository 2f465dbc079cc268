"""What a knowledge base does with an engine; nothing of it is loaded before kb.toml names one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from kb.config import Config

if TYPE_CHECKING:
    from kb.engines.engine import Engine, Search
    from kb.index.catalog import Catalog
    from kb.index.snapshot import Snapshot
    from kb.ranking.dense import Attempt
    from kb.ranking.ranker import Weights
    from kb.ranking.search import Filters

FILTERS = {"collection": "collections", "type": "types", "status": "status", "language": "language"}
"""Payload key -> the filter it stands for."""


class Engined:
    """The part of `KnowledgeBase` that is about an engine; it is used through that class only."""

    config: Config
    _lock: threading.RLock
    _engine: Engine | None

    if TYPE_CHECKING:
        _read: Callable[..., tuple[Any, Any]]
        _state: Callable[[Catalog], Snapshot]
        _progress: Callable[[int, int], None] | None

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
            steps.append(lambda catalog: engine.prepare(catalog, lambda: self._state(catalog), self._own_weights()))
        if not steps:
            return None
        return lambda catalog: [step(catalog) for step in steps]

    def _fill_engine(self, catalog: Catalog) -> int:
        """Bring the engine, if there is one, to what the catalog holds; return how many documents were written."""
        engine = self._open_engine()
        if engine is None:
            return 0
        progress = getattr(self._progress, "sending", self._progress)
        with self._lock if catalog.folder is None else nullcontext():
            return engine.fill(catalog, lambda: self._state(catalog), self._own_weights(), progress=progress)

    def _own_weights(self) -> Weights:
        from kb.base import ranking_weights

        return ranking_weights(self.config.search)
