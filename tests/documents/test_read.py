"""Files are opened only inside their root, and one that can't be read stays visible."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.documents.model import FAILED_TITLE, Name
from kb.documents.read import LARGEST_BYTES, parse, read


def test_a_file_becomes_a_document(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("# A\n\ntext\n")
    made = read(tmp_path, "sub/a.md")
    assert (made.source, made.title, made.error) == ("sub/a.md", "A", None)


def test_the_root_may_be_the_file_itself(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text("# A\n")
    assert read(tmp_path / "spec.md", "spec.md").title == "A"


def test_a_name_is_found_in_whatever_form_the_disk_holds_it(tmp_path: Path) -> None:
    decomposed = "Gro\u0308\u00dfe.md"
    (tmp_path / decomposed).write_text("# A\n")
    made = read(tmp_path, "Größe.md")
    assert (made.source, made.title) == ("Größe.md", "A")


@pytest.mark.parametrize("source", ["../secret.md", "/etc/passwd", "a/../../secret.md", "", "link.md", "folder/secret.md"])
def test_nothing_outside_the_root_is_read(tmp_path: Path, source: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.md").write_text("# secret\n")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path)
    made = read(root, source)
    assert (made.title, made.sections, made.text) == (FAILED_TITLE, (), "")
    assert made.error is not None
    assert made.error.startswith("can't be read")


def test_a_missing_file_is_an_error_document(tmp_path: Path) -> None:
    assert "No such file" in (read(tmp_path, "a.md").error or "")


def test_a_folder_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    os.mkfifo(tmp_path / "b.md")
    assert read(tmp_path, "a.md").error == "can't be read: not a regular file"
    assert read(tmp_path, "b.md").error == "can't be read: not a regular file"


def test_an_unreadable_file_is_an_error_document(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "a.md").chmod(0)
    if os.access(tmp_path / "a.md", os.R_OK):
        pytest.skip("this user reads everything")
    assert read(tmp_path, "a.md").error == "can't be read: Permission denied"


def test_a_file_over_the_limit_is_an_error_that_says_so() -> None:
    assert "64 MB" in (parse("a.md", b" " * (LARGEST_BYTES + 1)).error or "")


def test_plain_text_has_paragraphs_and_no_headings() -> None:
    made = parse("My notes.txt", b"# not a heading\nline two\n\n\nsecond\n")
    assert [(s.id, s.title, s.level, s.lines) for s in made.sections] == [("my-notes", "My notes", 0, (1, 5))]
    assert [(b.text, b.lines) for b in made.sections[0].blocks] == [
        ("# not a heading\nline two", (1, 2)),
        ("second", (5, 5)),
    ]


def test_fields_of_the_front_matter_reach_the_document() -> None:
    made = parse("a.md", b"---\ntype: clause\nstatus: draft\nlang: ru\nparent: B\nsort_order: 3\naliases: x, y\nk: v\n---\nz\n")
    assert (made.type, made.status, made.language, made.parent, made.sort_order) == ("clause", "draft", "ru", "B", 3.0)
    assert (made.aliases, made.front_matter["k"]) == ((Name("x"), Name("y")), "v")


def test_odd_file_names_have_ids_and_titles() -> None:
    numbered, elephant = (parse(name, b"x").sections[0] for name in ("документ №1.md", "🐘.md"))
    assert (numbered.id, numbered.title) == ("dokument-no1", "документ №1")
    assert elephant.title == "🐘"
    assert elephant.id.isascii()
