"""Searching while a question is being typed: the last word stands for those that it begins."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from bases import Base
from hypothesis import given
from hypothesis import strategies as st

from kb.index.builder import word_arrays
from kb.index.snapshot import load
from kb.ranking import prefix, weights

MakeBase = Callable[..., Base]
FILES = {
    "trust.md": "# Trust\n\nA calculus of trust and of evidence.\n",
    "calendar.md": "# Dates\n\nThe calendar of trust has days.\n",
    "call.md": "# Calls\n\nEvery call is planned and counted.\n",
    "holon.md": "# Холон\n\nУ холона есть граница и ёмкость.\n",
    "strasse.md": "# Weg\n\nDie Straße und die Übung gehören zum Weg, den das Haus hat.\n",
    "cjk.md": "# 合約\n\n合約轉換體驗\n",
    "id.md": "---\nid: B.3.1\n---\n# Identifier\n\nThe decision DEC-0054 stands.\n",
}


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    return make_base(FILES)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("calc", {"trust"}),
        ("CALC", {"trust"}),
        ("cal", {"trust", "calendar", "call"}),
        ("хол", {"holon"}),
        ("ёмк", {"holon"}),
        ("емк", {"holon"}),
        (unicodedata.normalize("NFD", "ёмк"), {"holon"}),
        ("straß", {"strasse"}),
        ("strass", {"strasse"}),
        ("üb", {"strasse"}),
        (unicodedata.normalize("NFD", "Üb"), {"strasse"}),
        ("合", {"cjk"}),
        ("dec-00", {"B.3.1"}),
        ("B.3", {"B.3.1"}),
        ("c", set()),
        ("calx", set()),
    ],
)
def test_an_unfinished_word_finds_those_that_it_begins(base: Base, typed: str, found: set[str]) -> None:
    answer = base.search(typed, typing=True, limit=50)
    assert {result.id for result in answer.results} == found
    assert (answer.total, answer.corrected, answer.also) == (len(found), None, ())


@pytest.mark.parametrize("typed", ["calc ", "calc.", '"calc"', "calc?", "-calc call", "calc, call"])
def test_a_word_that_something_follows_is_finished(base: Base, typed: str) -> None:
    assert "trust" not in base.ids(typed, typing=True)


def test_without_typing_nothing_is_completed(base: Base) -> None:
    assert base.ids("calc") == []


def test_highlights_cover_the_whole_word(base: Base) -> None:
    (result,) = base.search("calc", typing=True).results
    assert [result.snippet[start:end] for start, end in result.highlights] == ["calculus"]


def test_the_word_itself_comes_before_those_that_it_begins(base: Base) -> None:
    assert base.ids("call", typing=True)[0] == "call"
    base.write("callback.md", "# Back\n\nThe callback of the callback is a callback.\n")
    base.write("callus.md", "# Skin\n\nThe callback hurts.\n")
    assert base.ids("call", typing=True)[0] == "call"


def test_a_frequent_word_comes_before_a_rare_one_that_it_begins(make_base: MakeBase) -> None:
    files = {f"call-{number}.md": f"# N\n\nA call was made, number{number} of many.\n" for number in range(8)}
    made = make_base(files | {"rare.md": "# N\n\nA callosum was made, the only one.\n"})
    found = made.ids("call", typing=True)
    assert len(found) == 9
    assert found[-1] == "rare"


def test_a_finished_word_counts_beside_the_unfinished_one(base: Base) -> None:
    assert base.ids("trust cal", typing=True)[:2] in (["trust", "calendar"], ["calendar", "trust"])


def test_the_word_being_typed_is_not_corrected_and_others_are(base: Base) -> None:
    assert base.search("calandar").corrected == "calendar"
    assert base.search("calandar", typing=True).corrected is None
    assert base.search("calandar day", typing=True).corrected == "calendar day"


def test_a_function_word_is_taken_for_itself(base: Base) -> None:
    base.write("theory.md", "# Theory\n\nTheories are tested.\n")
    assert "theory" not in base.ids("call of the", typing=True)


def test_only_so_many_words_are_taken_the_most_frequent_first(make_base: MakeBase) -> None:
    names = [f"zeb{chr(97 + number // 5)}{'aeiou'[number % 5]}q" for number in range(40)]
    files = {f"{name}.md": f"# N\n\n{name} text\n" for name in names}
    files |= {f"more-{name}.md": f"# M\n\n{name} more\n" for name in names[:5]}
    made = make_base(files)
    assert made.ids("text")
    with made.kb._catalog().reading():
        found = prefix.completions("zeb", load(made.kb._catalog()))
    taken = list(dict.fromkeys(form.text for form in found))
    assert len(taken) == weights.PREFIX_MOST
    assert taken[:5] == sorted(names[:5])
    assert made.search("zeb", typing=True).total == weights.PREFIX_MOST + 5


def test_what_has_been_removed_completes_nothing(base: Base) -> None:
    assert base.ids("calend", typing=True) == ["calendar"]
    (base.root / "calendar.md").unlink()
    assert base.ids("calend", typing=True) == []


def test_an_explanation_adds_up_while_typing(base: Base) -> None:
    for typed in ("trust cal", "call", "cal", "хол"):
        for result in base.search(typed, typing=True, explain=True, limit=50).results:
            assert sum(part["score"] for part in result.explanation.values()) == pytest.approx(result.score, abs=1e-4)


def test_segments_and_one_index_complete_alike(base: Base) -> None:
    base.ids("cal", typing=True)
    for number in range(3):
        base.write(f"late-{number}.md", f"# Late {number}\n\nA calibration number{number} of calendars.\n")
        base.kb.index()
    fresh = base.rebuilt()
    for typed in ("cal", "calend", "trust c", "num", "хол"):
        ours, theirs = (one.search(typed, typing=True, limit=50) for one in (base.kb, fresh))
        assert [(r.id, r.score) for r in ours.results] == [(r.id, r.score) for r in theirs.results], typed


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=40, unique=True), st.text(min_size=1, max_size=3))
def test_words_that_begin_alike_are_found_in_any_vocabulary(spellings: list[str], beginning: str) -> None:
    import numpy as np

    from kb.index.segment import Segment
    from kb.index.vocabulary import Vocabulary

    count = len(spellings)
    arrays = word_arrays(
        spellings, np.zeros((count, 1), dtype=np.int32), np.ones(count, dtype=np.int32), np.zeros(1, dtype=np.int32)
    )
    segment = Segment.__new__(Segment)
    segment.words, segment.word_order = Vocabulary(arrays, "word"), arrays["word_order"]  # type: ignore[arg-type, assignment]
    found = [segment.words[int(number)] for number in segment.words_beginning(beginning)]
    assert found == sorted(spelling for spelling in spellings if spelling.startswith(beginning))
