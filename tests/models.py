"""A model for tests that need one to misbehave, or none to be installed: lexical vectors in the place of embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from kb.embedding import lexical, loading
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


def use(model: Model, monkeypatch: pytest.MonkeyPatch) -> Model:
    """Let every base that is opened from now on load this model; it is told apart from those of other tests."""
    monkeypatch.delenv(loading.DISABLED, raising=False)
    monkeypatch.setattr(loading, "choose", lambda name: loading.Choice("test", Path(str(id(model)))))
    monkeypatch.setattr(loading, "_load", lambda choice: model)
    return model
