"""Snippets: at most 240 characters, whole words, marks where they belong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.analysis import words
from kb.ranking import snippet

WORDS = st.sampled_from("alpha beta gamma ёлка объём Straße src/db.ts U.BoundedContext C++ 1.0.21 합의 a the».split()".split())
TEXTS = st.lists(st.one_of(WORDS, st.text(st.characters(categories=("L", "M", "N", "P")), min_size=1, max_size=30)), max_size=120)
LONGEST = 240


def marked(found: snippet.Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.highlights]


@pytest.mark.parametrize(
    ("text", "spellings", "expected"),
    [
        ("Альфа и хмель.", ["альфа", "хмель"], ["Альфа", "хмель"]),
        ("Новый объём, новая ёлка", ["объем", "елка"], ["объём", "ёлка"]),
        ("Die Straße ist groß", ["strasse"], ["Straße"]),
        ("in src/db.ts here", ["src/db.ts"], ["src/db.ts"]),
        ("in src/db.ts here", ["db"], ["db"]),
        ("a BoundedContext", ["context"], ["Context"]),
        ("writes C++ well", ["c++"], ["C++"]),
        ("nothing here", ["elsewhere"], []),
        ("the oﬃce … ﬁles™", ["office", "files"], ["oﬃce", "ﬁles"]),
        ("a ﬁleName", ["name"], ["Name"]),
        ("a ﬁleName", ["file"], ["ﬁle"]),
        ("ｔｈｅ Ｔｒｕｓｔ", ["trust"], ["Ｔｒｕｓｔ"]),
        ("новое доверие¹ тут", ["доверие"], ["доверие"]),
        ("E = mc², thus", ["mc2"], ["mc²"]),
        ("Ｕ.ＢｏｕｎｄｅｄＣｏｎｔｅｘｔ", ["context"], ["Ｃｏｎｔｅｘｔ"]),
        ("das Wort\u00adteil hier", ["wortteil"], ["Wort\u00adteil"]),
    ],
)
def test_the_word_is_marked_as_it_stands(text: str, spellings: list[str], expected: list[str]) -> None:
    found = snippet.cut(text, dict.fromkeys(spellings, 1.0))
    assert found.text == text
    assert marked(found) == expected


def test_a_mark_covers_a_decomposed_word() -> None:
    found = snippet.cut("новая е\u0308лка тут", {"елка": 1.0})
    assert marked(found) == ["е\u0308лка"]


def test_a_short_text_is_given_whole_and_without_dots() -> None:
    assert snippet.cut("one  line\n\nand another", {}).text == "one line and another"


def test_a_long_text_is_cut_around_the_words_with_dots_only_where_cut() -> None:
    text = "filler " * 100 + "the needle here " + "filler " * 100
    found = snippet.cut(text, {"needle": 1.0})
    assert marked(found) == ["needle"]
    assert found.text[0] == found.text[-1] == "…"
    assert snippet.cut("needle " + "filler " * 100, {"needle": 1.0}).text.startswith("needle")
    assert snippet.cut("filler " * 100 + "needle", {"needle": 1.0}).text.endswith("needle")


def test_the_window_holds_the_rarest_words() -> None:
    text = "common " * 60 + "filler " * 60 + "rare word " + "filler " * 60
    assert "rare" in snippet.cut(text, {"common": 0.1, "rare": 3.0}).text


@given(TEXTS, st.sets(WORDS, max_size=4))
def test_a_snippet_is_a_piece_of_the_text_in_whole_words(pieces: list[str], wanted: set[str]) -> None:
    text = " ".join(pieces)
    spellings = {spelling: 1.0 for word in wanted for spelling in words.spellings(word)}
    found = snippet.cut(text, spellings)
    assert len(found.text) <= LONGEST
    flat = " ".join(text.split())
    inner = found.text
    if len(flat) <= LONGEST:
        assert inner == flat
    else:
        assert inner.startswith("…") or flat.startswith(inner.removesuffix("…"))
        assert inner.endswith("…") or flat.endswith(inner.removeprefix("…"))
        core = inner.removeprefix("…").removesuffix("…").strip(" ")
        assert core in flat
        assert set(core.split(" ")) <= set(flat.split(" "))
    last = 0
    for start, end in found.highlights:
        assert last <= start < end <= len(inner)
        last = end


@given(TEXTS, st.sets(WORDS, min_size=1, max_size=4))
def test_every_mark_is_a_word_looked_for(pieces: list[str], wanted: set[str]) -> None:
    spellings = {spelling: 1.0 for word in wanted for spelling in words.spellings(word)}
    for mark in marked(snippet.cut(" ".join(pieces), spellings)):
        assert set(words.spellings(mark)) & spellings.keys(), mark


def test_a_word_longer_than_a_snippet_is_cut() -> None:
    assert len(snippet.cut("x" * 1000, {}).text) <= LONGEST


ODD = st.sampled_from("ΣΑΣ İstanbul сто́л Å soft\u00adware naïve\u0301 O’Brien's DEC‑0054 ẞ ǅungla ﬁre Ω 你好吗 x\u200by".split())


@given(st.lists(st.one_of(WORDS, ODD, st.text(min_size=1, max_size=12)), max_size=60), st.data())
def test_looking_only_where_spellings_begin_marks_the_same_words(pieces: list[str], data: st.DataObject) -> None:
    text = " ".join(" ".join(pieces).split())
    held = sorted({spelling for word in words.find(text) for spelling in words.spellings(word)})
    wanted = data.draw(st.sets(st.sampled_from(held), max_size=8)) if held else set()
    spellings = {spelling: float(len(spelling)) for spelling in wanted}
    assert snippet.matches(text, spellings, snippet.beginnings(spellings)) == snippet.matches(text, spellings)
