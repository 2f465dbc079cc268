from __future__ import annotations

from collections.abc import Callable

import pytest
from bases import Base

from kb.base import KnowledgeBase
from kb.ranking import weights

MakeBase = Callable[..., Base]

TEXTS = {
    "ferry.md": "# Harbour ferry\n\nThe ferry leaves the harbour at nine and needs an hour to the island.\n",
    "qdrant.md": "# Qdrant\n\nA server for vectors of many sections.\n",
    "tides.md": "# Tides and currents\n\nThe current turns in the harbour when the tide is high, an hour after noon.\n",
    **{f"log{n}.md": f"# Log of day {n}\n\nAn hour in the harbour, day {n}. Somebody made a recipe.\n" for n in range(12)},
}


@pytest.fixture
def base(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """A base in which an unseen word counts as in one of many words."""
    monkeypatch.setattr(weights, "LEAST_VOCABULARY", 0)
    return make_base(TEXTS).kb


@pytest.mark.parametrize(
    "question",
    [
        "lentil soup recipe",
        "zucchini recipe",
        "how long does paella take, an hour or longer perhaps",
        "guitar chords harbour zebra",
    ],
)
def test_a_question_that_shares_one_common_word_with_the_base_is_left_unanswered(base: KnowledgeBase, question: str) -> None:
    answer = base.search(question)
    assert (answer.results, answer.total) == ((), 0)
    assert answer.warning is not None
    assert "knows too few words" in answer.warning


def test_a_word_that_is_the_name_of_a_section_is_enough(base: KnowledgeBase) -> None:
    assert base.search("qdrant kubernetes helm charts zookeeper").results[0].id == "qdrant"


def test_a_word_that_is_half_of_a_name_is_enough_for_a_short_question(base: KnowledgeBase) -> None:
    assert base.search("ferry bicycle penguin").results[0].id == "ferry"


def test_one_of_two_words_is_enough_where_a_short_name_has_it(base: KnowledgeBase) -> None:
    assert base.search("currents saxophone").results[0].id == "tides"
    assert not base.search("island saxophone").results  # a text that mentions it once


def test_the_more_of_a_question_is_known_the_less_of_it_a_section_has_to_hold(base: KnowledgeBase) -> None:
    assert base.search("vectors currents noon islands server zebra").results
    assert not base.search("vectors banjo violin saxophone harp zebra").results


def test_a_section_that_holds_most_of_a_question_answers_it(base: KnowledgeBase) -> None:
    assert base.search("when does the current turn in the harbour, amigo").results[0].id == "tides"


def test_a_single_misspelt_word_is_answered(base: KnowledgeBase) -> None:
    assert base.search("harbuor").results


def test_an_id_or_a_title_in_the_question_is_always_answered(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "LEAST_VOCABULARY", 0)
    base = make_base({**TEXTS, "b.md": "# B.3 - Recipe of the day\n\nRye bread.\n"}).kb
    assert base.search("what xylophone quartz says B.3").results[0].id == "B.3"


def test_nothing_is_refused_in_a_base_of_few_words(make_base: MakeBase) -> None:
    assert make_base(TEXTS).search("lentil soup recipe").results
