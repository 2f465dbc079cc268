from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from bases import Base, folder_hash, temporary
from conftest import MakeBase
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.errors import ArgumentError, BaseUnusable, KBError, NotFound
from kb.surfaces.web.render import sanitised

TOML = """
[[collections]]
name = "wiki"
root = "docs"
language = "de"
languages = ["ru"]
writable = true
"""
PAGE = """<h1>Ähnlichkeitssuche</h1>
<p>Die Suche vergleicht Vektoren: je höher die Kosinus-Ähnlichkeit, desto näher liegen zwei Texte.</p>
<h2>Schritte</h2>
<ul><li>Text einbetten</li><li>Abstände berechnen</li></ul>
<table><tr><th>Maß</th><th>Wert</th></tr><tr><td>Kosinus</td><td>0,83</td></tr></table>
<pre><code>score = a @ b</code></pre>
<script>alert("x")</script>
"""


@pytest.fixture
def wiki(make_base: MakeBase) -> Base:
    return make_base({}, TOML)


def front(path: Path) -> dict[str, object]:
    import yaml

    loaded: dict[str, object] = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
    return loaded


def test_a_german_html_page_gets_its_slug_path_and_depth_and_is_found_at_once(wiki: Base) -> None:
    wiki.kb.new("Prozesse", "Alle Abläufe.")
    wiki.kb.new("RAG-Prozess", "Wie Antworten entstehen.", parent="prozesse")
    made = wiki.kb.new("Ähnlichkeitssuche", PAGE, parent="/prozesse/rag-prozess", format="html")
    assert (made.slug, made.path, made.depth) == ("aehnlichkeitssuche", "/prozesse/rag-prozess/aehnlichkeitssuche", 2)
    assert made.parent_id == "prozesse/rag-prozess"
    for query in ("Kosinus-Ähnlichkeit", "Aehnlichkeitssuche", "Vektoren vergleichen"):
        assert made.id in [id_.partition("#")[0] for id_ in wiki.ids(query)]


def test_the_answer_has_the_promised_keys(wiki: Base) -> None:
    body = wiki.kb.new("T", "# T\n\nFirst *paragraph*.\n\nSecond.\n", sort_order=3).as_json()
    assert list(body) == ["success", "doc", "message"]
    assert list(body["doc"])[:12] == [
        "id", "parent_id", "slug", "path", "title", "description", "content", "status", "sort_order", "depth", "created_at",
        "updated_at",
    ]  # fmt: skip
    assert body["success"] is True
    assert body["doc"]["description"] == "First paragraph."
    assert body["doc"]["content"] == "# T\n\nFirst *paragraph*.\n\nSecond.\n"
    assert (body["doc"]["status"], body["doc"]["sort_order"]) == ("published", 3)


def test_front_matter_holds_what_was_derived(wiki: Base) -> None:
    wiki.kb.new("Oben", "x")
    made = wiki.kb.new("Titel: mit Doppelpunkt", "x", parent="oben", status="draft", sort_order=1.5)
    assert front(wiki.root / "oben/titel-mit-doppelpunkt.md") == {
        "id": "oben/titel-mit-doppelpunkt",
        "title": "Titel: mit Doppelpunkt",
        "slug": "titel-mit-doppelpunkt",
        "status": "draft",
        "sort_order": 1.5,
        "parent": "oben",
        "created_at": made.created_at,
        "updated_at": made.created_at,
        "lang": "de",
    }
    assert wiki.kb.section(made.id).title == "Titel: mit Doppelpunkt"


def test_html_is_verbatim_on_disk_and_harmless_on_a_page(wiki: Base) -> None:
    made = wiki.kb.new("Seite", PAGE.replace("\n", "\r\n"), format="html")
    assert (wiki.root / made.source).read_bytes().endswith(PAGE.replace("\n", "\r\n").encode())
    more = '<p onclick="x()"><a href="javascript:x()">a</a><a href="https://b.example">b</a></p><!-- c -->'
    safe = sanitised(PAGE + more, None, "wiki")
    for kept in ("<h1>", "<table>", "<pre>", "<code>", "<li>", 'href="https://b.example"', 'rel="noopener noreferrer nofollow"'):
        assert kept in safe
    for gone in ("script", "alert", "onclick", "javascript", "<!--"):
        assert gone not in safe


