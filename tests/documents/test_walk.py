"""The walk lists what is to be indexed, and only that."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kb.documents.walk import walk
from kb.errors import BaseUnusable


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# A\n")


def sources(root: Path, **patterns: list[str]) -> list[str]:
    return [file.source for file in walk(root, **patterns).files]


def test_files_come_by_source_with_size_time_and_path(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.html", "a.txt")
    files = walk(tmp_path).files
    assert [file.source for file in files] == ["a.txt", "a/z.html", "b.md"]
    status = (tmp_path / "b.md").stat()
    assert (files[2].size, files[2].changed_ns, files[2].path) == (4, status.st_ctime_ns, str(tmp_path / "b.md"))


def test_one_file_may_be_the_root(tmp_path: Path) -> None:
    write(tmp_path, "spec.md", "other.md")
    assert sources(tmp_path / "spec.md") == ["spec.md"]


def test_a_missing_root_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BaseUnusable, match="--base"):
        walk(tmp_path / "none")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_pipes_and_sockets_are_left_out_with_a_warning_and_are_no_root(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / ".gitignore").write_text("ignored\n")
    os.mkfifo(tmp_path / "b.md")
    os.mkfifo(tmp_path / "ignored")
    (tmp_path / "c.md").symlink_to("b.md")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket may not be long
        try:
            listening.bind("s")
        finally:
            os.chdir(here)
        found = walk(tmp_path)
        assert [file.source for file in found.files] == ["a.md"]
        assert sorted(found.warnings) == [
            "b.md: is a named pipe, left out", "c.md: is a named pipe, left out", "s: is a socket, left out",
        ]  # fmt: skip
        with pytest.raises(BaseUnusable, match="is a named pipe, no folder and no file; name one with --base"):
            walk(tmp_path / "b.md")


def test_hidden_and_editor_files_are_left_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.md",
        ".b.md",
        ".git/c.md",
        "d.md~",
        ".#e.md",
        "#f.md#",
        "g.md.swp",
        "h.tmp",
        "node_modules/i.md",
        "__pycache__/j.md",
    )
    made = walk(tmp_path)
    assert [file.source for file in made.files] == ["a.md"]
    assert made.skipped == {}


def test_kinds_that_are_not_read_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "a.pdf", "b.PDF", "x/c.docx", "LICENSE", "d.MD")
    made = walk(tmp_path)
    assert made.skipped == {"docx": 1, "no suffix": 1, "pdf": 2}
    assert [file.source for file in made.files] == ["d.MD"]


def test_ignore_files_are_honoured_at_every_level(tmp_path: Path) -> None:
    write(
        tmp_path,
        "a.md",
        "drafts/b.md",
        "x/c.md",
        "x/keep.md",
        "x/y/c.md",
        "x/y/z.md",
        "logs/l.md",
        "top.md",
        "x/top.md",
    )
    (tmp_path / ".gitignore").write_text("# comment\ndrafts/\n/top.md\n*c.md\n")
    (tmp_path / "x" / ".gitignore").write_text("!/c.md\n")
    (tmp_path / ".kbignore").write_text("logs\n")
    (tmp_path / "x" / "y" / ".kbignore").write_text("z.*\n")
    assert sources(tmp_path) == ["a.md", "x/c.md", "x/keep.md", "x/top.md"]


def test_the_products_ignore_file_overrides_gits(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / ".kbignore").write_text("!b.md\n")
    assert sources(tmp_path) == ["b.md"]


def test_ignored_names_need_not_be_ascii(tmp_path: Path) -> None:
    write(tmp_path, "черновик/a.md", "b.md")
    (tmp_path / ".kbignore").write_text("черновик/\n", encoding="utf-8")
    assert sources(tmp_path) == ["b.md"]


def test_include_and_exclude_choose_among_the_files(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/old/b.md", "c.md", "docs/d.txt")
    assert sources(tmp_path, include=["docs/**/*.md"]) == ["docs/a.md", "docs/old/b.md"]
    assert sources(tmp_path, include=["*.md"], exclude=["old/", "/c.md"]) == ["docs/a.md"]


def test_a_link_out_of_the_root_is_not_followed_and_reported_once(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a.md")
    write(tmp_path, "secret/s.md")
    (root / "out.md").symlink_to(tmp_path / "secret" / "s.md")
    (root / "outdir").symlink_to(tmp_path / "secret")
    made = walk(root)
    assert [file.source for file in made.files] == ["a.md"]
    assert made.warnings == (
        "out.md: symbolic link leaves the folder, left out",
        "outdir: symbolic link leaves the folder, left out",
    )


def test_a_link_loop_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "x/a.md")
    (tmp_path / "x" / "up").symlink_to(tmp_path)
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    made = walk(tmp_path)
    assert [file.source for file in made.files] == ["x/a.md"]
    assert made.warnings == (
        "self.md: symbolic link is a loop, left out",
        "x/up: symbolic link loops back, not followed",
    )


def test_a_link_to_what_is_listed_adds_nothing_and_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, "x/a.md")
    (tmp_path / "b.md").symlink_to("x/a.md")
    (tmp_path / "y").symlink_to("x")
    made = walk(tmp_path)
    assert [file.source for file in made.files] == ["x/a.md"]
    assert made.warnings == ()


def test_a_link_to_what_is_not_listed_otherwise_is_a_file(tmp_path: Path) -> None:
    write(tmp_path, ".store/a.md", ".store/b.md")
    (tmp_path / "a.md").symlink_to(".store/a.md")
    assert sources(tmp_path) == ["a.md"]
    (tmp_path / "all").symlink_to(".store")
    assert sources(tmp_path) == ["a.md", "all/b.md"]


def test_a_root_behind_a_link_is_a_root(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to("real")
    assert sources(tmp_path / "link") == ["a.md"]


def test_sources_are_composed_and_paths_as_on_disk(tmp_path: Path) -> None:
    decomposed = "Gro\u0308\u00dfe.md"
    write(tmp_path, decomposed, "документ №1.md", "🐘.md")
    files = {file.source: file.path for file in walk(tmp_path).files}
    assert set(files) == {"Größe.md", "документ №1.md", "🐘.md"}
    assert files["Größe.md"].endswith(decomposed)


def test_two_forms_of_one_name_are_one_file_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "Gro\u0308\u00dfe.md", "Größe.md")
    made = walk(tmp_path)
    assert len(made.files) == 1
    assert "differ only in Unicode form" in made.warnings[0]


def test_a_name_that_is_no_text_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes no such name")
    made = walk(tmp_path)
    assert [file.source for file in made.files] == ["a.md"]
    assert made.warnings == ("b\\udcff.md: file name is not UTF-8, left out",)


def test_a_folder_that_can_not_be_read_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x/b.md")
    (tmp_path / "x").chmod(0)
    try:
        if os.access(tmp_path / "x", os.R_OK):
            pytest.skip("this user reads everything")
        made = walk(tmp_path)
    finally:
        (tmp_path / "x").chmod(0o755)
    assert [file.source for file in made.files] == ["a.md"]
    assert made.warnings == ("x/: folder can't be read (Permission denied), left out",)


def test_walking_imports_nothing_that_reading_needs(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    code = (
        "import sys, pathlib; from kb.documents.walk import walk; walk(pathlib.Path(sys.argv[1]));"
        "print([m for m in ('markdown_it', 'slugify', 'pathspec', 'charset_normalizer', 'yaml') if m in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "[]"
