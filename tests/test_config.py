"""kb.toml: what may stand in it, and what is said where something else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.config import load, locate, shipped
from kb.errors import ConfigError

COLLECTION = '[[collections]]\nname = "docs"\nroot = "docs"\n'


def written(folder: Path, text: str | bytes) -> Path:
    (folder / "docs").mkdir(exist_ok=True)
    path = folder / "kb.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_kb_toml_is_read(tmp_path: Path) -> None:
    text = COLLECTION + (
        'type = "note"\nlanguage = "de"\nlanguages = ["en", "ru"]\nhit_level = 3\ninclude = ["*.md"]\nexclude = ["x/"]\n'
        "[index]\nrefresh_ms = 0\npassage_words = 150\n[search]\nk1 = 1.5\nb = 0\n"
    )
    config = load(written(tmp_path, text))
    (collection,) = config.collections
    assert (collection.name, collection.root, collection.type, collection.language) == ("docs", tmp_path / "docs", "note", "de")
    assert (collection.languages, collection.hit_level, collection.include) == (("en", "ru"), 3, ("*.md",))
    assert (config.index.refresh_ms, config.index.passage_words, config.search.k1, config.search.b) == (0, 150, 1.5, 0.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"at least one \[\[collections\]\]"),
        ("collections = 3", r"at least one \[\[collections\]\]"),
        ("collections = [3]", "must be tables"),
        ("[[collections]]\nname = 'x'\n", "needs root as a text"),
        ("[[collections]]\nroot = 'docs'\n", "needs name as a text"),
        ("[[collections]]\nname = 'a@b'\nroot = 'docs'\n", "may not hold '@'"),
        ("[[collections]]\nname = 'x'\nroot = 'nope'\n", "not found"),
        (COLLECTION + COLLECTION, "two collections are named 'docs'"),
        (COLLECTION + "frobnicate = 1\n", r"unknown key collections\.frobnicate; valid: name, root, type"),
        (COLLECTION + "[frobnicate]\n", "unknown key frobnicate; valid: collections, index, search"),
        (COLLECTION + "[search]\nk9 = 1\n", r"unknown key search\.k9; valid: scoring, k1, b"),
        (COLLECTION + "[search]\nk1 = 'high'\n", r"search\.k1 must be a number, got 'high'"),
        (COLLECTION + "[search]\nk1 = true\n", r"search\.k1 must be a number"),
        (COLLECTION + "[search]\nk1 = nan\n", r"search\.k1 must be from 0 to 10"),
        (COLLECTION + "[search]\nb = 2\n", r"search\.b must be from 0 to 1, got 2"),
        (COLLECTION + "[search]\nscoring = 'best'\n", r"search\.scoring is 'best'; valid: lucene"),
        (COLLECTION + "[index]\nrefresh_ms = -1\n", r"index\.refresh_ms must be from 0"),
        (COLLECTION + "[index]\npassage_words = 1.5\n", r"index\.passage_words must be a whole number"),
        (COLLECTION + "hit_level = 7\n", r"collections\.hit_level must be from 1 to 6"),
        (COLLECTION + "language = 'german'\n", "'german' is not a language code"),
        (COLLECTION + "languages = 'ru'\n", r"collections\.languages must be a list of texts"),
        ('[[collections]]\nname = "a"\nroot = "d\\u0000"\n', r"collections\.root may not hold NUL"),
        (COLLECTION + 'schema = "s\\u0000"\n', r"collections\.schema may not hold NUL"),
        (COLLECTION + 'glossary = "none.toml"\n', "glossary of collection '.*' not found: .*none.toml"),
        (COLLECTION + "glossary = true\n", r"collections\.glossary must be the path of a TOML file, got True"),
        ("index = 3\n" + COLLECTION, r"index must be a table: \[index\]"),
        ("not toml", "is not valid TOML"),
        (b"\xff\xfe\x00", "can't be read"),
    ],
)
def test_what_is_not_known_is_an_error_that_lists_what_is(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_a_file_and_a_kb_toml_are_bases(tmp_path: Path) -> None:
    path = written(tmp_path, COLLECTION)
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    assert [c.name for c in load(tmp_path / "docs").collections] == ["docs"]
    assert [c.name for c in load(tmp_path / "docs" / "a.md").collections] == ["a"]
    assert load(path).collections == load(tmp_path).collections


def test_a_named_base_comes_before_the_environment_and_that_before_a_kb_toml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, COLLECTION)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("KB_BASE", str(tmp_path / "one"))
    assert locate(tmp_path / "two", tmp_path).path == tmp_path / "two"
    assert locate(None, tmp_path).path == tmp_path / "one"
    assert locate(None, tmp_path).named
    monkeypatch.delenv("KB_BASE")
    found = locate(None, tmp_path / "docs")
    assert (found.path, found.named) == (tmp_path / "kb.toml", False)


def test_the_shipped_base_is_what_is_left(tmp_path: Path) -> None:
    if any((folder / "kb.toml").is_file() for folder in (tmp_path, *tmp_path.parents)):
        pytest.skip("a kb.toml lies above the folder of the tests")
    found = locate(None, tmp_path)
    assert not found.named
    assert found.path.is_relative_to(shipped())


@pytest.mark.parametrize("root", ["..", "../other", "/tmp", "link"])
def test_a_kb_toml_found_upwards_may_not_reach_outside(tmp_path: Path, root: str) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    (project / "link").symlink_to(other)
    path = written(project, f'[[collections]]\nname = "x"\nroot = "{root}"\n')
    with pytest.raises(ConfigError, match="lies outside its folder"):
        locate(None, project)
    assert load(path).collections[0].name == "x"


@pytest.mark.parametrize("key", ["glossary", "schema"])
@pytest.mark.parametrize("place", ["../other/file.toml", "link.toml"])
def test_a_file_that_a_collection_names_may_not_lie_outside_either(tmp_path: Path, key: str, place: str) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    (other / "file.toml").write_text("")
    (project / "link.toml").symlink_to(other / "file.toml")
    path = written(project, f'{COLLECTION}{key} = "{place}"\n')
    with pytest.raises(ConfigError, match=f"{key} of collection '.*' lies outside its folder"):
        locate(None, project)
    assert getattr(load(path).collections[0], key) == other / "file.toml"