def test_a_slug_is_unique_under_its_parent_and_free_under_another(wiki: Base) -> None:
    ids = [wiki.kb.new("Über uns", str(number)).id for number in range(3)]
    assert ids == ["ueber-uns", "ueber-uns-2", "ueber-uns-3"]
    assert wiki.kb.new("Über uns", "x", parent="ueber-uns").id == "ueber-uns/ueber-uns"
    assert wiki.kb.new("Über uns", "<p>x</p>", format="html").id == "ueber-uns-4"


def test_names_made_by_hand_count_as_taken(make_base: MakeBase) -> None:
    wiki = make_base({"Über Uns.html": "<p>x</p>", "note.md": "---\nid: impressum\n---\nx\n"}, TOML)
    assert wiki.kb.new("über uns", "x").id == "ueber-uns-2"
    assert wiki.kb.new("Impressum", "x").id == "impressum-2"


def test_nothing_else_in_the_folder_changes(make_base: MakeBase) -> None:
    wiki = make_base({"a.md": "# A\n", "b/c.md": "# C\n"}, TOML)
    before = {path: path.read_bytes() for path in wiki.root.rglob("*") if path.is_file()}
    made = wiki.kb.new("D", "x", parent="b/c")
    assert made.source == "b/c/d.md"
    after = {path: path.read_bytes() for path in wiki.root.rglob("*") if path.is_file()}
    assert set(after) - set(before) == {wiki.root / "b/c/d.md"}
    assert {path: after[path] for path in before} == before


def test_front_matter_of_the_content_is_joined_with_what_is_derived(wiki: Base) -> None:
    content = "---\r\nid: mine\r\ntype: note\r\nstatus: draft\r\naliases: [Hilfe]\r\n---\r\nText.\r\n"
    made = wiki.kb.new("Anleitung", content)
    held = front(wiki.root / made.source)
    assert (held["id"], held["type"], held["status"], held["aliases"]) == ("anleitung", "note", "draft", ["Hilfe"])
    assert (wiki.root / made.source).read_bytes().endswith(b"---\nText.\r\n")
    assert wiki.ids("Hilfe") == ["anleitung"]


def test_a_rule_that_opens_the_content_stays_text(wiki: Base) -> None:
    content = "---\nno key here\n---\nafter\n"
    assert (wiki.root / wiki.kb.new("R", content).source).read_text(encoding="utf-8").endswith("---\n" + content)


def test_a_page_without_text_is_found_by_its_title(wiki: Base) -> None:
    wiki.kb.new("Leere <Seite>", "")
    wiki.kb.new("Blanke Fläche", "<!-- -->", format="html")
    assert wiki.ids("Leere") == ["leere-seite"]
    assert wiki.ids("Fläche") == ["blanke-flaeche"]


def test_a_page_that_opens_with_a_lesser_heading_bears_its_title(wiki: Base) -> None:
    made = wiki.kb.new("Kranplan", "## Summary\n\nDie Kette wird geprüft.\n\n## Items\n\n- [ ] one\n")
    assert made.content.startswith("# Kranplan\n## Summary\n")
    assert wiki.kb.section(made.id).title == "Kranplan"
    assert wiki.kb.search("Kette").results[0].path == "Kranplan > Summary"


def test_a_language_of_the_collection_goes_into_its_folder_with_the_same_path(wiki: Base) -> None:
    wiki.kb.new("Suche", "Deutsch.")
    made = wiki.kb.new("Поиск", "Русский.", language="ru")
    assert (made.source, made.path) == ("ru/poisk.md", "/poisk")
    assert wiki.kb.new("Search", "English.", language="en").source == "search.md"
    assert wiki.kb.section("search").language == "en"


def test_a_given_slug_that_stands_in_another_language_makes_a_variant(wiki: Base) -> None:
    wiki.kb.new("Suche", "Deutsch.")
    made = wiki.kb.new("Поиск", "Русский.", slug="suche", language="ru")
    assert (made.source, made.id) == ("ru/suche.md", "suche")
    assert wiki.kb.section("suche").languages == ("de", "ru")
    assert wiki.kb.section("suche", language="ru").title == "Поиск"
    assert wiki.kb.new("Поиск", "Ещё.", slug="suche", language="ru").id == "suche-2"


@pytest.mark.parametrize("title", ["CON", "nul", "ru", "it"])
def test_names_that_mean_something_to_a_system_or_a_language_are_not_used(wiki: Base, title: str) -> None:
    assert wiki.kb.new(title, "x").slug == f"{title.lower()}-2"


