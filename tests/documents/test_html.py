"""HTML files give the same kind of sections as Markdown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.documents.model import Document
from kb.documents.read import parse


def page(text: str) -> Document:
    return parse("page.html", text.encode())


def blocks(text: str, section: int = 0) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in page(text).sections[section].blocks]


def test_headings_cut_by_their_level() -> None:
    made = page("<h1>A</h1>\n<p>x</p>\n<h2>B</h2>\n<p>y</p>\n<h2>C</h2>\n")
    assert [(s.id, s.title, s.level, s.lines, s.parent) for s in made.sections] == [
        ("page", "A", 1, (1, 5), None),
        ("page#b", "B", 2, (3, 4), 0),
        ("page#c", "C", 2, (5, 5), 0),
    ]


def test_a_dotted_identifier_in_a_heading_is_the_id_and_the_attribute_is_not() -> None:
    section = page('<h1 id="x"><b>B.3</b> - Trust</h1>').sections[0]
    assert (section.id, section.title) == ("B.3", "Trust")


def test_every_kind_of_block_is_one_block() -> None:
    text = (
        "<h1>A</h1><p>one <b>bo</b>ld<br>next</p><ul><li>item<li>two</ul><blockquote>said</blockquote>"
        "<pre>\n a\n  b\n</pre><dl><dt>t<dd>d</dl><figure><figcaption>cap</figcaption></figure><div>loose</div>{ph}"
    )
    assert blocks(text) == [
        ("paragraph", "one bold\nnext"),
        ("list", "item"),
        ("list", "two"),
        ("quote", "said"),
        ("code", " a\n  b"),
        ("list", "t"),
        ("list", "d"),
        ("paragraph", "cap"),
        ("paragraph", "loose"),
        ("placeholder", "{ph}"),
    ]


def test_a_table_is_one_block_with_a_line_a_row() -> None:
    text = "<h1>A</h1><table><caption>Cap</caption><tr><th>a<th>b<tr><td>1<td><p>2</p><p>3</p></table>"
    assert blocks(text) == [("paragraph", "Cap"), ("table", "a | b\n1 | 2 3")]


def test_a_table_in_a_table_is_text_of_its_cell() -> None:
    text = "<h1>A</h1><table><tr><td>1</td><td><table><tr><td>in</td></tr></table></td></tr></table><p>out</p>"
    assert blocks(text) == [("table", "1 | in"), ("paragraph", "out")]


def test_scripts_styles_templates_graphics_and_comments_are_dropped() -> None:
    text = (
        "<h1>A</h1><script>if (a<b) '<h1>no</h1>'</script><style>p{}</style><template><p>no</p></template>"
        "<noscript>no</noscript><svg><title>no</title><text>no</text></svg><!-- <h2>no</h2> --><p>yes</p>"
    )
    assert blocks(text) == [("paragraph", "yes")]
    assert len(page(text).sections) == 1


def test_the_head_gives_title_and_language_only() -> None:
    made = page('<html lang="de-AT"><head><title>T &amp; x</title><meta name=a content=b></head><body><p>x</p></body></html>')
    assert (made.title, made.language) == ("T & x", "de")
    assert [block.text for block in made.sections[0].blocks] == ["x"]


def test_a_main_heading_is_a_better_title_than_the_heads() -> None:
    assert page("<title>Site</title><h1>A</h1>").title == "A"


def test_a_head_that_is_never_closed_hides_nothing() -> None:
    assert page("<head><title>T</title><body><p>x</p></head>").sections[0].blocks[0].text == "x"


def test_an_unclosed_template_hides_nothing() -> None:
    assert blocks("<h1>A</h1><template><p>x</p>") == [("paragraph", "x")]


def test_entities_are_decoded_and_white_space_collapsed() -> None:
    assert blocks("<h1>A</h1><p>a&nbsp;&lt;b&gt;\n\n  c&#x41;&#xD800;</p>") == [("paragraph", "a <b> cA\ufffd")]


def test_an_image_gives_its_alternative_text() -> None:
    assert blocks('<h1>A</h1><p>see<img src=x alt="the map">there</p>') == [("paragraph", "see the map there")]


def test_front_matter_above_html_is_honoured() -> None:
    made = page("---\ntitle: T\nid: X.1\n---\n<h1>A</h1>\n<p>x</p>\n")
    assert (made.title, made.sections[0].id, made.sections[0].lines) == ("T", "X.1", (5, 6))


def test_lines_of_blocks_are_lines_of_the_file() -> None:
    made = page("<h1>\nA\n</h1>\n<p>\n one\n two\n</p>\n\n<pre>x\ny</pre>\n")
    assert [block.lines for block in made.sections[0].blocks] == [(5, 6), (9, 10)]


def test_a_heading_that_is_never_closed_ends_at_the_next_block() -> None:
    assert blocks("<h1>A<p>text") == [("paragraph", "text")]


def test_conditional_marks_and_broken_tags_do_no_harm() -> None:
    text = "<!doctype html><![endif]--><![foo[ ]]><h1>A</h1><p>a < b</x> <![CDATA[ c ]]></p><p>tail <!-- open <b"
    assert page(text).error is None
    assert blocks(text)[-1][1].startswith("tail")


def test_hostile_pages_are_read_to_their_end() -> None:
    many = 100_000
    for text in (
        "<div>" * many + "x",
        "<div>" * many + "</span>" * many,
        "<!--" * many,
        "<!-- a " * many + ">",
        "<a " * many,
        "<a " * many + ">",
        '<a x="' * many,
        "<!" * many,
        "<?" * many,
        "<![x" * many,
        "<![CDATA[" * many,
        "<script>" * many,
        "<svg>" * many,
        "&" * many,
        "</" * many,
        "<table><tr><td>" * many,
        "<a" + "/" * many + ">",
        "<a" + " =" * many + ">",
        "<title>" * many,
        "<h1>a" * 10_000,
        "x" * 4_000_000,
    ):
        assert page(text).error is None


_PIECES = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<h1>",
        "</h1>",
        "<h2>",
        "</h2>",
        "<table>",
        "</table>",
        "<tr>",
        "<td>",
        "</td>",
        "<ul>",
        "</ul>",
        "<li>",
        "<pre>",
        "</pre>",
        "<div>",
        "</div>",
        "<b>",
        "</b>",
        "<br>",
        "<caption>",
        "</caption>",
        "<blockquote>",
        "W",
        "W",
        "W",
        "\n",
    ]
)


@settings(deadline=None)
@given(st.lists(_PIECES, max_size=25))
def test_every_word_lands_in_exactly_one_section(pieces: list[str]) -> None:
    words = [f" w{number}q " for number in range(len(pieces))]
    text = "".join(word if piece == "W" else piece for piece, word in zip(pieces, words, strict=True))
    found = [" ".join([s.title, *(block.text for block in s.blocks)]) for s in page(text).sections]
    for piece, word in zip(pieces, words, strict=True):
        assert sum(f" {part} ".replace("\n", " ").count(word.strip()) for part in found) == (piece == "W"), text
