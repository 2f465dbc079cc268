"""Lists: hit-level sections, one row an id, natural order, filters, pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bases import Base
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import ArgumentError
from kb.reading.order import natural

MakeBase = Callable[..., Base]
FILES = {
    "a.md": "---\ntype: note\nstatus: draft\nupdated: 2026-03-01\ntags: [red, green]\npublic: true\n---\n# B.10 Ten\n\nx\n",
    "b.md": "---\ntype: rule\nstatus: final\ndate: 2026-01-15\nscheme: sepa\n---\n"
    "# B.2 Two\n\nx\n\n## Inner\n\nx\n\n### Deep\n\nx\n",
    "ru/a.md": "---\nlang: ru\n---\n# B.10 Десять\n\nи\n",
    "notes/c.md": "# C\n\nx\n",
}


def ids(base: Base, **options: object) -> list[str | None]:
    return [row.id for row in base.kb.list(**options).rows]  # type: ignore[arg-type]


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    return make_base(FILES)


def test_rows_are_hits_one_an_id_in_natural_order(base: Base) -> None:
    answer = base.kb.list()
    assert [row.id for row in answer.rows] == ["b#inner", "B.2", "B.10", "notes/c"]
    assert (answer.total, answer.truncated, answer.error_count) == (4, False, 0)
    ten = answer.rows[2]
    assert (ten.title, ten.languages, ten.source) == ("Ten", ("en", "ru"), "a.md")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"types": ["note"]}, ["B.10"]),
        ({"types": ["note", "rule"]}, ["b#inner", "B.2", "B.10"]),
        ({"status": "final"}, ["b#inner", "B.2"]),
        ({"since": "2026-02-01"}, ["B.10"]),
        ({"since": "2026-01-15"}, ["b#inner", "B.2", "B.10"]),
        ({"where": [("scheme", "sepa")]}, ["b#inner", "B.2"]),
        ({"where": [("tags", "green")]}, ["B.10"]),
        ({"where": [("public", "true")]}, ["B.10"]),
        ({"where": [("scheme", "other")]}, []),
        ({"glob": "notes/*.md"}, ["notes/c"]),
        ({"glob": "*.md", "types": ["rule"], "where": [("scheme", "sepa")]}, ["b#inner", "B.2"]),
    ],
)
def test_filters_narrow(base: Base, options: dict[str, object], expected: list[str]) -> None:
    assert ids(base, **options) == expected


def test_pages_join_to_the_whole(base: Base) -> None:
    whole = ids(base, max_results=100)
    for size in (1, 2, 3):
        joined, offset = [], 0
        while True:
            page = base.kb.list(offset=offset, max_results=size)
            joined += [row.id for row in page.rows]
            assert page.truncated == (len(joined) < len(whole))
            offset += len(page.rows)
            if not page.truncated:
                break
        assert joined == whole
    assert base.kb.list(offset=99).rows == ()


@pytest.mark.parametrize(
    "options", [{"max_results": 0}, {"max_results": 101}, {"offset": -1}, {"since": "yesterday"}, {"collections": ["nope"]}]
)
def test_what_can_not_be_asked_is_refused_before_any_file_is_touched(make_base: MakeBase, options: dict[str, object]) -> None:
    base = make_base(FILES)
    with pytest.raises(ArgumentError):
        base.kb.list(**options)  # type: ignore[arg-type]
    assert not base.cache.exists()


def test_an_unknown_type_is_an_error_that_lists_the_known(base: Base) -> None:
    with pytest.raises(ArgumentError, match="unknown type 'nope'; there are: note, rule"):
        base.kb.list(types=["nope"])
    with pytest.raises(ArgumentError, match="unknown status 'nope'; there are: "):
        base.kb.list(status="nope")


def test_files_that_failed_come_first_and_are_counted(make_base: MakeBase) -> None:
    base = make_base({**FILES, "zz.md": b"\x00\x01\x02\x03\x04\xff\xfe\x05" * 40})
    answer = base.kb.list()
    assert (answer.rows[0].id, answer.rows[0].title, answer.rows[0].source) == (None, "<failed to parse>", "zz.md")
    assert (answer.error_count, answer.total) == (1, 5)
    assert [row.source for row in base.kb.list(status="<failed to parse>").rows] == ["zz.md"]


def test_numbers_count_by_their_value() -> None:
    assert sorted(["B.10", "B.2", "b.1", "B.2.10", "B.2.9", "A", "1.10", "1.9"], key=natural) == [
        "1.9", "1.10", "A", "b.1", "B.2", "B.2.9", "B.2.10", "B.10",
    ]  # fmt: skip


@given(st.lists(st.text(max_size=12), max_size=12))
def test_any_texts_can_be_ordered(texts: list[str]) -> None:
    sorted(texts, key=natural)
