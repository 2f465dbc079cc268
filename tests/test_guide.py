from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
from script_files import script

from kb import config
from kb.documents import read
from kb.index import builder, catalog, passages
from kb.ranking import query, weights

guide = script("guide")
LANGUAGES = list(guide.LANGUAGES)


def pages(language: str) -> dict[str, str]:
    folder = guide.GUIDE / guide.LANGUAGES[language]
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.suffix in (".md", ".html")}


def test_the_generated_pages_say_what_the_code_says() -> None:
    for path, text in guide.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is old; run: scripts/guide"


def test_the_check_fails_where_a_page_differs_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guide, "GUIDE", tmp_path)
    monkeypatch.setattr(guide, "REPOSITORY", tmp_path)
    monkeypatch.setattr(guide, "variables", lambda: ["KB_BASE"])
    monkeypatch.setattr("sys.argv", ["guide", "--check"])
    assert guide.main() == 1
    assert "commands.md is not what the code says; run: scripts/guide" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_command_without_a_text_in_every_language_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    parsers = guide.commands()
    monkeypatch.setattr(guide, "commands", lambda: {**parsers, "dance": next(iter(parsers.values()))})
    with pytest.raises(guide.Missing, match=r"commands\.ru\.dance"):
        guide.pages()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_command_and_option_is_documented(language: str) -> None:
    page = pages(language)["commands.md"]
    sections = {part.split("\n", 1)[0]: part for part in page.split("\n## ")}
    for name, parser in guide.commands().items():
        text = sections[f"kb {name}"]
        for action in guide.own(parser):
            assert f"`{guide._shown(action)}`" in text, f"kb {name}: {action.dest}"
            assert action.help, f"kb {name}: {action.dest} has no help"
    for action in guide.common():
        assert f"`{guide._shown(action)}`" in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_of_kb_toml_is_documented_in_its_table(language: str) -> None:
    sections = {part.split("\n", 1)[0].strip("[]"): part for part in pages(language)["settings.md"].split("\n## ")}
    for table, kind in guide.tables().items():
        for entry in fields(kind):
            assert f"| `{entry.name}` |" in sections[table], f"{table}.{entry.name}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_on_pages_that_people_wrote_are_those_of_the_code(language: str) -> None:
    held = pages(language)
    for name, numbers in {
        "ranking.md": (weights.NEAR_LEAST, weights.PART_LEAST, weights.NEAR_WEIGHT, weights.K1, weights.B, builder.LEAD_WORDS),
        "asking.md": (query.LONGEST, weights.SPELLING_TWO_EDITS_FROM, weights.SPELLING_SHORTEST - 1, weights.PREFIX_MOST),
        "install.md": (weights.SNIPPET_CHARACTERS,),
        "errors.md": (int(catalog.BUSY_SECONDS), read.LARGEST_BYTES >> 20),
        "base.md": (config.IndexSettings().refresh_ms, passages.PASSAGE_WORDS, weights.K1, weights.B),
    }.items():
        text = set(re.findall(r"\d+(?:\.\d+)?", held[name]))
        assert [number for number in numbers if f"{number:g}" not in text] == [], name
    assert f"{weights.NEAR_VOCABULARY:,}".replace(",", "") in re.sub(r"(?<=\d)[ ,](?=\d)", "", held["ranking.md"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_weight_of_ranking_is_documented(language: str) -> None:
    page = pages(language)["settings.md"]
    assert [key for key, value in guide.weights().items() if f"| `{key}` | `{value:g}` |" not in page] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_environment_variable_is_documented(language: str) -> None:
    page = pages(language)["settings.md"]
    assert {"KB_BASE", "KB_CACHE"} <= set(guide.variables())
    assert [name for name in guide.variables() if f"| `{name}` |" not in page] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_command_is_explained_on_a_page_that_people_wrote(language: str) -> None:
    written = " ".join(text for name, text in pages(language).items() if name not in ("commands.md", "settings.md"))
    assert [name for name in guide.commands() if f"kb {name}" not in " ".join(written.split())] == []


def test_every_page_of_the_guide_has_its_variants() -> None:
    names = {language: set(pages(language)) for language in LANGUAGES}
    assert len(names["en"]) > 10
    assert all(held == names["en"] for held in names.values()), names


@pytest.mark.parametrize("name", sorted(pages("en")))
def test_a_page_has_the_same_id_headings_and_code_in_every_language(name: str) -> None:
    texts = {language: pages(language)[name] for language in LANGUAGES}
    for what in (
        lambda text: next(line for line in text.split("\n") if line.startswith("id: ")),
        lambda text: [line.split(" ")[0] for line in text.split("\n") if line.startswith("#")],
        lambda text: text.count("\n```"),
        lambda text: [text.count(tag) for tag in ("<h2>", "<li>", "<tr>", "<pre>")],
    ):
        assert len({str(what(text)) for text in texts.values()}) == 1, (name, {k: what(t) for k, t in texts.items()})
