"""Passages: whole blocks of about 200 words, nothing lost, lines that say where they stand."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.documents.model import Document
from kb.documents.read import parse
from kb.index.passages import cut


def document(text: str) -> Document:
    return parse("a.md", text.encode())


def test_a_short_section_is_one_passage() -> None:
    (hit,) = cut(document("# A\n\none\n\ntwo\n"), 2)
    (passage,) = hit.passages
    assert (passage.text, passage.lines, passage.heading) == ("one\n\ntwo", (3, 5), "")


def test_deeper_headings_belong_to_the_hit_and_are_named_in_it() -> None:
    hits = cut(document("# A\n\n## One\n\nalpha\n\n### Inner\n\nbeta\n\n## Two\n\ngamma\n"), 2)
    assert [hit.section for hit in hits] == [0, 1, 3]
    inner = hits[1].passages[-1]
    assert ("Inner" in inner.heading, "beta" in inner.text) == (True, True)
    assert hits[1].above == ("A",)


def test_the_hit_level_is_the_collections() -> None:
    made = document("# A\n\n## One\n\nalpha\n\n### Inner\n\nbeta\n")
    assert [len(cut(made, level)) for level in (1, 2, 3)] == [1, 2, 3]


def test_headings_without_text_have_a_passage_to_be_found_by() -> None:
    hits = cut(document("# A\n\n## One\n\n### Inner\n\n### Other\n"), 2)
    assert hits[1].passages[0].heading == "Inner\nOther"


def test_a_placeholder_is_left_out() -> None:
    (hit,) = cut(document("# A\n\n{to be written}\n\ntext\n"), 2)
    assert [passage.text for passage in hit.passages] == ["text"]


_SENTENCE = st.lists(st.sampled_from("alpha beta gamma ёлка Straße wörter".split()), min_size=1, max_size=40).map(
    lambda w: " ".join(w) + "."
)
_PARAGRAPH = st.tuples(st.lists(_SENTENCE, min_size=1, max_size=30), st.sampled_from([" ", "\n"])).map(lambda p: p[1].join(p[0]))
_TEXT = st.lists(st.one_of(_PARAGRAPH, st.sampled_from(["## Title", "### Inner", "# Top"])), min_size=1, max_size=8).map(
    "\n\n".join
)


@settings(max_examples=60)
@given(_TEXT, st.sampled_from([20, 50, 200]))
def test_passages_hold_every_word_in_order_within_their_lines(text: str, target: int) -> None:
    made = document(text)
    lines = text.split("\n")
    for hit in cut(made, 2, target):
        for passage in hit.passages:
            assert len(passage.text.split()) <= target * 1.25
            first, last = passage.lines
            assert 1 <= first <= last <= len(lines)
            if passage.text:
                inside = "\n".join(lines[first - 1 : last]).split()
                assert [word for word in passage.text.split() if word not in inside] == []
    shown = [word for hit in cut(made, 2, target) for passage in hit.passages for word in passage.text.split()]
    held = [word for section in made.sections for block in section.blocks for word in block.text.split()]
    for position, word in enumerate(held):  # overlaps repeat words, but none is left out
        assert word in shown[max(0, position - 60) :], word
    assert len(shown) >= len(held)


def test_a_text_without_spaces_is_still_cut() -> None:
    (hit,) = cut(document("# A\n\n" + "合約轉換體驗" * 3000), 2)
    assert len(hit.passages) > 3
    assert "".join(passage.text for passage in hit.passages).count("合約") >= 3000
