"""BGE-M3 through FlagEmbedding: dense, sparse and multi-vector from one forward pass. From a local folder, never from a hub.

`BGEM3FlagModel.encode` runs the first batch of every call twice, to find a batch size that fits, so a single question
costs double; here its tokenizer and model are called directly, once. A test compares the two.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.embedding.protocol import DENSE, MULTI_VECTOR, SPARSE, Embeddings, Matrix, normalised
from kb.embedding.texts import clean
from kb.embedding.weights import Folder

MOST_TOKENS = 8192
"""What BGE-M3 was trained to read at once."""
QUERY_TOKENS = 512
"""Longer questions are cut, as FlagEmbedding does by default."""
PASSAGE_TOKENS = 1024
"""A passage of 200 words has 300 to 700 tokens; more is cut, for time grows with the square of it."""
BATCH = 8


class BgeM3:
    """A model of BGE-M3's kind, loaded from a checked folder. One forward pass at a time."""

    capabilities = frozenset({DENSE, SPARSE, MULTI_VECTOR})

    def __init__(self, folder: Folder) -> None:
        with _offline():
            import torch
            from FlagEmbedding import BGEM3FlagModel

            self.device = "cuda:0" if torch.cuda.is_available() else "cpu"
            on_card = self.device != "cpu"
            self._flag: Any = BGEM3FlagModel(str(folder.path), use_fp16=on_card, devices=self.device)
        self._torch: Any = torch
        self._flag.model.to(self.device)
        self._flag.model.eval()
        self.id = f"bge-m3@{folder.digest}" + ("-fp16" if on_card else "")
        self.dimension = folder.dimension
        self.max_tokens = min(folder.max_tokens, MOST_TOKENS)
        self._lock = threading.Lock()

    def embed_queries(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        """Embed questions."""
        return self._embed(texts, min(self.max_tokens, QUERY_TOKENS), full)

    def embed_passages(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        """Embed passages."""
        return self._embed(texts, min(self.max_tokens, PASSAGE_TOKENS), full)

    def close(self) -> None:
        """Let go of the weights, on the card too."""
        with self._lock:
            self._flag = None
            if self.device != "cpu":
                self._torch.cuda.empty_cache()

    def _embed(self, texts: Sequence[str], most: int, full: bool) -> Embeddings:
        if not texts:
            nothing: tuple[()] = ()
            return Embeddings(np.zeros((0, self.dimension), np.float32), nothing if full else None, nothing if full else None)
        with self._lock:
            if self._flag is None:
                raise RuntimeError("the model has been closed")
            inputs = self._flag.tokenizer([clean(text) for text in texts], truncation=True, max_length=most)["input_ids"]
            order = sorted(range(len(texts)), key=lambda at: -len(inputs[at]))
            dense: list[Any] = [None] * len(texts)
            sparse: list[Any] = [None] * len(texts)
            multi: list[Any] = [None] * len(texts)
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                self._forward([inputs[at] for at in batch], batch, full, dense, sparse, multi)
        return Embeddings(
            normalised(np.stack(dense)),
            tuple(sparse) if full else None,
            tuple(multi) if full else None,
        )

    def _forward(
        self, ids: list[list[int]], places: list[int], full: bool, dense: list[Any], sparse: list[Any], multi: list[Any]
    ) -> None:
        tokenizer, torch = self._flag.tokenizer, self._torch
        longest = max(map(len, ids))
        padded = torch.full((len(ids), longest), tokenizer.pad_token_id, dtype=torch.long)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = torch.tensor(one)
            mask[row, : len(one)] = 1
        with torch.no_grad():
            out = self._flag.model(
                {"input_ids": padded.to(self.device), "attention_mask": mask.to(self.device)},
                return_dense=True,
                return_sparse=full,
                return_colbert_vecs=full,
            )
        vectors = _numpy(out["dense_vecs"])
        weights = _numpy(out["sparse_vecs"]).reshape(len(ids), longest) if full else None
        tokens = _numpy(out["colbert_vecs"]) if full else None
        special = {tokenizer.cls_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.unk_token_id}
        for row, place in enumerate(places):
            dense[place] = vectors[row]
            if weights is not None and tokens is not None:
                sparse[place] = _token_weights(ids[row], weights[row], special)
                # The first token stands for the whole text and is what the dense vector is made of.
                multi[place] = np.ascontiguousarray(tokens[row, : len(ids[row]) - 1], dtype=np.float32)


def _numpy(tensor: Any) -> NDArray[np.float32]:
    found: NDArray[np.float32] = tensor.detach().float().cpu().numpy()
    return found


def _token_weights(ids: Sequence[int], weights: NDArray[np.float32], special: set[int]) -> Mapping[int, float]:
    """Return the largest weight of every token that stands for text."""
    out: dict[int, float] = {}
    for token, weight in zip(ids, weights[: len(ids)].tolist(), strict=True):
        if token not in special and weight > out.get(token, 0.0):
            out[token] = weight
    return out


# -- scores of the three heads -----------------------------------------------------------------------------------


def sparse_score(query: Mapping[int, float], passage: Mapping[int, float]) -> float:
    """Return the sum over shared tokens of the product of their weights (Chen et al. 2024, section 3.2)."""
    return sum(weight * passage[token] for token, weight in query.items() if token in passage)


def multi_vector_score(query: Matrix, passage: Matrix) -> float:
    """Return the mean over the query's tokens of the best cosine among the passage's (late interaction, as in ColBERT)."""
    if not len(query) or not len(passage):
        return 0.0
    return float((query @ passage.T).max(axis=1).mean())


@contextmanager
def _offline() -> Iterator[None]:
    """Keep Hugging Face libraries from asking the hub for anything while a model is loaded, whatever a file refers to."""
    wanted = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TQDM_DISABLE": "1", "TOKENIZERS_PARALLELISM": "false"}
    held = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, before in held.items():
            if before is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = before
