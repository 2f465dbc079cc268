"""Section ids: written ones kept, derived ones stable and different."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.documents.ids import document_id, dotted
from kb.documents.read import parse
from kb.documents.slugs import slug


def ids(text: str, source: str = "guide.md") -> list[str]:
    return [section.id for section in parse(source, text.encode()).sections]


@pytest.mark.parametrize(
    ("heading", "identifier", "title"),
    [
        ("B.3 - Trust", "B.3", "Trust"),
        ("B.3", "B.3", "B.3"),
        ("C.2.2a — Modes", "C.2.2a", "Modes"),
        ("A.19.CHR: Spaces", "A.19.CHR", "Spaces"),
        ("B.3:4.1 – Deep", "B.3:4.1", "Deep"),
        ("E.14:End", "E.14:End", "E.14:End"),
        ("U.BoundedContext", "U.BoundedContext", "U.BoundedContext"),
        ("B.3 Trust", "B.3", "Trust"),
        ("Node.js basics", None, "Node.js basics"),
        ("example.com", None, "example.com"),
        ("config.yaml: keys", None, "config.yaml: keys"),
        ("U.S. policy", None, "U.S. policy"),
        ("e.g. this", None, "e.g. this"),
        ("1.2 Zweck", None, "1.2 Zweck"),
        ("Plain words", None, "Plain words"),
        ("B.3/4 half", None, "B.3/4 half"),
    ],
)
def test_a_dotted_identifier_opens_the_heading(heading: str, identifier: str | None, title: str) -> None:
    assert dotted(heading) == (identifier, title)


@pytest.mark.parametrize("heading", ["**B.3** - Trust", "`B.3` - Trust", "B.3 - **Trust**", "**B.3 - Trust**"])
def test_an_identifier_is_kept_inside_markup(heading: str) -> None:
    section = parse("a.md", f"# {heading}\n".encode()).sections[0]
    assert (section.id, section.title, section.explicit) == ("B.3", "Trust", True)


def test_front_matter_names_the_root_section() -> None:
    made = parse("a.md", b"---\nid: scheme:1:2\n---\n# B.3 - Trust\n\n## Sub\n")
    assert [(s.id, s.explicit) for s in made.sections] == [("scheme:1:2", True), ("a#sub", False)]
    assert made.sections[0].title == "B.3 - Trust"


def test_front_matter_that_repeats_the_headings_identifier_leaves_the_title_bare() -> None:
    section = parse("a.md", b"---\nid: B.3\n---\n# B.3 - Trust\n").sections[0]
    assert (section.id, section.title) == ("B.3", "Trust")


def test_a_derived_id_is_path_and_heading() -> None:
    assert ids("# Роль\n## Größe der Straße\n", "Глава 1/Обзор.md") == [
        "glava-1/obzor",
        "glava-1/obzor#groesse-der-strasse",
    ]


def test_a_numeric_heading_keeps_its_number_inside_the_document() -> None:
    assert ids("# A\n## 1.2 Zweck\n## 1.3. Ziel\n## 2 Rest\n") == ["guide", "guide#1.2", "guide#1.3", "guide#2-rest"]


def test_a_repeated_heading_is_told_apart_by_its_parent() -> None:
    text = "# A\n## Linux\n### Setup\n## Windows\n### Setup\n"
    assert ids(text)[2::2] == ["guide#linux/setup", "guide#windows/setup"]


def test_a_repeated_heading_climbs_as_far_as_it_must() -> None:
    text = "# A\n## X\n### P\n#### S\n## Y\n### P\n#### S\n"
    assert [name for name in ids(text) if name.endswith("/s")] == ["guide#x/p/s", "guide#y/p/s"]


def test_what_no_parent_tells_apart_gets_a_number() -> None:
    assert ids("# A\n## Setup\na\n## Setup\nb\n## Setup\n") == [
        "guide",
        "guide#setup",
        "guide#setup-2",
        "guide#setup-3",
    ]


def test_a_number_never_takes_the_id_of_another_heading() -> None:
    assert ids("# A\n## Setup\n## Setup\n## Setup 2\n") == ["guide", "guide#setup", "guide#setup-3", "guide#setup-2"]


def test_different_headings_with_one_slug_are_told_apart() -> None:
    assert ids("# A\n## C++\n## C#\n") == ["guide", "guide#c", "guide#c-2"]


def test_ids_stay_when_text_is_added_above() -> None:
    text = "# A\n## One\n### Setup\n## Two\n### Setup\n"
    longer = text.replace("## One", "new text\n\n## New part\n\n## One")
    assert set(ids(text)) < set(ids(longer))


def test_a_repeated_written_id_stays_with_the_first_and_is_reported() -> None:
    made = parse("a.md", b"# B.3 - One\n\n# B.3 - Two\n# B.3 - Three\n")
    assert [s.id for s in made.sections] == ["B.3", "B.3-2", "B.3-3"]
    assert made.warnings[0] == "a.md:3: id B.3 stands in this file already, this one became B.3-2"


def test_written_ids_keep_their_case() -> None:
    assert ids("# b.3 x\n# B.3 x\n") == ["b.3", "B.3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Größe ÄÖÜ", "groesse-aeoeue"),
        ("gro\u0308\u00dfe", "groesse"),
        ("STRAẞE", "strasse"),
        ("Граница", "granitsa"),
        ("Роль", "rol"),
        ("Don't panic", "don-t-panic"),
        ("a_b  c", "a-b-c"),
        ("1.2 x", "1-2-x"),
    ],
)
def test_slugs_are_lower_case_ascii(text: str, expected: str) -> None:
    assert slug(text) == expected


def test_a_composed_and_a_decomposed_letter_give_one_slug() -> None:
    assert slug("Йод") == slug("И\u0306од")


def test_symbols_alone_give_a_stable_hash() -> None:
    assert re.fullmatch("x[0-9a-f]{8}", slug("🐘"))
    assert slug("🐘") != slug("🦒")


def test_a_very_long_heading_gives_a_short_slug_of_its_own() -> None:
    assert len(slug("word " * 1000 + "a")) < 120
    assert slug("word " * 1000 + "a") != slug("word " * 1000 + "b")


def test_ukrainian_letters_are_read_as_ukrainian_when_asked() -> None:
    assert (slug("гриб", "uk"), slug("гриб")) == ("hryb", "grib")


def test_only_known_suffixes_leave_the_document_id() -> None:
    assert [document_id(p) for p in ("a/B.md", "a.b.html", "🐘.md", "документ №1.md")] == [
        "a/b",
        "a-b",
        slug("🐘"),
        "dokument-no1",
    ]


@settings(deadline=None)
@given(st.text())
def test_any_text_has_a_slug_that_is_an_id(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", slug(text))


_HEADINGS = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(["Setup", "Setup 2", "A.1 - x", "1.2 y", "C++", "C", "🐘", "", "Роль"])),
    max_size=12,
)


@settings(deadline=None)
@given(_HEADINGS)
def test_ids_of_one_document_are_different(headings: list[tuple[int, str]]) -> None:
    made = ids("".join(f"{'#' * level} {text}\n" for level, text in headings))
    assert len(set(made)) == len(made)


@settings(deadline=None)
@given(_HEADINGS, st.integers(0, 12))
def test_adding_text_changes_no_id(headings: list[tuple[int, str]], place: int) -> None:
    lines = [f"{'#' * level} {text}\n" for level, text in headings]
    if not lines:
        return
    before = ids("".join(lines))
    place = 1 + place % len(lines)
    assert ids("".join([*lines[:place], "\nmore text\n\n", *lines[place:]])) == before
