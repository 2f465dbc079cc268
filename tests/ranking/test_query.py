"""A query is words, phrases and exclusions; no string is an error."""

from __future__ import annotations

import random

import pytest
from bases import Base, temporary
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import ArgumentError
from kb.ranking.query import Query, parse, without_excluded
from kb.records import replace

SIGNS = "\"'«»„“”()[]{}<>*:^?=&|-+~\\/ \t\n.,;!#@$%0aЖß中"


@pytest.mark.parametrize(
    ("text", "words", "phrases", "excluded"),
    [
        ("trust calculus", ("trust", "calculus"), (), ()),
        ('"trust calculus"', ("trust", "calculus"), (("trust", "calculus"),), ()),
        ("«расчёт доверия» теория", ("расчёт", "доверия", "теория"), (), ()),
        ("„Kalkül des Vertrauens“", ("Kalkül", "des", "Vertrauens"), (), ()),
        ("trust -windy", ("trust",), (), ("windy",)),
        ("-windy", (), (), ("windy",)),
        ("well-known DEC-0054", ("well-known", "DEC-0054"), (), ()),
        ("a - b -- c", ("a", "b", "c"), (), ()),
        ('an "open phrase', ("an", "open", "phrase"), (), ()),
        ('""', (), (), ()),
        ("word word", ("word",), (), ()),
        ("C++ C# @scope/pkg", ("C++", "C#", "@scope/pkg"), (), ()),
    ],
)
def test_a_query_is_read(
    text: str, words: tuple[str, ...], phrases: tuple[tuple[str, ...], ...], excluded: tuple[str, ...]
) -> None:
    assert replace(parse(text), plain=()) == Query(text, words, phrases, excluded)


@pytest.mark.parametrize(
    ("text", "words", "phrases", "excluded_phrases", "left"),
    [
        ('link -"weakest link"', ("link",), (), (("weakest", "link"),), "link"),
        ('-"weakest link" link -"of trust" -x', ("link",), (), (("weakest", "link"), ("of", "trust")), "link"),
        ('"a b" -"c d"', ("a", "b"), (("a", "b"),), (("c", "d"),), '"a b"'),
        ('well-"known fact"', ("well", "known", "fact"), (("known", "fact"),), (), 'well-"known fact"'),
        ('a -""', ("a",), (), (), 'a -""'),
        ('a - "b c"', ("a", "b", "c"), (("b", "c"),), (), 'a - "b c"'),
    ],
)
def test_a_minus_before_a_phrase_excludes_it(
    text: str,
    words: tuple[str, ...],
    phrases: tuple[tuple[str, ...], ...],
    excluded_phrases: tuple[tuple[str, ...], ...],
    left: str,
) -> None:
    query = parse(text)
    assert (query.words, query.phrases, query.excluded_phrases) == (words, phrases, excluded_phrases)
    assert " ".join(without_excluded(query).split()) == left


@given(st.text(max_size=200))
def test_any_text_is_a_query(text: str) -> None:
    query = parse(text)
    assert query.text == text.strip()
    assert len(set(query.words)) == len(query.words)
    assert all(word in query.words for phrase in query.phrases for word in phrase)


@pytest.fixture(scope="module")
def base():  # type: ignore[no-untyped-def]
    files = {
        "a.md": "# Alpha\n\nTrust calculus, C++ and `src/db.ts`, a-b and a*b. (x)\n",
        "b.md": "# Бета\n\nРасчёт доверия, ёлка и 1.0.21.\n",
        "c.md": "# Gamma\n\nDie Grenze des Systems 中文合約.\n",
    }
    with temporary(files) as made:
        yield made


def test_ten_thousand_strings_of_signs_find_or_find_not_but_never_raise(base: Base) -> None:
    chance = random.Random(20)
    words = ["trust", "calculus", "Grenze", "расчёт", "1.0.21", "src/db.ts", "C++", "合約", "trst", "AND", "OR", "NEAR", "NOT"]
    queries = []
    while len(queries) < 10_000:
        pieces = chance.choices([*SIGNS, *words], k=chance.randint(1, 12))
        if "".join(pieces).strip():
            queries.append("".join(pieces))
    for answer in base.kb.search_many(queries, explain=True):
        assert all(result.score > 0 for result in answer.results)


def test_half_of_a_surrogate_pair_is_no_word_and_no_error(base: Base) -> None:
    for query in ("\ud800", 'trust "\udcff"', "trust -\udcff"):
        base.kb.search(query).query.encode()
    assert base.kb.search("trust \ud800").results == base.kb.search("trust").results
    with pytest.raises(ArgumentError, match="unknown status"):
        base.kb.search("trust", status="\ud800")


@settings(max_examples=100)
@given(st.one_of(st.text(min_size=1, max_size=60), st.text(alphabet=SIGNS, min_size=1, max_size=40)))
def test_any_string_is_answered_with_sections_that_share_a_word(base: Base, query: str) -> None:
    if not query.strip():
        return
    answer = base.search(query)
    assert answer.query == query.strip()
    assert len(answer.results) == min(answer.total, 5)
    assert all(result.score > 0 for result in answer.results)
