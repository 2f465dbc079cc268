"""Markdown files become sections cut at the document's own headings, and blocks that lose no text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.documents.model import Document
from kb.documents.read import parse


def document(text: str, source: str = "guide.md") -> Document:
    return parse(source, text.encode())


def titles(text: str) -> list[str]:
    return [section.title for section in document(text).sections]


def blocks(text: str, section: int = 0) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in document(text).sections[section].blocks]


def test_a_number_sign_inside_a_fence_is_not_a_heading() -> None:
    assert titles("# A\n\n```\n# not a heading\n```\n\n# B\n") == ["A", "B"]


def test_a_number_sign_inside_a_tilde_fence_is_not_a_heading() -> None:
    assert titles("# A\n~~~\n# no\n```\n# no\n~~~\n# B\n") == ["A", "B"]


def test_a_fence_ends_only_at_a_fence_as_long_as_its_own() -> None:
    assert titles("# A\n````\n```\n# no\n`````\n# B\n") == ["A", "B"]


def test_indented_code_holds_no_heading() -> None:
    assert titles("# A\n\n    # no\n\n# B\n") == ["A", "B"]


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert titles("# A\n```\n# no\n\n# no\n") == ["A"]


def test_a_comment_holds_no_heading_and_is_no_content() -> None:
    text = "# A\n\n<!--\n# no\n\nhidden\n-->\n\nseen\n"
    assert titles(text) == ["A"]
    assert blocks(text) == [("paragraph", "seen")]


def test_a_comment_inside_a_line_is_dropped_but_not_inside_a_code_span() -> None:
    assert blocks("# A\nsee <!-- hidden --> `<!-- code -->` this\n") == [("paragraph", "see  `<!-- code -->` this")]


def test_a_comment_that_is_never_closed_is_reported_with_its_line() -> None:
    made = document("# A\n\ntext\n\n<!-- open\n\n# no\n")
    assert [section.title for section in made.sections] == ["A"]
    assert made.warnings == ("guide.md:5: comment is never closed, the rest of the file is left out",)


def test_underlined_headings_cut_like_any_other() -> None:
    made = document("Title\n=====\n\ntext\n\nPart\ntwo\n---\nmore\n")
    assert [(s.title, s.level, s.lines) for s in made.sections] == [("Title", 1, (1, 9)), ("Part two", 2, (6, 9))]


def test_a_link_definition_above_a_rule_is_not_a_heading() -> None:
    assert titles('# A\n\n[x]: https://example.org "T"\n---\ntext\n') == ["A"]


def test_headings_inside_quotes_and_lists_are_content() -> None:
    assert titles("# A\n> # quoted\n\n- # item\n\n## B\n") == ["A", "B"]


def test_a_heading_after_a_very_deep_list_still_cuts() -> None:
    deep = "\n".join("  " * depth + "- item" for depth in range(200))
    assert titles(f"# A\n{deep}\n# B\n") == ["A", "B"]


def test_a_first_heading_with_nothing_before_it_is_the_root() -> None:
    made = document("# A\ntext\n## B\n")
    assert [(s.id, s.level, s.parent) for s in made.sections] == [("guide", 1, None), ("guide#b", 2, 0)]


def test_text_before_the_first_heading_belongs_to_a_root_above_all_headings() -> None:
    made = document("intro\n\n# A\n## B\n# C\n", "notes/First Steps.md")
    assert [(s.title, s.level, s.parent) for s in made.sections] == [
        ("First Steps", 0, None),
        ("A", 1, 0),
        ("B", 2, 1),
        ("C", 1, 0),
    ]


def test_a_badge_without_text_before_the_heading_leaves_the_heading_as_root() -> None:
    assert document('<p align="center"><img src="x.png"></p>\n\n# A\n').sections[0].level == 1


def test_several_main_headings_are_siblings_of_the_root() -> None:
    assert [s.parent for s in document("# A\n## B\n# C\n## D\n").sections] == [None, 0, None, 2]


def test_lines_of_a_section_reach_over_its_subsections_and_no_blank_end() -> None:
    made = document("# A\n\n## B\ntext\n\n\n## C\nx\n\n")
    assert [s.lines for s in made.sections] == [(1, 8), (3, 4), (7, 8)]


def test_front_matter_shifts_the_lines() -> None:
    made = document("---\ntitle: T\n---\n\n# A\n\ntext\n")
    assert made.body_line == 4
    assert made.sections[0].lines == (5, 7)
    assert made.sections[0].blocks[0].lines == (7, 7)


def test_the_title_of_the_document_is_the_front_matters_and_the_sections_its_heading() -> None:
    made = document("---\ntitle: T\n---\n# A\n")
    assert (made.title, made.sections[0].title) == ("T", "A")


def test_a_title_is_plain_text() -> None:
    raw = "# **Bold** `code` [link](x.md) [ref][r] ![pic](p.png) &amp; a\\_b <b>c</b> Vec<T> snake_case ##\n"
    assert titles(raw) == ["Bold code link ref pic & a_b c Vec<T> snake_case"]


def test_a_heading_without_text_gets_a_title() -> None:
    assert titles("#\n\n##\n") == ["guide", "Untitled section"]


def test_a_placeholder_line_is_a_block_of_its_own() -> None:
    assert blocks("# A\nfirst\n{fill in}\nlast\n\n{{ more }}\n") == [
        ("paragraph", "first"),
        ("placeholder", "{fill in}"),
        ("paragraph", "last"),
        ("placeholder", "{{ more }}"),
    ]


def test_a_rule_is_nothing_and_the_text_between_rules_is_content() -> None:
    assert blocks("# A\n\n---\n\nbetween\n\n***\n") == [("paragraph", "between")]


def test_a_table_is_one_block_as_written() -> None:
    table = "| a | b |\n|---|:-:|\n| c | d \\| e |"
    assert blocks(f"# A\n\n{table}\n\nafter\n") == [("table", table), ("paragraph", "after")]


def test_a_short_list_is_one_block() -> None:
    assert blocks("# A\n- a\n- b\n  - c\n") == [("list", "- a\n- b\n  - c")]


def test_a_long_list_is_a_block_an_item() -> None:
    item = "- " + "word " * 40 + "\n  - nested"
    assert [kind for kind, _ in blocks(f"# A\n{item}\n{item}\n")] == ["list", "list"]


def test_a_fence_is_one_block_with_its_marks() -> None:
    assert blocks("# A\n```python\nx = 1\n\ny = 2\n```\n") == [("code", "```python\nx = 1\n\ny = 2\n```")]


def test_an_html_block_gives_its_text() -> None:
    text = "# A\n<details>\n<summary>More &amp; <b>more</b></summary>\n<script>no()</script>\n</details>\n"
    assert blocks(text) == [("html", "More & more")]


def test_a_block_in_angle_brackets_that_is_no_html_stays() -> None:
    assert blocks("# A\n\n<your-name>\n") == [("html", "<your-name>")]


def test_empty_files_and_front_matter_alone_have_no_sections() -> None:
    for text in ("", "\n\n", "---\ntitle: T\n---\n", "<!-- only -->\n", "---\n\n"):
        assert document(text).sections == ()
        assert document(text).error is None


_WORD_PLACES = [
    "# {}",
    "## {} ##",
    "### *{}* `{}`",
    "{}\n===",
    "{} {}\n---",
    "{}",
    "  {} {}",
    "- {}\n- {}",
    "* {}\n\n  {}",
    "1. {}",
    "> {}\n{}",
    "```\n{}\n```",
    "~~~ {}\n# {}",
    "    {}",
    "| {} | {} |\n|---|---|\n| {} | {} |",
    "<div>{}</div>",
    "<b>\n{}",
    "{{{}}}",
    "***",
    "---",
    "{}  \n{}",
    "[{}]: {}",
    "- > {}\n  ```\n  {}",
    "\t{}",
    "{}|{}\n-|-",
    "<p>\n\n{}",
    "-->{}",
]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_WORD_PLACES), st.sampled_from(["\n", "\n\n", "\n\n\n"])), max_size=14))
def test_every_word_lands_in_exactly_one_section(places: list[tuple[str, str]]) -> None:
    words: list[str] = []
    text = ""
    for place, end in places:
        new = [f"w{len(words) + n}q" for n in range(place.count("{}"))]
        words += new
        text += place.format(*new) + end
    made = document(text)
    found = [" ".join([s.title, *(block.text for block in s.blocks)]) for s in made.sections]
    for word in words:
        assert sum(part.count(word) for part in found) == 1, (word, text)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("#-=*_`~>|:[]()<!{}\\ \n\tabc1.&;\"'"), max_size=200))
def test_any_text_is_parsed_and_its_lines_stay_in_order(text: str) -> None:
    made = document(text)
    assert made.error is None
    count = made.text.count("\n") + 1
    at = 0
    for section in made.sections:
        assert 1 <= section.lines[0] <= section.lines[1] <= count
        for first, last in [block.lines for block in section.blocks]:
            assert at < first <= last <= section.lines[1] or at <= first <= last
            at = first
    assert len({section.id for section in made.sections}) == len(made.sections)


def test_hostile_text_is_read_to_its_end() -> None:
    many = 100_000
    for text in (
        ">" * many,
        "> " * many,
        "[" * many,
        "# " + "[" * 990,
        "# " + "*a_" * 320,
        "- " * many,
        "a" * 4_000_000,
        "```\n" + "x\n" * many,
        "a\n" * many,
        "x <!-- \n" * many,
        "<a " * many,
        "|" * many + "\n|-|",
        "`" * many,
        "\n".join(" " * (i % 300) + "> - 1. x" for i in range(5000)),
        "[a]: b\n" * many + "---",
        "{" * many,
        "# " + " " * many + "x" + "#" * many,
        "# r\n" + "## s\nx\n" * 10_000,
    ):
        assert document(text).error is None
