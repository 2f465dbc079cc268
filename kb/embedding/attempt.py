"""A try at answering with embeddings: what a search looks at before anything of them is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from kb.errors import SemanticUnavailable

if TYPE_CHECKING:
    from kb.index.catalog import Catalog
    from kb.ranking.dense import Dense

T = TypeVar("T")


class Attempt:
    """One try at answering with embeddings: where any step of it fails, `reason` says why and the rest is left out."""

    def __init__(self, opened: Callable[[], Dense] | None) -> None:
        self.reason: SemanticUnavailable | None = None
        self._dense: Dense | None = None
        if opened is not None:
            try:
                self._dense = opened()
            except SemanticUnavailable as error:
                self.reason = error

    def run(self, work: Callable[[Dense], T]) -> T | None:
        """Return what `work` returns, or None where embeddings were not asked for, have failed before, or fail now."""
        if self._dense is None:
            return None
        try:
            return work(self._dense)
        except SemanticUnavailable as error:
            self._dense, self.reason = None, error
            return None

    def prepare(self, catalog: Catalog) -> None:
        """Embed what has changed, if that is little."""
        self.run(lambda dense: dense.prepare(catalog))

    @property
    def warning(self) -> str | None:
        """What a keyword answer has to say about itself, None where embeddings were not asked for."""
        if self.reason is None:
            return None
        return f"semantic search requested but {self.reason.why} - fell back to keyword; {self.reason.advice}"
