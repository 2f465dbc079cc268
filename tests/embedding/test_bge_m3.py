"""BGE-M3 through FlagEmbedding, on a tiny model of its shape: the real loading and encoding, offline."""

from __future__ import annotations

import os
import socket
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb.embedding import loading, weights
from kb.embedding.protocol import DENSE, MULTI_VECTOR, SPARSE
from kb.errors import SemanticUnavailable

from .tiny import HIDDEN, build_bge_m3, build_reranker, needs_flag_embedding

pytestmark = pytest.mark.filterwarnings("ignore")  # what the libraries warn of on import is not ours
TEXTS = ["a role is held in a context", "роль держится в контексте", "eine rolle", "a"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs_flag_embedding()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build_bge_m3(tmp_path_factory.mktemp("models") / "bge-m3")


@pytest.fixture(scope="module")
def model(folder: Path) -> Iterator[Any]:
    from kb.embedding.bge_m3 import BgeM3

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = BgeM3(weights.check(folder))
    yield held
    held.close()


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    tried: list[object] = []

    def refuse(self: socket.socket, address: object) -> None:
        tried.append(address)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


def test_the_model_gives_all_three_kinds_of_vectors(model: Any) -> None:
    assert model.capabilities == {DENSE, SPARSE, MULTI_VECTOR}
    found = model.embed_passages(TEXTS, full=True)
    assert found.dense.shape == (4, HIDDEN) and found.dense.dtype == np.float32
    assert np.allclose(np.linalg.norm(found.dense, axis=1), 1, atol=1e-5)
    assert all(weight > 0 for one in found.sparse for weight in one.values())
    assert all(np.allclose(np.linalg.norm(one, axis=1), 1, atol=1e-3) for one in found.multi)


def test_vectors_are_those_of_flag_embedding_itself(model: Any) -> None:
    theirs = model._flag.encode(
        TEXTS, batch_size=8, max_length=128, return_dense=True, return_sparse=True, return_colbert_vecs=True
    )
    ours = model.embed_passages(TEXTS, full=True)
    assert np.allclose(ours.dense, theirs["dense_vecs"], atol=1e-5)
    for mine, other in zip(ours.sparse, theirs["lexical_weights"], strict=True):
        assert {str(token): pytest.approx(weight, abs=1e-5) for token, weight in mine.items()} == dict(other)
    for mine, other in zip(ours.multi, theirs["colbert_vecs"], strict=True):
        assert np.allclose(mine, other, atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_among_others(model: Any) -> None:
    alone = np.concatenate([model.embed_queries([text]).dense for text in TEXTS])
    assert np.allclose(alone, model.embed_queries(TEXTS).dense, atol=1e-5)


def test_texts_longer_than_the_model_reads_are_cut(model: Any) -> None:
    assert model.max_tokens == 128
    assert np.isfinite(model.embed_passages(["слово " * 500]).dense).all()


def test_no_texts_give_no_vectors(model: Any) -> None:
    assert model.embed_passages([]).dense.shape == (0, HIDDEN)


def test_threads_can_share_the_model(model: Any) -> None:
    expected = model.embed_queries(TEXTS).dense
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(model.embed_queries(TEXTS).dense)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.allclose(one, expected, atol=1e-5) for one in results)


def test_loading_and_encoding_ask_no_hub(folder: Path, no_network: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    choice = loading.choose(str(folder))
    held = loading.load(choice)
    try:
        assert loading.load(choice) is held  # one in a process
        held.embed_queries(["a question"])
    finally:
        loading.release(choice)
        loading.release(choice)
    assert no_network == []
    assert "HF_HUB_OFFLINE" not in os.environ
    with pytest.raises(RuntimeError, match="closed"):
        held.embed_queries(["a question"])


@pytest.mark.parametrize("name", ["colbert_linear.pt", "sparse_linear.pt", "config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused_before_anything_is_loaded(
    folder: Path, tmp_path: Path, name: str, no_network: list[object]
) -> None:
    for file in folder.iterdir():
        if file.name != name:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(SemanticUnavailable, match=name):
        loading.choose(str(tmp_path))
    assert no_network == []


def test_the_id_follows_the_weights(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert weights.check(tmp_path).digest == weights.check(folder).digest
    head = tmp_path / "sparse_linear.pt"
    head.write_bytes(head.read_bytes() + b"\0")
    assert weights.check(tmp_path).digest != weights.check(folder).digest


def test_the_three_heads_rerank(model: Any) -> None:
    from kb.embedding.bge_m3 import multi_vector_score, sparse_score
    from kb.embedding.rerank import HeadReranker

    query, passages = "a role", TEXTS
    asked, given = model.embed_queries([query], full=True), model.embed_passages(passages, full=True)
    by_hand = [
        0.4 * float(given.dense[at] @ asked.dense[0])
        + 0.2 * sparse_score(asked.sparse[0], given.sparse[at])
        + 0.4 * multi_vector_score(asked.multi[0], given.multi[at])
        for at in range(len(passages))
    ]
    assert HeadReranker(model).scores(query, passages) == pytest.approx(by_hand, abs=1e-5)


def test_a_cross_encoder_gives_one_score_a_passage(tmp_path: Path, no_network: list[object]) -> None:
    needs_flag_embedding()
    from kb.embedding.rerank import CrossEncoder

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reranker = CrossEncoder(build_reranker(tmp_path / "reranker"))
        scores = reranker.scores("a role", TEXTS)
        assert scores.shape == (4,) and np.isfinite(scores).all() and len(set(scores.tolist())) > 1
        assert reranker.scores("a role", []).shape == (0,)
        assert np.isfinite(reranker.scores("a role " * 200, ["long " * 500])).all()
        reranker.close()
    assert no_network == []


def test_a_cross_encoder_folder_is_checked_before_loading(tmp_path: Path) -> None:
    from kb.embedding.rerank import check

    with pytest.raises(SemanticUnavailable, match=r"config\.json"):
        check(tmp_path)


@pytest.mark.parametrize("rerank", ["none", "heads", "reranker"])
def test_a_base_is_searched_with_the_model_and_reranked(
    folder: Path, tmp_path: Path, rerank: str, no_network: list[object]
) -> None:
    from kb.base import KnowledgeBase

    (tmp_path / "docs").mkdir()
    for name, text in (("roles", "A role is held in a context."), ("bread", "Flour and water. " * 60)):
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n")
    if rerank == "reranker":
        build_reranker(tmp_path / rerank)
    toml = f'[[collections]]\nname = "docs"\nroot = "docs"\n[semantic]\nmodel = "{folder}"\nrerank = "{rerank}"\n'
    (tmp_path / "kb.toml").write_text(toml)
    with KnowledgeBase(tmp_path / "kb.toml", cache=tmp_path / "cache") as base:
        base.index(semantic=True)
        answer = base.search("who holds a role", semantic=True, explain=True)
    assert (answer.mode, answer.warning, len(answer.results)) == ("semantic", None, 2)
    for result in answer.results:
        assert result.explanation is not None
        assert sum(part["score"] for part in result.explanation.values()) == pytest.approx(result.score, abs=1e-5)
    assert any("rerank" in (r.explanation or {}) for r in answer.results) == (rerank != "none")
    assert no_network == []


def test_a_reranker_that_fails_leaves_the_order_and_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kb.base import KnowledgeBase
    from kb.embedding.rerank import HeadReranker

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "roles.md").write_text("# Roles\n\nA role is held.\n")
    (tmp_path / "kb.toml").write_text(
        f'[[collections]]\nname = "docs"\nroot = "docs"\n[semantic]\nmodel = "{folder}"\nrerank = "heads"\n'
    )
    monkeypatch.setattr(HeadReranker, "scores", lambda *_: 1 / 0)
    with KnowledgeBase(tmp_path / "kb.toml", cache=tmp_path / "cache") as base:
        base.index(semantic=True)
        answer = base.search("role", semantic=True)
    assert answer.mode == "semantic" and answer.results
    assert "not reranked: the model failed (ZeroDivisionError" in str(answer.warning)
