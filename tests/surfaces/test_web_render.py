from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kb.surfaces.web.render import html, link, sanitised

from .served import HOSTILE, Served

FORBIDDEN = re.compile(
    r"<\s*(script|style|iframe|object|embed|form|input|img|svg|link|meta|base)\b|\son\w+\s*=|javascript:|data:", re.I
)


def test_markdown_becomes_html() -> None:
    out = html("# A\n\nSome *words* and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n~~gone~~", "a.md", "docs")
    assert "<h1>A</h1>" in out
    assert "<em>words</em>" in out
    assert "<td>1</td>" in out
    assert "<s>gone</s>" in out


def test_nothing_that_runs_or_loads_survives() -> None:
    out = html(HOSTILE, "hostile.md", "docs")
    assert not any(FORBIDDEN.search(tag) for tag in re.findall(r"<[^>]*>", out))
    assert "window.hacked = true" not in out
    assert "pixel.png" not in out
    assert 'class="image"' in out
    assert "style=" not in out
    assert 'id="main"' not in out


def test_links_lead_to_the_web_to_sections_or_nowhere() -> None:
    assert link("https://example.org/a", "a.md", "docs") == "https://example.org/a"
    assert link("mailto:a@example.org", "a.md", "docs") == "mailto:a@example.org"
    assert link("b.md", "light/a.md", "docs") == "/section/light%2Fb.md%40docs"
    assert link("../b.md#part", "light/a.md", "docs") == "/section/b.md%40docs"
    for href in (
        "javascript:alert(1)",
        "data:text/html,x",
        "../../b.md",
        "/etc/passwd",
        "//evil.example/a.md",
        "file:///a.md",
        "b.exe",
        "#x",
    ):
        assert link(href, "light/a.md", "docs") is None, href


def test_a_malformed_address_is_no_error() -> None:
    assert "href" not in html('<a href="http://[::1">x</a>', "a.md", "docs")
    assert link("http://[::1", "a.md", "docs") is None


@given(st.text(st.sampled_from("<>/\"'=()[]!#`*_-|:\n scriptonjavasdataimghref&;\\x00"), max_size=120))
def test_no_text_smuggles_in_anything_that_runs(text: str) -> None:
    out = html(text, "a.md", "docs")
    for tag in re.findall(r"<[^>]*>", out):
        assert not FORBIDDEN.search(tag)


def test_a_rendered_section_holds_its_place_and_no_raw_text(served: Served) -> None:
    body = served.ask("/render/harbour%23crane-rope").json
    assert [node["id"] for node in body["trail"]] == ["H", "H.1", "harbour#crane"]
    assert "<p>Ropes are checked weekly.</p>" in body["html"]
    assert "body" not in body


def test_a_very_long_section_is_rendered_in_part_until_all_is_asked_for(served: Served) -> None:
    part = served.ask("/render/table.md").json
    assert part["shown"] < part["characters"]
    assert "<td>row 13999</td>" not in part["html"]
    whole = served.ask("/render/table.md?whole=1").json
    assert whole["shown"] == whole["characters"]
    assert "<td>row 13999</td>" in whole["html"]


def test_the_page_needs_nothing_from_elsewhere(served: Served) -> None:
    page = served.ask("/").body.decode()
    assert re.findall(r'(?:src|href)="(http[^"]*|//[^"]*)"', page) == []
    assert "<script>" not in page
    assert " style=" not in page
    for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        assert served.ask(address).status == 200
    for address in ("/section/H.1", "/tree", "/section/a%2Fb.md%40docs"):
        assert served.ask(address).body.decode() == page


def test_html_of_a_document_is_shown_as_it_is_marked_up() -> None:
    page = "<h1>Maße</h1><ol><li>eins</li></ol><pre>a\n  b</pre><script>x()</script><p onclick='x()'>a &lt;div&gt; b</p>"
    shown = sanitised(page, "page.html", "docs")
    assert "<li>eins</li>" in shown
    assert "<pre>a\n  b</pre>" in shown
    assert "&lt;div&gt;" in shown
    assert "x()" not in shown


def test_an_html_section_comes_with_its_own_markup(served: Served) -> None:
    page = served.place / "docs" / "marked.html"
    page.write_text("<h1>Marked</h1><ol><li>one</li></ol>", encoding="utf-8")
    try:
        assert "<li>one</li>" in served.ask("/render/marked").json["html"]
    finally:
        page.unlink()