def test_the_tree_follows_the_sort_order(wiki: Base) -> None:
    wiki.kb.new("Root", "x")
    for title, order in (("C", None), ("B", 2), ("A", 10), ("D", 1)):
        wiki.kb.new(title, "x", parent="root", sort_order=order)
    (root,) = wiki.kb.tree()
    assert [node.title for node in root.children] == ["D", "B", "A", "C"]


def test_what_was_created_is_listed_by_its_day(wiki: Base) -> None:
    made = wiki.kb.new("T", "x")
    assert wiki.kb.list(since=made.created_at[:10]).total == 1
    assert wiki.kb.list(since="2999-01-01").total == 0


def test_a_page_below_a_section_and_below_a_hand_made_parent_gets_a_derived_path(make_base: MakeBase) -> None:
    wiki = make_base({"B.3.md": "# B.3 - Trust\n\nx\n\n## B.3.1 - Why\n\ny\n", "leaf.md": "---\nparent: B.3\n---\nz\n"}, TOML)
    assert wiki.kb.new("Note", "x", parent="B.3").path == "/b-3/note"
    assert wiki.kb.new("Note", "x", parent="b.3.1").path == "/b-3/b-3-1/note"
    assert wiki.kb.new("Note", "x", parent="leaf").path == "/b-3/leaf/note"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"title": " \u202e\n"}, "title is empty"),
        ({"title": "x" * 301}, "title has 301 characters; 300 at most"),
        ({"slug": "../up"}, "a slug is one name: no '/', no '..', no control characters; use --parent for the place"),
        ({"slug": ".."}, "a slug is one name"),
        ({"slug": "a\0b"}, "a slug is one name"),
        ({"slug": ""}, "slug is empty"),
        ({"status": ""}, "status is empty"),
        ({"sort_order": float("nan")}, "sort_order must be a number, got nan"),
        ({"sort_order": True}, "sort_order must be a number, got True"),
        ({"format": "docx"}, "format is 'docx'; valid: md, html"),
        ({"language": "deutsch"}, "not a language code: 'deutsch'"),
        ({"content": "a\0b"}, "content is no text"),
        ({"content": "\ud800"}, "content is no text"),
        ({"parent": "../x"}, "not an id or a source path inside the base"),
        ({"collection": "other"}, "unknown collection 'other'; there are: wiki"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_written(wiki: Base, options: dict[str, object], message: str) -> None:
    before = folder_hash(wiki.root)
    with pytest.raises(ArgumentError) as caught:
        wiki.kb.new(**{"title": "T", **options})  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)
    assert folder_hash(wiki.root) == before
    assert not wiki.cache.exists()


def test_an_unknown_parent_is_not_found_and_the_nearest_are_named(wiki: Base) -> None:
    wiki.kb.new("Prozesse", "x")
    with pytest.raises(NotFound, match="no document to create below: prozess") as caught:
        wiki.kb.new("T", "x", parent="prozess")
    assert caught.value.suggestions == ("prozesse",)


def test_a_collection_that_is_not_writable_is_refused(make_base: MakeBase) -> None:
    closed = make_base({}, TOML.replace("writable = true", ""))
    with pytest.raises(ArgumentError, match="no collection of this base is writable; set writable = true"):
        closed.kb.new("T", "x")
    with pytest.raises(ArgumentError, match="collection wiki is not writable; set writable = true for it in"):
        closed.kb.new("T", "x", collection="wiki")
    with pytest.raises(ArgumentError, match="no collection of this base is writable"):
        make_base({}).kb.new("T", "x")


def test_several_writable_collections_need_a_name(make_base: MakeBase) -> None:
    wiki = make_base({}, TOML + TOML.replace('"wiki"', '"other"').replace('"docs"', '"other"'))
    (wiki.place / "other").mkdir()
    with pytest.raises(ArgumentError, match="name the collection; writable are: wiki, other"):
        wiki.kb.new("T", "x")
    assert wiki.kb.new("T", "x", collection="other").collection == "other"
    assert (wiki.place / "other/t.md").is_file()


def test_a_page_that_no_search_would_see_is_refused(wiki: Base) -> None:
    wiki.write(".kbignore", "geheim*\n")
    before = folder_hash(wiki.root)
    with pytest.raises(ArgumentError, match="would be left out by the patterns of the collection or by an ignore file"):
        wiki.kb.new("Geheime Seite", "x", slug="geheime-seite")
    assert folder_hash(wiki.root) == before


