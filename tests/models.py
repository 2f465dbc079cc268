"""A model for tests that need one to misbehave, or none to be installed: lexical vectors in the place of embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kb.embedding import lexical
from kb.embedding.protocol import DENSE, Embeddings, Matrix


class Model:
    """Lexical vectors as a model's; `spoil` may do to its output what broken models do."""

    id, dimension, max_tokens, capabilities = "model-of-the-test", lexical.BUCKETS, 512, frozenset({DENSE})

    def __init__(self, spoil: Callable[[Matrix], Matrix] | None = None) -> None:
        self.spoil = spoil
        self.embedded: list[str] = []
        self.closed = False

    def embed_queries(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        rows = np.array([lexical.normalised_counts(text) for text in texts], dtype=np.float32)
        return Embeddings(self.spoil(rows) if self.spoil else rows)

    def embed_passages(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        self.embedded += texts
        return Embeddings(np.array([lexical.normalised_counts(text) for text in texts], dtype=np.float32))

    def close(self) -> None:
        self.closed = True
