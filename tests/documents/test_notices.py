"""Where the system reports changes an answer need not look at the files; it must be current all the same."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bases import Base

from kb.documents import notices
from kb.documents.notices import Notices
from kb.documents.walk import walk
from kb.index import changes

MakeBase = Callable[..., Base]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux reports changes as they are made")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "inner").mkdir(parents=True)
    (root / "a.md").write_text("one", encoding="utf-8")
    (root / "inner" / "b.md").write_text("two", encoding="utf-8")
    return root


@pytest.fixture
def told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Notices:
    """Notices that know the folder to be as the index holds it, in state 7; they are believed for as long as a test takes."""
    monkeypatch.setattr(notices, "BELIEVED_SECONDS", 600.0)
    made = Notices([folder])
    look(made, folder)
    look(made, folder)
    if not made.silent(7):
        pytest.skip("this file system is not one whose changes are known to be reported")
    return made


def look(made: Notices, folder: Path) -> None:
    begun = made.begin()
    made.unchanged(begun, 7, [walk(folder)])


def test_the_look_that_began_before_the_watch_is_not_believed(folder: Path) -> None:
    made = Notices([folder])
    assert not made.silent(7)
    look(made, folder)
    assert not made.silent(7)


def test_silence_is_of_one_state_of_the_index(told: Notices) -> None:
    assert told.silent(7)
    assert not told.silent(8)


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "a.md").write_text("other", encoding="utf-8"),
        lambda root: os.truncate(root / "inner" / "b.md", 1),
        lambda root: (root / "new.md").touch(),
        lambda root: (root / "a.md").rename(root / "c.md"),
        lambda root: (root / "inner" / "b.md").unlink(),
        lambda root: os.utime(root / "a.md", (1, 1)),
        lambda root: (root / "inner" / "b.md").chmod(0o600),
        lambda root: (root / "deeper" / "still").mkdir(parents=True),
        lambda root: shutil.rmtree(root / "inner"),
        lambda root: (root / "inner").rename(root.parent / "away"),
        lambda root: root.rename(root.parent / "gone"),
        lambda root: (root / "inner" / ".kbignore").write_text("*", encoding="utf-8"),
    ],
)
def test_every_kind_of_change_is_noticed_at_once(told: Notices, folder: Path, change: Callable[[Path], object]) -> None:
    change(folder)
    assert not told.silent(7)


def test_a_root_that_was_replaced_is_noticed(told: Notices, folder: Path) -> None:
    other = folder.with_name("other")
    shutil.copytree(folder, other)
    folder.rename(folder.with_name("old"))
    look(told, other)
    other.rename(folder)
    assert not told.silent(7)


def test_a_folder_made_anew_under_its_old_name_is_watched_again(told: Notices, folder: Path) -> None:
    shutil.rmtree(folder / "inner")
    (folder / "inner").mkdir()
    (folder / "inner" / "b.md").write_text("two", encoding="utf-8")
    look(told, folder)
    look(told, folder)
    assert told.silent(7)
    (folder / "inner" / "b.md").write_text("three", encoding="utf-8")
    assert not told.silent(7)


def test_a_change_during_a_look_is_not_lost(told: Notices, folder: Path) -> None:
    begun = told.begin()
    found = walk(folder)
    (folder / "a.md").write_text("meanwhile", encoding="utf-8")
    told.unchanged(begun, 7, [found])
    assert not told.silent(7)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_files_with_other_names_are_looked_at_every_time(folder: Path, link: Callable[[Path, Path], None]) -> None:
    link(folder / "a.md", folder / "c.md")
    made = Notices([folder])
    for _ in range(4):
        look(made, folder)
    assert not made.silent(7)


def test_silence_is_believed_for_a_while_only(told: Notices, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "BELIEVED_SECONDS", 0.0)
    look(told, folder)
    assert not told.silent(7)


def test_a_forked_process_takes_no_reports_from_its_parent(told: Notices, folder: Path) -> None:
    child = os.fork()
    if child == 0:
        (folder / "a.md").write_text("by the child", encoding="utf-8")
        os._exit(int(told.silent(7)))
    assert os.waitpid(child, 0)[1] == 0
    assert not told.silent(7)


def test_a_single_file_is_seen_to_change(tmp_path: Path) -> None:
    file = tmp_path / "one.md"
    file.write_text("one", encoding="utf-8")
    made = Notices([file])
    for _ in range(3):
        look(made, file)
    assert made.silent(7)
    file.write_text("two", encoding="utf-8")
    assert not made.silent(7)


def test_where_nothing_can_be_watched_every_look_is_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_LOCAL", set())
    made = Notices([folder])
    for _ in range(3):
        look(made, folder)
    assert not made.silent(7)


def test_searches_spare_looks_and_find_every_edit(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_base({"a.md": "# A\n\nmarker\n", "inner/b.md": "# B\n\nother\n"})
    monkeypatch.setattr(changes, "_DOUBT_NS", 0)  # as where the files were written long ago
    looks = []
    monkeypatch.setattr(changes, "find", lambda *a, real=changes.find: looks.append(1) or real(*a))
    for _ in range(6):
        assert base.ids("marker") == ["a"]
    spared = len(looks)
    assert spared < 6 or not base.kb._notices or base.kb._notices._refused
    for number in range(5):
        base.write("inner/b.md", f"# B\n\nedited{number}\n")
        assert base.ids(f"edited{number}") == ["inner/b"]
        base.write(f"new{number}.md", f"# N\n\nfresh{number}\n")
        assert base.ids(f"fresh{number}") == [f"new{number}"]
        (base.root / f"new{number}.md").unlink()
        assert base.ids(f"fresh{number}") == []


def test_files_that_have_only_just_been_written_are_looked_into_once(
    make_base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_base({"a.md": "# A\n\nmarker\n"})
    base.search("marker")
    base.write("b.md", "# B\n\nother\n")  # too fresh for its time of change to be relied on
    looks = []
    monkeypatch.setattr(changes, "find", lambda *a, real=changes.find: looks.append(1) or real(*a))
    for _ in range(30):
        assert base.ids("other") == ["b"]
    assert len(looks) < 40 or not base.kb._notices or base.kb._notices._refused
    base.write("b.md", "# B\n\nagain\n")
    assert base.ids("other") == []
    assert base.ids("again") == ["b"]