def test_a_page_that_does_not_fit_its_schema_is_refused(make_base: MakeBase) -> None:
    wiki = make_base({}, TOML + 'type = "tsk"\nschema = "s.toml"\n')
    (wiki.place / "s.toml").write_text(
        '[types.tsk]\nrequired = ["created", "updated"]\ndates = ["created", "updated"]\nstatus = ["draft"]\n'
    )
    with pytest.raises(ArgumentError, match="does not fit the schema of type tsk: status is 'open', valid: draft"):
        wiki.kb.new("T", "x", status="open")
    assert list(wiki.root.iterdir()) == []
    made = wiki.kb.new("T", "x", status="draft")
    assert str(front(wiki.root / made.source)["created"]) == made.created_at[:10]
    assert wiki.kb.list().error_count == 0


def test_a_folder_that_is_a_link_is_not_written_through(make_base: MakeBase, tmp_path: Path) -> None:
    wiki = make_base({"a.md": "# A\n"}, TOML)
    outside = tmp_path / "outside"
    outside.mkdir()
    (wiki.root / "a").symlink_to(outside, target_is_directory=True)
    with pytest.raises(BaseUnusable, match="is a symbolic link or no folder"):
        wiki.kb.new("T", "x", parent="a")
    assert list(outside.iterdir()) == []


