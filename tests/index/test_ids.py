"""Who gets an id that several documents want, and what lies above it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bases import Base
from hypothesis import given
from hypothesis import strategies as st

from kb.index.ids import Claim, assign, group_number, nearest, parent, prefixes, without_number

MakeBase = Callable[..., Base]


def test_the_first_by_path_keeps_an_id() -> None:
    claims = [Claim("b.md", "b.md", "en"), Claim("a.md", "a.md", "en"), Claim("c.md", "c.md", "en")]
    assert assign("B.3", claims) == {"a.md": "B.3", "b.md": "B.3-2", "c.md": "B.3-3"}


def test_language_variants_share_an_id() -> None:
    claims = [Claim("a.md", "a.md", "en"), Claim("ru/a.md", "a.md", "ru"), Claim("z.md", "z.md", "en")]
    assert assign("B.3", claims) == {"a.md": "B.3", "ru/a.md": "B.3", "z.md": "B.3-2"}


def test_the_same_language_twice_is_no_variant() -> None:
    claims = [Claim("a.md", "a.md", "en"), Claim("ru/a.md", "a.md", "en")]
    assert assign("B.3", claims) == {"a.md": "B.3", "ru/a.md": "B.3-2"}


def test_a_number_never_takes_an_id_that_is_wanted() -> None:
    claims = [Claim("a.md", "a.md", "en"), Claim("b.md", "b.md", "en")]
    assert assign("B.3", claims, ["B.3-2"]) == {"a.md": "B.3", "b.md": "B.3-3"}


@given(st.permutations([Claim(f"{n}.md", f"{n % 3}.md", "en" if n < 4 else "de") for n in range(7)]))
def test_the_order_of_claims_does_not_matter(claims: list[Claim]) -> None:
    assert assign("X", claims) == assign("X", sorted(claims, key=lambda claim: claim.source))


@pytest.mark.parametrize(
    ("id_", "name"), [("guide-2", "guide"), ("guide", "guide"), ("a-b", "a-b"), ("-2", "-2"), ("x-2-3", "x-2")]
)
def test_an_id_without_its_number(id_: str, name: str) -> None:
    assert without_number(id_) == name


def test_prefixes_come_nearest_first() -> None:
    assert prefixes("B.3:1.2") == ["B.3:1", "B.3", "B"]
    assert prefixes("B") == []
    assert prefixes(".x") == []


def test_a_dotted_id_lies_under_the_nearest_that_exists() -> None:
    assert parent("B.3.1", True, "doc", nearest("B.3.1", {"B": 1, "B.3": 1})) == "B.3"
    assert parent("B.3.1", True, "doc", nearest("B.3.1", {"B": 1})) == "B"
    assert parent("B.3.1", True, "doc", nearest("B.3.1", {})) == "doc"
    assert parent("B.3.1", True, None, nearest("B.3.1", {})) == "B.3"
    assert parent("doc#setup", False, "doc", nearest("doc#setup", {"B": 1})) == "doc"


def test_a_group_is_of_one_collection() -> None:
    assert group_number("one", "B.3") == group_number("one", "B.3")
    assert group_number("one", "B.3") != group_number("two", "B.3")


def test_a_contested_id_is_reported_and_both_sections_are_read(make_base: MakeBase) -> None:
    base = make_base({"b.md": "# B.3 Second\n\nbeta\n", "a.md": "# B.3 First\n\nalpha\n"})
    kb = base.kb
    assert (kb.section("B.3").title, kb.section("B.3-2").title) == ("First", "Second")
    assert kb.status().collections[0].clashes == (("B.3", ("a.md", "b.md")),)


def test_an_id_comes_back_when_its_holder_goes(make_base: MakeBase) -> None:
    base = make_base({"b.md": "# B.3 Second\n\nbeta\n", "a.md": "# B.3 First\n\nalpha\n"})
    assert base.ids("beta") == ["B.3-2"]
    (base.root / "a.md").unlink()
    assert base.ids("beta") == ["B.3"]
    base.write("0.md", "# B.3 New\n\ngamma\n")
    assert base.ids("beta") == ["B.3-2"]
    assert base.ids("gamma") == ["B.3"]


def test_two_headings_of_one_name_have_two_ids_that_stay(make_base: MakeBase) -> None:
    text = "# Guide\n\n## Install\n\n### Setup\n\nalpha\n\n## Use\n\n### Setup\n\nbeta\n"
    base = make_base({"guide.md": text})
    kb = base.kb
    first, second = kb.section("guide#install/setup"), kb.section("guide#use/setup")
    assert ("alpha" in first.body, "beta" in second.body) == (True, True)
    base.write("guide.md", "Intro.\n\n" + text.replace("## Use", "New text.\n\n## Use"))
    assert kb.section("guide#install/setup").body == first.body.replace("alpha", "alpha\n\nNew text.").strip()
    assert kb.section("guide#use/setup").body == second.body


def test_different_words_have_different_slugs(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Документ\n\n## Граница\n\nодин\n\n## Роль\n\nдва\n"})
    assert base.ids("один") != base.ids("два")
    assert base.ids("один") == ["a#granitsa"]
