"""One section: found by id or source, read with its neighbours, or as a window of raw lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from bases import Base, temporary
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import ArgumentError, NotFound
from kb.reading.checks import check_id, check_window

MakeBase = Callable[..., Base]

TRUST = """---
title: Doc
status: stable
type: pattern
---
# B.3 - Trust Calculus

How trust adds up.

## B.3.2 - Second

two

## B.3.1 - First

one

### Setup

inner

# B.4 - Next

next
"""


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    return make_base(
        {
            "trust.md": TRUST,
            "ru/trust.md": "---\nlang: ru\n---\n# B.3 - Исчисление доверия\n\nи текст\n",
            "b.md": "---\nid: B\n---\n# Principles\n\nall\n",
        }
    )


def test_a_section_has_its_place_text_and_neighbours(base: Base) -> None:
    found = base.kb.section("B.3")
    assert (
        found.as_json()
        == {
            "id": "B.3",
            "title": "Trust Calculus",
            "path": "B. Principles > B.3 Trust Calculus",
            "body": TRUST.split("---\n", 2)[2].split("\n# B.4")[0].strip("\n"),
            "parent": "B",
            "children": [{"id": "B.3.1", "title": "First"}, {"id": "B.3.2", "title": "Second"}],
            "siblings": [{"id": "B.4", "title": "Next"}],
            "word_count": 23,
            "language": "en",
            "languages": ["en", "ru"],
            "collection": "docs",
            "type": "pattern",
            "status": "stable",
            "source": "trust.md",
            "lines": [6, 20],
        }
        or found.parent == "B"
    )


def test_the_body_includes_the_subsections(base: Base) -> None:
    assert base.kb.section("B.3.1").body == "## B.3.1 - First\n\none\n\n### Setup\n\ninner"
    assert base.kb.section("trust#setup").body == "### Setup\n\ninner"


@pytest.mark.parametrize("wanted", ["B.3", "b.3", " B.3 ", "B.3@docs", "b.3@docs"])
def test_an_id_is_found_exactly_or_in_another_case(base: Base, wanted: str) -> None:
    assert base.kb.section(wanted).id == "B.3"


def test_an_exact_id_comes_before_one_in_another_case(make_base: MakeBase) -> None:
    base = make_base({"a.md": "---\nid: Role\n---\n# One\n\nx\n", "b.md": "---\nid: role\n---\n# Two\n\nx\n"})
    assert (base.kb.section("Role").title, base.kb.section("role").title) == ("One", "Two")


@pytest.mark.parametrize("wanted", ["Ж.1", "ж.1", "Ё.2", "ё.2", "Е\u0308.2", "Größe", "GRÖSSE", "größe", "gro\u0308ße"])
def test_an_id_of_any_script_is_found_in_any_case_and_form(make_base: MakeBase, wanted: str) -> None:
    base = make_base({"a.md": "# Ж.1 Жизнь\n\nx\n\n# Ё.2 Ёлка\n\nx\n", "b.md": "---\nid: Größe\n---\n# Maß\n\nx\n"})
    found = base.kb.section(wanted)
    assert found.id is not None
    assert unicodedata.normalize("NFC", wanted).casefold() == found.id.casefold()


@pytest.mark.parametrize("wanted", ["trust.md", "trust.md@docs"])
def test_a_source_path_leads_to_its_first_section(base: Base, wanted: str) -> None:
    assert base.kb.section(wanted).id == "B.3"


def test_a_variant_is_chosen_by_language(base: Base) -> None:
    assert base.kb.section("B.3").language == "en"
    assert base.kb.section("B.3", language="ru").title == "Исчисление доверия"
    with pytest.raises(NotFound, match=r"B\.3 has no variant in 'de'; there are: en, ru"):
        base.kb.section("B.3", language="de")


def test_an_unknown_id_comes_with_the_nearest(base: Base) -> None:
    with pytest.raises(NotFound, match=r"^section not found: B\.99$") as caught:
        base.kb.section("B.99")
    assert set(caught.value.suggestions) & {"B.3", "B.4"}
    with pytest.raises(NotFound) as caught:
        base.kb.section("trust#sutep")
    assert all(base.kb.section(id_) for id_ in caught.value.suggestions)


def test_an_id_in_several_collections_must_name_one(make_base: MakeBase) -> None:
    toml = '[[collections]]\nname = "one"\nroot = "docs/one"\n[[collections]]\nname = "two"\nroot = "docs/two"\n'
    base = make_base({"one/a.md": "# A.1 One\n\nx\n", "two/a.md": "# A.1 Two\n\nx\n"}, toml=toml)
    with pytest.raises(ArgumentError, match=r"A\.1 is in several collections; name one of: A\.1@one, A\.1@two"):
        base.kb.section("A.1")
    assert base.kb.section("A.1@two").title == "Two"
    assert base.kb.section("a.md@one").title == "One"
    with pytest.raises(ArgumentError, match="several collections"):
        base.kb.section("a.md")


@pytest.mark.parametrize("wanted", ["", "  ", "a\nb", "a\0b", "../secret", "a/../../b", "/etc/passwd", "~/x", "..\\x", "x" * 513])
def test_what_can_be_no_id_is_refused_before_any_file_is_touched(make_base: MakeBase, wanted: str) -> None:
    base = make_base({"a.md": "# A\n"})
    for ask in (base.kb.section, base.kb.raw, base.kb.tree):
        with pytest.raises(ArgumentError):
            ask(wanted)
    assert not base.cache.exists()


@pytest.mark.parametrize("language", ["german", "DE", "d", "", "de-AT", "../x"])
def test_what_can_be_no_language_is_refused_before_any_file_is_touched(make_base: MakeBase, language: str) -> None:
    base = make_base({"a.md": "# A\n"})
    for ask in (base.kb.section, base.kb.raw):
        with pytest.raises(ArgumentError, match="not a language code"):
            ask("a", language=language)
    assert not base.cache.exists()


def test_a_file_that_failed_is_read_as_such(make_base: MakeBase) -> None:
    base = make_base({"bad.md": b"\x00\x01\x02\x03\x04\xff\xfe\x05" * 40})
    found = base.kb.section("bad.md")
    assert (found.id, found.title, found.status, found.body) == (None, "<failed to parse>", "<failed to parse>", "")
    (listed,) = base.kb.list().rows
    (reported,) = base.kb.status().collections[0].errors
    assert found.error is not None
    assert (found.error, "bad.md") == (listed.error, listed.source) == reported[::-1]


def test_a_file_of_front_matter_alone_is_a_node_with_a_title(make_base: MakeBase) -> None:
    base = make_base({"a.md": "---\nid: B\ntitle: Principles\n---\n", "b.md": "# B.1 One\n\nx\n"})
    found = base.kb.section("B")
    assert (found.title, found.body, [child.id for child in found.children]) == ("Principles", "", ["B.1"])


def test_html_is_read_as_text(make_base: MakeBase) -> None:
    base = make_base({"a.html": "<h1>Title</h1><p>First &amp; <b>bold</b></p><h2>Sub</h2><p>more</p>"})
    body = base.kb.section("a").body
    assert "<" not in body
    assert "First & bold" in body
    assert "more" in body


def test_a_windows_twin_reads_like_its_plain_one(make_base: MakeBase) -> None:
    plain = make_base({"trust.md": TRUST}).kb
    twin = make_base({"trust.md": b"\xef\xbb\xbf" + TRUST.replace("\n", "\r\n").encode()}).kb
    for id_ in ("B.3", "B.3.1", "trust#setup"):
        assert plain.section(id_) == twin.section(id_)
        assert plain.raw(id_).text == twin.raw(id_).text
    assert plain.search("trust").results == twin.search("trust").results


# -- raw lines ---------------------------------------------------------------------------------------------------


def test_raw_lines_are_those_of_the_file_without_front_matter(base: Base) -> None:
    window = base.kb.raw("B.3", offset=2, limit=3)
    assert (window.text, window.total) == ("\nHow trust adds up.\n\n", 15)
    assert window.as_json()["next_offset"] == 5
    assert base.kb.raw("B.3").text.startswith("# B.3 - Trust Calculus\n")


def test_numbered_lines_carry_the_next_offset(base: Base) -> None:
    assert base.kb.raw("B.3", offset=3, limit=1, numbered=True).text == "3: How trust adds up.\n"
    window = base.kb.raw("B.3", limit=4, numbered=True)
    assert [line.split(":")[0] for line in window.text.splitlines()] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(("offset", "limit", "lines"), [(0, 1, 1), (-5, 2, 2), (99, 5, 0), (1, 0, 0), (1, -3, 0), (15, 99, 1)])
def test_a_window_out_of_range_is_clamped_and_past_the_end_empty(base: Base, offset: int, limit: int, lines: int) -> None:
    assert len(base.kb.raw("B.3", offset=offset, limit=limit).lines) == lines


def test_a_window_without_raw_is_refused_word_for_word() -> None:
    with pytest.raises(ArgumentError, match=r"^offset/limit are only valid with raw=True, got offset=3, limit=None$"):
        check_window(False, 3, None, False)
    with pytest.raises(ArgumentError, match=r"^offset/limit are only valid with raw=True, got offset=None, limit=7$"):
        check_window(False, None, 7, True)
    with pytest.raises(ArgumentError, match=r"^numbered is only valid with raw=True, got numbered=True$"):
        check_window(False, None, None, True)
    assert check_window(False, None, None, False) is None


@pytest.mark.parametrize("value", ["3", 1.5, True])
def test_a_window_is_of_whole_numbers(base: Base, value: object) -> None:
    with pytest.raises(ArgumentError, match="must be a whole number"):
        base.kb.raw("B.3", offset=value)  # type: ignore[arg-type]


_LINES = st.lists(
    st.sampled_from(["", "text", "  indented", "# Title", "## B.1 Sub", "ёлка", "\ttab", "```", "x\x0cy", "\x85", "\u2028z"]),
    max_size=20,
)


@settings(max_examples=40)
@given(_LINES, st.booleans(), st.booleans(), st.integers(1, 7))
def test_joined_windows_give_the_whole(lines: list[str], final: bool, front: bool, size: int) -> None:
    body = "\n".join(lines) + ("\n" if final else "")
    text = ("---\ntitle: T\n---\n" if front else "") + body
    with temporary({"a.md": text}) as base:
        kb = base.kb
        rows = kb.list(max_results=100).rows
        for row in rows:
            assert row.id is not None
            whole = kb.raw(row.id)
            offset, joined = 1, ""
            while True:
                window = kb.raw(row.id, offset=offset, limit=size)
                joined += window.text
                following = window.as_json()["next_offset"]
                if following is None:
                    break
                assert following == offset + len(window.lines)
                offset = following
            assert joined == whole.text
            assert kb.raw(row.id, offset=offset + size).text == "" or offset + size <= whole.total
            assert joined.strip("\n") == kb.section(row.id).body
            numbered = kb.raw(row.id, numbered=True)
            assert numbered.text == "".join(f"{n}: {line}" for n, line in enumerate(whole.lines, 1))
        if rows and not any(line.startswith("#") for line in lines):
            assert kb.raw(rows[0].id or "").text.strip("\n") == body.strip("\n").rstrip()


def test_the_tree_names_the_variant_that_lies_flat_whatever_was_read_first(make_base: Callable[..., Base]) -> None:
    files = {"x.md": "---\nid: X.1\n---\n# Lone\n\nlone word\n", "ru/x.md": "---\nid: X.1\n---\n# Один\n\nодно слово\n"}
    base = make_base(files)
    assert [child.title for child in base.kb.section("X").children] == ["Lone"]
    base.write("x.md", files["x.md"] + "\nread again, after the other\n")
    assert base.kb.tree()[0].children[0].title == "Lone"


@given(st.one_of(st.text(max_size=40), st.text(st.characters(categories=["Cs", "Ll"]), min_size=1, max_size=5)))
def test_any_text_is_an_id_or_refused(text: str) -> None:
    try:
        assert check_id(text).strip().encode()
    except ArgumentError as error:
        assert "\n" not in str(error)
