"""Measures against arithmetic done by hand."""

from __future__ import annotations

import sys
from math import log2

import pytest

from kb.errors import NotAvailable
from kb.evaluation import measures
from kb.evaluation.gold import Judged, Question, Unit


def unit(name: str) -> Unit:
    return Unit("docs", name)


def judged(id_: str, *relevant: str) -> Judged:
    return Judged(Question(id_, "windy", relevant, None, None, 1), "id", frozenset(map(unit, relevant)))


def value(measure: str, relevant: list[str], ranked: list[str]) -> float:
    return measures.values([judged("q", *relevant)], {"q": [unit(name) for name in ranked]})[measure]["q"]


def test_ndcg_of_two_relevant_at_ranks_two_and_three() -> None:
    gained = 1 / log2(3) + 1 / log2(4)
    ideal = 1 / log2(2) + 1 / log2(3)
    assert value("nDCG@10", ["a", "b"], ["x", "b", "a"]) == pytest.approx(gained / ideal)


def test_ndcg_of_one_relevant_at_rank_four() -> None:
    assert value("nDCG@10", ["a"], ["x", "y", "z", "a"]) == pytest.approx(1 / log2(5))


def test_reciprocal_rank_is_that_of_the_first_relevant() -> None:
    assert value("MRR@10", ["a", "b"], ["x", "y", "b", "a"]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("rank", "expected"), [(10, 0.1), (11, 0.0)])
def test_ranks_after_ten_count_nothing(rank: int, expected: float) -> None:
    ranked = [f"x{n}" for n in range(1, rank)] + ["a"]
    assert value("MRR@10", ["a"], ranked) == pytest.approx(expected)
    assert (value("nDCG@10", ["a"], ranked) > 0) == (expected > 0)


def test_recall_is_the_share_of_the_relevant_that_came_back_in_time() -> None:
    ranked = ["a", "x", "y", "z", "b", "c"]
    assert value("R@1", ["a", "b", "c"], ranked) == pytest.approx(1 / 3)
    assert value("R@5", ["a", "b", "c"], ranked) == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", ["a", "b", "z"])
def test_the_order_given_is_the_order_measured_whatever_the_names(name: str) -> None:
    others = [other for other in ("a", "b", "z") if other != name]
    assert value("R@1", [name], [name, *others]) == 1
    assert value("R@1", [name], [*others, name]) == 0


def test_a_question_for_which_nothing_came_back_counts_zero() -> None:
    found = measures.values([judged("q", "a"), judged("r", "a")], {"q": [], "r": [unit("a")]})
    assert {name: found[name]["q"] for name in measures.RANKED} == dict.fromkeys(measures.RANKED, 0.0)
    assert found["R@1"]["r"] == 1


def test_a_question_without_an_answer_counts_only_in_abstained() -> None:
    found = measures.values([judged("q"), judged("r"), judged("s", "a")], {"q": [], "r": [unit("a")], "s": []})
    assert found["abstained"] == {"q": 1.0, "r": 0.0}
    assert set(found["nDCG@10"]) == {"s"}


def test_the_same_name_in_two_collections_is_two_units() -> None:
    question = Judged(Question("q", "windy", ("a",), None, None, 1), "id", frozenset([Unit("one", "a")]))
    assert measures.values([question], {"q": [Unit("two", "a"), Unit("one", "a")]})["MRR@10"]["q"] == 0.5


def test_without_the_package_the_error_holds_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(NotAvailable, match=r'pip install "kb-search\[eval\]"'):
        measures.values([judged("q", "a")], {"q": []})
