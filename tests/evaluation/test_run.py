"""Asking a base: hits into units, and other configurations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bases import Base

from kb.config import Collection, Config
from kb.errors import ArgumentError
from kb.evaluation import configuration, gold, report
from kb.evaluation.configuration import configure, defaults, parse
from kb.evaluation.gold import Question, Unit
from kb.evaluation.run import Run, ask
from kb.ranking import weights as numbers

MakeBase = Callable[..., Base]
CONFIG = Config(Path("docs"), (Collection("docs", Path("docs")),))


def judge(base: Base, *asked: tuple[str, tuple[str, ...]]) -> tuple[gold.Judged, ...]:
    questions = [Question(f"q{at}", query, relevant, None, None, at) for at, (query, relevant) in enumerate(asked, 1)]
    return gold.judge(base.kb, questions, Path("g.jsonl"))


def run(base: Base, query: str, *relevant: str) -> list[str]:
    return [unit.name for unit in ask(base.kb, judge(base, (query, relevant))).ranked["q1"]]


def test_hits_of_one_file_are_one_unit_at_the_rank_of_the_best(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "# Wind\n\nwindy windy\n\n## Storm\n\nwindy windy windy\n",
            "b.md": "# Calm\n\nnot so windy, rather calm and quiet all day long\n",
        }
    )
    assert run(base, "windy", "a.md") == ["a.md", "b.md"]
    assert len(run(base, "windy", "a")) == 3


def test_ranks_are_filled_where_one_file_holds_more_hits_than_ranks(make_base: MakeBase) -> None:
    many = "# Wind\n\n" + "".join(f"## Part {n}\n\nwindy windy windy\n\n" for n in range(20))
    files = {f"b{n}.md": f"# Note {n}\n\nnot so windy, rather calm and quiet all day long\n" for n in range(12)}
    ranked = run(make_base({"a.md": many} | files), "windy", "a.md")
    assert ranked[0] == "a.md"
    assert len(ranked) == len(set(ranked)) == 10


def test_a_search_for_many_equals_one_search_each(make_base: MakeBase) -> None:
    base = make_base({f"n{n}.md": f"# Note {n}\n\nwindy {'calm ' * n}\n" for n in range(5)})
    queries = ["windy", "calm windy", "note 3", "nothing"]
    assert base.kb.search_many(queries) == tuple(base.search(query) for query in queries)


def test_without_snippets_the_rest_is_the_same(make_base: MakeBase) -> None:
    base = make_base({f"n{n}.md": f"# Note {n}\n\nwindy {'calm ' * n}\n" for n in range(5)})
    (bare,) = base.kb.search_many(["calm"], snippets=False)
    full = base.search("calm")
    assert [(r.id, r.score, r.passage) for r in bare.results] == [(r.id, r.score, r.passage) for r in full.results]
    assert all(r.snippet == "" and r.highlights == () for r in bare.results)


def test_one_bad_query_among_many_refuses_them_all(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nwindy\n"})
    with pytest.raises(ArgumentError, match="query is empty"):
        base.kb.search_many(["windy", " "])
    assert base.kb.search_many([]) == ()


def test_a_report_counts_answers_blanks_and_what_was_rightly_left_empty(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nwindy\n", "b.md": "# B\n\ncalm\n"})
    found = report.evaluate(
        base.kb, judge(base, ("windy", ("a",)), ("qwzx", ("b",)), ("plorf", ()), ("calm", ())), collections=()
    )
    assert found.measures["R@1"].value == 0.5
    assert found.measures["abstained"].value == 0.5
    assert found.left_empty == 1
    assert found.run.mode == "keyword"


# -- configurations ----------------------------------------------------------------------------------------------


def test_keys_are_those_of_search_and_of_the_weights() -> None:
    known = defaults(CONFIG)
    assert {"scoring", "k1", "b", "fuzzy", "title", "text.b"} <= set(known)


def test_values_are_read_by_the_type_of_what_they_change() -> None:
    assert parse("k1=1.5, fuzzy=false,title=0", CONFIG) == {"k1": 1.5, "fuzzy": False, "title": 0.0}
    assert configuration.written({"k1": 1.5, "fuzzy": False}) == "k1=1.5, fuzzy=false"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs KEY=VALUE"),
        ("k1", "needs KEY=VALUE"),
        ("k1=", "needs KEY=VALUE"),
        ("k1=1,,b=1", "needs KEY=VALUE"),
        ("k3=1", "unknown key 'k3'; valid: scoring, k1, b"),
        ("k1=1,k1=2", "k1 is given twice"),
        ("k1=high", "k1 must be a number"),
        ("k1=nan", "k1 must be from 0"),
        ("k1=inf", "k1 must be from 0"),
        ("title=-1", "title must be from 0"),
        ("text.b=1.5", "text.b must be from 0 to 1"),
        ("fuzzy=yes", "fuzzy must be true or false"),
        ("semantic.fusion=best", "semantic.fusion is 'best'; valid: "),
        ("semantic.weight=2", "semantic.weight must be from 0 to 1"),
        ("scoring=best", "scoring is 'best'; valid: lucene"),
    ],
)
def test_a_bad_comparison_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse(text, CONFIG)
    assert message in str(caught.value)


def test_a_number_of_the_ranking_stands_in_only_while_it_is_asked_with() -> None:
    name, held = next(iter(configuration.constants().items()))
    changed = configure(CONFIG, {name: 7})
    with changed.applied():
        assert getattr(numbers, name) == 7
    assert getattr(numbers, name) == held


def test_how_rankings_are_joined_is_changed_with_a_prefix() -> None:
    changed = configure(CONFIG, parse("semantic=true,semantic.weight=0.25,semantic.fusion=rrf", CONFIG))
    assert (changed.semantic, changed.fusion.weight, changed.fusion.fusion) == (True, 0.25, "rrf")
    assert configure(CONFIG, {}, semantic=True).semantic is True
    assert configure(CONFIG, {"semantic": False}, semantic=True).semantic is False


def test_a_change_of_settings_reaches_the_weights_and_a_nested_weight_stands_above_it() -> None:
    changed = configure(CONFIG, {"k1": 2.0, "text.b": 0.1})
    assert (changed.weights.text.k1, changed.weights.head.k1, changed.weights.text.b) == (2.0, 2.0, 0.1)
    assert changed.weights.title == configure(CONFIG, {}).weights.title


def test_no_change_is_the_ranking_of_the_base(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nwindy windy\n", "b.md": "# B windy\n\ncalm\n"})
    used = configure(base.kb.config, {})
    assert base.kb.search_many(["windy"], settings=used.search, weights=used.weights)[0] == base.search("windy")


def test_a_changed_weight_changes_what_is_measured(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nwindy windy\n", "b.md": "# B windy\n\ncalm\n"})
    questions = judge(base, ("windy", ("b",)))
    without = configure(base.kb.config, {"title": 0.0})
    first = report.evaluate(base.kb, questions)
    second = report.evaluate(base.kb, questions, configuration=without)
    compared = report.compare(first, second, without.changed)
    assert second.measures["MRR@10"].value == 0
    assert compared.difference["MRR@10"].value == -(first.measures["MRR@10"].value or 0)


def test_corrections_can_be_turned_off_in_the_settings(make_base: MakeBase) -> None:
    files = {"a.md": "# A\n\nmigration of data\n"}
    toml = '[[collections]]\nname = "docs"\nroot = "docs"\n[search]\nfuzzy = false\n'
    assert make_base(files).ids("migratoin") == ["a"]
    assert make_base(files, toml).ids("migratoin") == []


def test_units_of_several_collections_keep_their_collection() -> None:
    questions = (gold.Judged(Question("q", "x", ("a",), None, None, 1), "id", frozenset([Unit("one", "a")])),)
    found = report.report(questions, Run({"q": (Unit("two", "a"), Unit("one", "a"))}, "keyword", ()))
    assert found.measures["MRR@10"].value == 0.5
