from __future__ import annotations

from pathlib import Path

import pytest

from kb.errors import ConfigError
from kb.toml import kept, read, remembered


@pytest.fixture(autouse=True)
def _as_if_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.toml._DOUBT_NS", -1)  # nobody can set the time at which a file was changed


def _old(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_what_was_made_of_a_file_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    path = _old(tmp_path / "notes.txt", "old")
    made: list[str] = []

    def make(path: Path) -> str:
        made.append(path.read_text(encoding="utf-8"))
        return f"{made[-1]}\nё"

    assert [kept(path, tmp_path, "upper", make) for _ in range(2)] == ["old\nё"] * 2
    assert made == ["old"]  # it is the copy that answers
    path.write_text("newer", encoding="utf-8")
    assert kept(path, tmp_path, "upper", make) == "newer\nё"
    assert kept(path, tmp_path, "other", make) == "newer\nё"
    assert made == ["old", "newer", "newer"]


def test_copies_of_former_layouts_go_when_a_present_one_is_written(tmp_path: Path) -> None:
    path = _old(tmp_path / "notes.txt", "a")
    former = ["glossary-3-0123abcd.json", "glossary-3-keyed-0123abcd.json", "glossary-3-2-0123abcd.kept"]
    others = ["glossary-4-2-0123abcd.kept", "toml-0123abcd.kept", "glossary-notes.json", "glossary.toml"]
    for name in (*former, *others):
        (tmp_path / name).write_text("x")
    folder = tmp_path / "glossary-0123abcd.kept"  # an index may be called so
    folder.mkdir()
    made = kept(path, tmp_path, "glossary-4-2", lambda path: "made")
    left = {found.name for found in tmp_path.iterdir()}
    assert made == "made"
    assert not left & {*former}
    assert left >= {*others, folder.name}


def test_toml_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _old(tmp_path / "kb.toml", "a = 1\n")
    assert remembered(path, tmp_path) == {"a": 1}
    monkeypatch.setattr("kb.toml.read", None)
    assert remembered(path, tmp_path) == {"a": 1}


def test_a_damaged_copy_is_parsed_again(tmp_path: Path) -> None:
    path = _old(tmp_path / "kb.toml", "a = 1\n")
    remembered(path, tmp_path)
    (copy,) = tmp_path.glob("toml-*")
    whole = copy.read_text()
    for damage in ("", "{", "[]", "[]\n{}", whole[:-1], whole.replace('"a": 1', '"a": 7')):
        copy.write_text(damage)
        assert remembered(path, tmp_path) == {"a": 1}


def test_dates_and_missing_folders_are_no_trouble(tmp_path: Path) -> None:
    path = _old(tmp_path / "kb.toml", "day = 2026-11-30\n")
    assert remembered(path, tmp_path) == read(path) == remembered(path, tmp_path / "missing")
    assert not list(tmp_path.glob("toml-*"))


def test_what_is_no_toml_is_an_error_in_one_line(tmp_path: Path) -> None:
    path = _old(tmp_path / "kb.toml", "a = \n")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        remembered(path, tmp_path)
    path = _old(tmp_path / "kb.toml", "a = " + "[" * 5000 + "]" * 5000 + "\n")
    with pytest.raises(ConfigError, match="is nested too deeply"):
        remembered(path, tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "kb.toml"
    path.write_text("a = 1\n", encoding="utf-8-sig")
    assert read(path) == {"a": 1}
