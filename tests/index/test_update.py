"""After any changes to the folder the index is what a new one would be: same hits, scores, ids, tree."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from bases import Base, temporary
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.base import KnowledgeBase
from kb.errors import IndexBusy, IndexDamaged
from kb.index import changes
from kb.index.catalog import Catalog

WORDS = {
    "en": "boundary context system migration database the of holon trust windy London".split(),
    "de": "Grenze Kontext Systeme Häuser groß die der Straße Wanderung Datenbank".split(),
    "ru": "граница контекст система миграции база людей холонов ёлка и не субботу".split(),
}
QUERIES = [
    "boundary", "system", "Kontext", "контекст", "граница системы", "migration database", "Häuser", "людей", "die der", "и не",
    '"trust windy"', "context -windy", "B.1", "B.1.2", "shared notice", "systm", "London Grenze ёлка", "alias",
]  # fmt: skip
NOTICE = "This notice is shared by many documents of the folder.\n"
NAMES = [
    "a.md", "b.md", "c.md", "de/a.md", "ru/a.md", "sub/d.md", "sub/e.txt", "f.html", "ru/b.md", "g.md", "h.md", "i.md", "j.md",
]  # fmt: skip


def observed(kb: KnowledgeBase) -> dict[str, Any]:
    """All that a user can see of an index, as JSON."""
    out: dict[str, Any] = {}
    for query in QUERIES:
        answer = kb.search(query, limit=50, explain=True)
        out[f"search {query}"] = answer.as_json()
    rows = kb.list(max_results=100)
    out["list"] = rows.as_json()
    out["tree"] = [node.as_json() for node in kb.tree(depth=20)]
    status = kb.status().as_json()["collections"][0]
    out["status"] = status
    for row in rows.rows:
        if row.id is not None:
            for language in row.languages:
                out[f"section {row.id} {language}"] = kb.section(row.id, language=language).as_json()
    return json.loads(json.dumps(out))  # type: ignore[no-any-return]


def assert_same(base: Base, kb: KnowledgeBase) -> None:
    kept, fresh = observed(kb), observed(base.rebuilt())
    for name in fresh:
        assert kept.get(name) == fresh[name], name
    assert kept.keys() == fresh.keys()


class Folder:
    """Random changes to a folder."""

    def __init__(self, base: Base, chance: random.Random) -> None:
        self.base, self.chance = base, chance

    def text(self, name: str) -> str:
        chance = self.chance
        words = WORDS[chance.choice(list(WORDS))]

        def line() -> str:
            return " ".join(chance.choice(words) for _ in range(chance.randint(1, 12)))

        out = []
        if chance.random() < 0.4:
            out.append("---\n")
            if chance.random() < 0.6:
                out.append(f"id: {chance.choice(['B', 'B.1', 'B.1.2', 'notes', 'C.3', 'notes-2', 'a'])}\n")
            if chance.random() < 0.3:
                out.append("aliases: [an alias, другое имя]\n")
            if chance.random() < 0.3:
                out.append(f"questions: {{de: [welche Grenzen gelten, Häuser], ru: [{chance.choice(WORDS['ru'])}]}}\n")
            if chance.random() < 0.3:
                out.append(f"parent: {chance.choice(['B', 'notes', 'nowhere', 'C.3'])}\n")
            if chance.random() < 0.3:
                out.append(f"lang: {chance.choice(['en', 'de', 'ru'])}\n")
            if chance.random() < 0.3:
                out.append(f"sort_order: {chance.randint(1, 3)}\n")
            out.append("---\n")
        for _ in range(chance.randint(0, 4)):
            level = chance.randint(1, 4)
            title = chance.choice(
                [line(), f"B.{chance.randint(1, 3)} {line()}", f"B.1.{chance.randint(1, 3)} - {line()}", "Setup"]
            )
            out.append(f"\n{'#' * level} {title}\n\n{line()}\n" + (f"\n{line()}\n" if chance.random() < 0.5 else ""))
        if chance.random() < 0.6:
            out.append("\n" + NOTICE)
        if name.endswith(".html"):
            return "<h1>A page</h1><p>" + "</p><p>".join("".join(out).split("\n\n")) + "</p>"
        return "".join(out)

    def change(self) -> None:
        chance, root = self.chance, self.base.root
        present = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        kind = chance.choice(["add", "add", "edit", "delete", "rename", "break"]) if present else "add"
        if kind == "add":
            name = chance.choice(NAMES)
            self.base.write(name, self.text(name))
        elif kind == "edit":
            name = chance.choice(present)
            self.base.write(name, self.text(name))
        elif kind == "delete":
            (root / chance.choice(present)).unlink()
        elif kind == "rename":
            target = root / chance.choice(NAMES)
            target.parent.mkdir(exist_ok=True)
            (root / chance.choice(present)).replace(target)
        else:
            self.base.write(chance.choice(present), b"\x00\x01\x02\x03\x04\xff\xfe\x05" * 40)


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_any_changes_leave_the_index_that_a_rebuild_makes(seed: int) -> None:
    chance = random.Random(seed)
    with temporary() as base:
        folder = Folder(base, chance)
        for _ in range(chance.randint(1, 12)):
            folder.change()
        kb = base.kb
        kb.index()
        for _ in range(chance.randint(1, 4)):
            for _ in range(chance.randint(1, 4)):
                folder.change()
            kb.search("boundary") if chance.random() < 0.5 else kb.index()
        assert_same(base, kb)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_many_changes_leave_the_index_that_a_rebuild_makes(seed: int) -> None:
    chance = random.Random(seed)
    with temporary() as base:
        folder = Folder(base, chance)
        kb = base.kb
        for _ in range(chance.randint(5, 40)):
            folder.change()
            kb.index()
        assert_same(base, kb)


def test_a_language_is_asked_in_no_longer_once_its_last_document_is_gone(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "---\nlang: ru\n---\n# Имя\n\nan alias, aliases\n", "b.md": "---\nlang: de\n---\n# Name\n\nHaus\n"})
    base.kb.index()
    (base.root / "b.md").unlink()
    base.kb.index()
    assert base.search("alias", explain=True).as_json() == base.rebuilt().search("alias", explain=True).as_json()


def test_the_scores_of_the_rest_stay_when_empty_files_come(make_base: Callable[..., Base]) -> None:
    base = make_base({f"{n}.md": f"# Note {n}\n\nwind over London, note number {n}\n" for n in range(8)})
    before = base.search("windy London note", limit=50)
    for n in range(50):
        base.write(f"empty-{n}.md", "" if n % 2 else "---\ntitle: Nothing\n---\n")
    after = base.search("windy London note", limit=50)
    assert [r.id for r in after.results] == [r.id for r in before.results]
    assert [r.score for r in after.results] == pytest.approx([r.score for r in before.results], abs=1e-9)


def test_an_edit_is_found_without_indexing(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n\nfirst words\n", "b.md": "# B\n\nother words\n"})
    assert base.ids("first") == ["a"]
    base.write("a.md", "# A\n\nsecond words\n")
    assert base.ids('"second"') == ["a"]
    assert base.ids('"first"') == []


def test_a_deleted_file_is_gone_without_indexing(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n\nfirst words\n", "b.md": "# B\n\nother words\n"})
    assert base.ids("words") == ["a", "b"]
    (base.root / "a.md").unlink()
    assert base.ids("words") == ["b"]


def test_a_renamed_file_is_found_under_its_new_name(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n\nfirst words\n"})
    assert base.ids("first") == ["a"]
    (base.root / "a.md").rename(base.root / "z.md")
    assert base.ids("first") == ["z"]


def test_an_edit_that_keeps_size_and_time_right_after_indexing_is_seen(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n\nalpha\n"})
    path = base.root / "a.md"
    assert base.ids("alpha") == ["a"]
    status = path.stat()
    path.write_text("# A\n\nomega\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert base.ids("omega") == ["a"]


def test_another_file_of_the_same_size_and_time_of_modification_is_seen(
    make_base: Callable[..., Base], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_DOUBT_NS", 0)  # as where the file was indexed long ago
    base = make_base({"a.md": "# A\n\nalpha\n"})
    os.utime(base.root / "a.md", (1e9, 1e9))
    assert base.ids("alpha") == ["a"]
    base.write("a.md", "# A\n\nomega\n")
    os.utime(base.root / "a.md", (1e9, 1e9))
    assert (base.ids("omega"), base.ids("alpha")) == (["a"], [])


def test_files_with_new_times_and_the_same_content_are_not_called_changed(make_base: Callable[..., Base]) -> None:
    toml = TOML_WITHOUT_REFRESH.replace("refresh_ms = 0", "refresh_ms = 1")  # 2,500 bytes may be parsed
    base = make_base({f"{n}.md": f"# Note {n}\n\n" + "alpha words\n" * 20 for n in range(20)}, toml=toml)
    base.kb.index()
    for path in base.root.iterdir():
        os.utime(path)
    answer = base.search("alpha")
    assert answer.warning is None
    assert not any(result.stale for result in answer.results)
    base.write("3.md", "# Note 3\n\nomega words\n")
    for path in base.root.iterdir():
        os.utime(path)
    assert base.ids("omega") == ["3"]


def test_more_changes_than_a_search_may_read_are_said_and_marked(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n\nalpha words\n", "b.md": "# B\n\nalpha too\n"}, toml=TOML_WITHOUT_REFRESH)
    base.kb.index()
    base.write("a.md", "# A\n\nomega words, and more of them" + "\n")
    answer = base.search("alpha")
    assert answer.warning is not None
    assert "kb index" in answer.warning
    assert {r.id: r.stale for r in answer.results} == {"a": True, "b": False}
    assert answer.results[0].as_json().get("stale", False) == answer.results[0].stale
    base.kb.index()
    assert base.search("omega").warning is None
    assert base.ids("omega") == ["a"]


TOML_WITHOUT_REFRESH = '[[collections]]\nname = "docs"\nroot = "docs"\n[index]\nrefresh_ms = 0\n'


def test_a_search_while_another_process_writes_answers_from_the_index_as_it_was(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n\nalpha words\n"})
    base.kb.index()
    base.write("a.md", "# A\n\nomega words instead\n")
    folder = next(path.parent for path in base.cache.rglob("catalog.db"))
    other = Catalog.open(folder)
    with other.writing():
        answer = base.search("alpha")
        assert [(r.id, r.stale) for r in answer.results] == [("a", True)]
        assert answer.warning is not None
        assert "another process is writing" in answer.warning
    other.close()
    assert base.ids("omega") == ["a"]


def test_a_second_writer_says_that_the_base_is_busy(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n"})
    base.kb.index()
    folder = next(path.parent for path in base.cache.rglob("catalog.db"))
    one, other = Catalog.open(folder), Catalog.open(folder)
    with one.writing(), pytest.raises(IndexBusy, match="another process is writing"), other.writing(wait=0.05):
        pass
    with other.writing(wait=0.05):
        pass
    one.close()
    other.close()


def test_an_index_run_says_what_it_did(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"})
    first = base.kb.index()
    assert (first.indexed, first.removed, first.unchanged, first.rebuilt) == (3, 0, 0, True)
    base.write("a.md", "# A\n\nchanged\n")
    (base.root / "b.md").unlink()
    second = base.kb.index()
    assert (second.indexed, second.removed, second.unchanged, second.rebuilt) == (1, 1, 1, False)
    third = base.kb.index(rebuild=True)
    assert (third.indexed, third.removed, third.unchanged, third.rebuilt) == (2, 0, 0, True)


def test_a_run_without_changes_still_sweeps_and_sees_damage(
    make_base: Callable[..., Base], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_base({"a.md": "# Boundary\n\nText.\n"})
    monkeypatch.setattr(changes, "_DOUBT_NS", 0)
    base.kb.index()
    (segment,) = base.kb._catalog().folder.glob("segments/*")  # type: ignore[union-attr]
    stray = segment.with_name("00000009-stray.seg")
    stray.write_bytes(b"left by a process that was killed")
    assert base.kb.index().unchanged == 1
    assert not stray.exists()
    segment.write_bytes(segment.read_bytes()[:-1])
    with pytest.raises(IndexDamaged, match="run: kb index --rebuild"):
        base.kb.index()
    assert base.kb.index(rebuild=True).indexed == 1


def test_a_run_without_changes_notes_what_the_walk_says_now(
    make_base: Callable[..., Base], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_base({"a.md": "# Boundary\n\nText.\n"})
    monkeypatch.setattr(changes, "_DOUBT_NS", 0)
    base.kb.index()
    (base.root / "paper.pdf").write_bytes(b"%PDF")
    base.kb.index()
    assert base.kb.status().collections[0].skipped == {"pdf": 1}


def test_many_batches_make_the_index_that_one_makes(make_base: Callable[..., Base], monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_base()
    folder = Folder(base, random.Random(7))
    for name in NAMES:
        base.write(name, folder.text(name))
    for n in range(12):
        base.write(f"more/{n}.md", folder.text("x.md"))
    monkeypatch.setattr("kb.index.update.BATCH_BYTES", 300)
    kb = base.kb
    kb.index()
    monkeypatch.setattr("kb.index.update.BATCH_BYTES", 32 << 20)
    assert_same(base, kb)
