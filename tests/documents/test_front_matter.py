"""Front matter is read where it is some, forgiven where it is broken, and left in the text where it is none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.documents.frontmatter import FrontMatter, split
from kb.documents.model import Name
from kb.documents.read import parse


def front(inner: str) -> FrontMatter:
    return split("a.md", f"---\n{inner}\n---\nbody\n")


def test_values_become_plain_data() -> None:
    made = front("date: 2026-07-28\nok: yes\nn: 3\nx: .nan\nlist: [1, a]\nmap: {1: b}\nraw: !!binary aGk=")
    assert made.values == {
        "date": "2026-07-28",
        "ok": True,
        "n": 3,
        "x": "nan",
        "list": [1, "a"],
        "map": {"1": "b"},
        "raw": "hi",
    }
    assert made.warnings == ()


def test_text_fields_are_text_as_written() -> None:
    made = front("id: 1.10\ntitle: 2026-01-01\ntype: 007\nstatus: yes\nparent: 1.0")
    assert (made.id, made.title, made.type, made.status, made.parent) == ("1.10", "2026-01-01", "007", "yes", "1.0")


def test_the_body_begins_after_the_closing_line() -> None:
    assert split("a.md", "---\na: b\nc: d\n...\nbody").body_line == 5


@pytest.mark.parametrize(("inner", "key", "value"), [("title: a: b", "title", "a: b"), ("path: C:\\x: y", "path", "C:\\x: y")])
def test_bad_yaml_is_read_line_by_line_with_one_warning(inner: str, key: str, value: str) -> None:
    made = front(f"type: note\n{inner}")
    assert made.values[key] == value
    assert made.type == "note"
    assert len(made.warnings) == 1
    assert made.warnings[0].startswith("a.md:3: front matter is not valid YAML")


def test_a_key_that_stands_twice_is_a_warning_where_it_stands_again() -> None:
    made = front("title: A\naliases: [one]\ntitle: B\naliases:\n- two")
    assert (made.title, [name.text for name in made.aliases]) == ("B", ["two"])
    assert made.warnings == (
        "a.md:4: title stands twice in the front matter, the last counts",
        "a.md:5: aliases stands twice in the front matter, the last counts",
    )
    inner = front("title: A\naliases:\n  en: [one]\n  de: [eins]\n  en: [two]")
    assert [name.text for name in inner.aliases] == ["two", "eins"]
    assert inner.warnings == ("a.md:6: aliases.en stands twice in the front matter, the last counts",)
    broken = front("title: A\ntitle: b: c")
    assert broken.title == "b: c"
    assert broken.warnings[1:] == ("a.md:3: title stands twice in the front matter, the last counts",)


def test_of_a_text_and_a_list_under_one_key_the_last_counts_too() -> None:
    assert front("title: A\ntitle: [B]").title is None
    assert front("title: [B]\ntitle: A").title == "A"


def test_a_windows_path_is_no_trouble() -> None:
    assert front("key: C:\\x").values == {"key": "C:\\x"}


def test_an_opening_rule_without_a_closing_one_is_text() -> None:
    made = parse("a.md", b"---\n\n# A\n\ntext\n")
    assert made.body_line == 1
    assert made.sections[0].title == "A"
    assert made.warnings == ("a.md:1: the opening --- is never closed, read as text",)


def test_what_is_no_mapping_between_two_rules_is_content() -> None:
    made = parse("a.md", b"---\n\nSome words. Others: too.\n\n---\n\nmore\n")
    assert made.body_line == 1
    assert [block.text for block in made.sections[0].blocks] == ["Some words. Others: too.", "more"]
    assert len(made.warnings) == 1


def test_empty_front_matter_is_front_matter() -> None:
    assert split("a.md", "---\n---\nx").body_line == 3


def test_four_dashes_open_nothing() -> None:
    assert split("a.md", "----\na: b\n---\n").body_line == 1


@pytest.mark.parametrize(
    ("code", "language"),
    [("de", "de"), ("DE-at", "de"), ("en_US", "en"), ("zh-Hans", "zh"), ("no", "no"), ("Russian!", None)],
)
def test_a_language_is_its_primary_tag(code: str, language: str | None) -> None:
    made = front(f"lang: {code}")
    assert made.language == language
    assert len(made.warnings) == (language is None)


@pytest.mark.parametrize("value", ["'  '", '"a\\tb"', "[a, b]", '""'])
def test_an_id_that_can_not_name_anything_is_refused_with_a_warning(value: str) -> None:
    made = front(f"type: x\nid: {value}")
    assert made.id is None
    assert [w.startswith("a.md:3: id is ") for w in made.warnings] == [True]


def test_aliases_are_a_list_or_separated_by_commas() -> None:
    assert front("aliases: [one, 2, one]").aliases == (Name("one"), Name("2"))
    assert front("aliases: one, two ,").aliases == (Name("one"), Name("two"))


def test_aliases_and_questions_may_be_given_by_language() -> None:
    made = front("aliases:\n  de-AT: [Grenze]\n  en: edge, border\nquestions:\n  ru:\n    - где граница\n")
    assert made.aliases == (Name("Grenze", "de"), Name("edge", "en"), Name("border", "en"), Name("где граница", "ru"))
    assert made.warnings == ()


def test_names_under_what_is_no_language_are_kept_with_a_warning() -> None:
    made = front("title: x\naliases:\n  old names: [edge]\n  en:\n")
    assert made.aliases == (Name("edge"),)
    assert [w.startswith("a.md:3: aliases: old names is no language code") for w in made.warnings] == [True]


def test_sort_order_is_a_finite_number() -> None:
    assert front("sort_order: 2.5").sort_order == 2.5
    bad = front("sort_order: first")
    assert bad.sort_order is None
    assert bad.warnings == ("a.md:2: sort_order first is not a number, ignored",)


@pytest.mark.parametrize(
    "inner",
    [
        "a: &a [*a]",
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)),
        "a: " + "[" * 30_000,
        "a: " + "[" * 500 + "]" * 500,
        "- " * 30_000,
        "a: b\n" * 20_000,
        "a: !!python/object/apply:os.system [x]",
    ],
)
def test_hostile_front_matter_is_refused_and_the_text_still_read(inner: str) -> None:
    made = parse("a.md", f"---\n{inner}\n---\n# A\n\nbody\n".encode())
    assert made.error is None
    assert len(made.warnings) == 1
    assert "body" in [block.text for section in made.sections for block in section.blocks]


@settings(deadline=None)
@given(st.text(max_size=80))
def test_anything_between_the_rules_gives_json_and_no_exception(inner: str) -> None:
    made = parse("a.md", f"---\n{inner}\n---\nlast words\n".encode("utf-8", "replace"))
    json.dumps(dict(made.front_matter), allow_nan=False).encode("utf-8")
    if made.error is None:
        assert made.sections[-1].blocks[-1].text.endswith("last words") or made.body_line == 1


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["id", "title", "lang", "aliases", "sort_order", "x"]), st.text(max_size=20)))
def test_quoted_values_come_back(values: dict[str, str]) -> None:
    made = front("\n".join(f"{key}: {json.dumps(value)}" for key, value in values.items()))
    assert made.values.keys() == values.keys()
    if "x" in values:
        assert made.values["x"] == values["x"].encode("utf-8", "replace").decode()