def test_a_file_system_that_refuses_says_so_and_leaves_nothing(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    wiki = make_base({"a.md": "# A\n"}, TOML)
    before = sorted(wiki.root.rglob("*"))

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    wiki.kb.status()
    monkeypatch.setattr("kb.documents.folders.os.write", full)
    with pytest.raises(BaseUnusable, match=r"can't create t.md: No space left on device; nothing was written"):
        wiki.kb.new("T", "x", parent="a")
    assert sorted(wiki.root.rglob("*")) == before


def test_without_unnamed_files_the_same_is_done_by_a_hidden_one(wiki: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.documents.folders._UNNAMED", None)
    wiki.write(".kb-new-left.tmp", "half of a document whose process died")
    assert [wiki.kb.new("T", "x").id for _ in range(2)] == ["t", "t-2"]
    assert sorted(path.name for path in wiki.root.iterdir()) == ["t-2.md", "t.md"]


def test_without_folders_that_can_be_held_open_nothing_is_overwritten_either(wiki: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.documents.folders._RELATIVE", False)
    ids = [wiki.kb.new("T", "x").id, wiki.kb.new("T", "x", parent="t").id, wiki.kb.new("T", "x").id]
    assert ids == ["t", "t/t", "t-2"]


AWKWARD = st.text(
    st.one_of(st.characters(), st.sampled_from('./\\\0\u202e\u200f~:*?"<>| \n\r\tаёüßÄ🐘')), max_size=40
) | st.sampled_from(["..", "../../x", "/etc/passwd", "con", "a" * 5000, "ﬁ", "A\u0308", "Ä", ".git", "x.tmp", "#a#", "~"])


@settings(max_examples=60)
@given(title=AWKWARD, slug=st.none() | AWKWARD, parent=st.none() | AWKWARD | st.just("start"), again=st.booleans())
def test_no_title_slug_or_parent_writes_outside_or_over_anything(
    title: str, slug: str | None, parent: str | None, again: bool
) -> None:
    with temporary({"start.md": "# Start\n"}, TOML) as wiki:
        outside = wiki.place / "outside.md"
        outside.write_text("outside")
        try:
            made = [wiki.kb.new(title, "text", slug=slug, parent=parent) for _ in range(1 + again)]
        except KBError as error:
            assert "\n" not in str(error)
            made = []
        files = {path.relative_to(wiki.root).as_posix() for path in wiki.root.rglob("*") if path.is_file()}
        assert files == {"start.md", *(one.source for one in made)}
        assert len({one.id for one in made}) == len(made)
        assert (wiki.root / "start.md").read_text() == "# Start\n"
        assert {path.name for path in wiki.place.iterdir()} <= {"docs", "cache", "kb.toml", "outside.md"}
        for one in made:
            name = Path(one.source).name
            assert name.isascii() and name == unicodedata.normalize("NFC", name).lower()
            assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
            assert wiki.kb.section(one.id).source == one.source


@settings(max_examples=60)
@given(path=AWKWARD)
def test_no_id_or_source_path_reads_outside(path: str) -> None:
    with temporary({"start.md": "# Start\n\nx\n", "b/c.md": "# C\n"}, TOML) as wiki:
        (wiki.place / "secret.md").write_text("# Secret\n")
        (wiki.root / "link.md").symlink_to(wiki.place / "secret.md")
        (wiki.root / "away").symlink_to(wiki.place, target_is_directory=True)
        for wanted in (path, f"../{path}", f"away/{path}", "link.md", "link", "away/secret.md", f"b/../{path}"):
            try:
                found = wiki.kb.section(wanted)
            except KBError as error:
                assert "Secret" not in str(error)
            else:
                assert found.source in ("start.md", "b/c.md")
                assert "Secret" not in found.body


WORKER = """
import sys
from kb.base import KnowledgeBase
from kb.surfaces.web.render import sanitised
base, cache, count = sys.argv[1:]
with KnowledgeBase(base, cache=cache) as kb:
    for number in range(int(count)):
        print(kb.new("Gleicher Titel", "# Gleicher Titel\\n\\n" + "Wort " * 500 + "Ende\\n").id, flush=True)
"""


def start(wiki: Base, count: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(wiki.path), str(wiki.cache), str(count)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def whole(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return text.startswith("---\nid: gleicher-titel") and text.endswith("Ende\n")


@pytest.mark.parametrize("each", [4, pytest.param(125, marks=pytest.mark.slow)])
def test_eight_processes_that_create_the_same_title_get_as_many_slugs(make_base: MakeBase, each: int) -> None:
    wiki = make_base({"other.md": "# Other\n", "deep/er.md": "# Deeper\n"}, TOML)
    wiki.kb.index()
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in wiki.root.rglob("*") if path.is_file()}
    workers = [start(wiki, each) for _ in range(8)]
    ids = []
    for worker in workers:
        out, problems = worker.communicate(timeout=600)
        assert (worker.returncode, problems) == (0, "")
        ids += out.split()
    assert len(ids) == len(set(ids)) == 8 * each
    files = {path for path in wiki.root.rglob("*") if path.is_file()} - set(before)
    assert {path.stem for path in files} == set(ids)
    assert all(map(whole, files))
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
    assert wiki.kb.search("Ende", limit=1).total == 8 * each


@pytest.mark.parametrize("kills", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_a_process_killed_while_it_creates_leaves_whole_files_or_none(wiki: Base, kills: int) -> None:
    wiki.kb.index()
    for number in range(kills):
        worker = start(wiki, 1000)
        assert worker.stdout is not None and worker.stderr is not None
        for _ in range(1 + number % 4):
            worker.stdout.readline()
        time.sleep(number * 7 % 13 / 500)
        worker.kill()
        worker.wait()
        worker.stdout.close()
        worker.stderr.close()
    files = [path for path in wiki.root.rglob("*") if path.is_file()]
    assert len(files) >= kills
    assert all(map(whole, files))
    assert wiki.kb.new("Gleicher Titel", "Ende").slug == f"gleicher-titel-{len(files) + 1}"
    assert wiki.kb.search("Ende", limit=1).total == len(files) + 1


def command(wiki: Base, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "KB_CACHE": str(wiki.cache)}
    return subprocess.run(
        [sys.executable, "-m", "kb", "new", "--base", str(wiki.path), *arguments],
        input=given,
        capture_output=True,
        env=environment,
    )


def test_the_command_reads_the_content_from_standard_input(wiki: Base) -> None:
    done = command(wiki, "--title", "Über", "--sort-order", "2", "--json", given="Grüße\n".encode())
    assert (done.returncode, done.stderr) == (0, b"")
    body = json.loads(done.stdout)
    assert (body["doc"]["id"], body["doc"]["content"], body["doc"]["sort_order"]) == ("ueber", "Grüße\n", 2)
    assert (wiki.root / "ueber.md").read_text(encoding="utf-8").endswith("---\nGrüße\n")


@pytest.mark.parametrize(
    ("arguments", "given", "line"),
    [
        (["--title", "T"], b"\xff", "kb: the content on standard input is not UTF-8 (invalid start byte at byte 0)"),
        ([], b"x", "kb: the following arguments are required: --title (see: kb new --help)"),
        (["--title", ""], b"x", "kb: title is empty"),
    ],
)
def test_the_command_refuses_with_one_line_and_exit_2(wiki: Base, arguments: list[str], given: bytes, line: str) -> None:
    done = command(wiki, *arguments, given=given)
    assert (done.returncode, done.stdout, done.stderr.decode().splitlines()) == (2, b"", [line])
    assert list(wiki.root.iterdir()) == []
