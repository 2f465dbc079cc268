from __future__ import annotations

from pathlib import Path

import pytest
from bases import Base
from conftest import MakeBase

from kb.documents import schema
from kb.documents.model import Document
from kb.documents.read import parse
from kb.errors import ArgumentError, ConfigError, NotFound

TASK_SCHEMA = """
[types.tsk]
required = ["title", "status", "created", "updated"]
status = ["draft", "active", "done", "cancelled"]
dates = ["created", "updated"]

[[types.tsk.headings]]
name = "Items"
kind = "items"
required = true
names = { ru = ["Пункты", "Что сделать"], de = "Punkte" }

[[types.tsk.headings]]
name = "Recent Updates"
kind = "entries"
required = true
minimum = 1
names = { ru = "Последние изменения", de = "Letzte Änderungen" }
"""
TOML = """
[[collections]]
name = "tasks"
root = "docs"
type = "tsk"
language = "en"
languages = ["ru"]
hit_level = 1
schema = "tsk.toml"
"""
GOOD = """---
id: TSK-1
title: Ship it
status: active
created: 2026-11-01
updated: 2026-11-02
---
# Ship it

## Items

- [ ] write
- [x] read

## Recent Updates

- 2026-11-02 10:00 - went on
- 2026-11-01 - began
"""


@pytest.fixture
def tsk(tmp_path: Path) -> schema.TypeSchema:
    return schema.load(written(tmp_path, TASK_SCHEMA)).types["tsk"]


def written(folder: Path, text: str) -> Path:
    path = folder / "tsk.toml"
    path.write_text(text, encoding="utf-8")
    return path


def document(text: str) -> Document:
    return parse("a.md", text.encode())


def tasks(make_base: MakeBase, **files: str) -> Base:
    base = make_base({name.replace("__", "/") + ".md": text for name, text in files.items()}, TOML)
    written(base.place, TASK_SCHEMA)
    return base


def test_a_document_that_fits_has_no_problems(tsk: schema.TypeSchema) -> None:
    assert schema.problems(document(GOOD), tsk, "en") == []


def test_missing_front_matter_is_named_in_one_problem(tsk: schema.TypeSchema) -> None:
    text = GOOD.replace("created: 2026-11-01\n", "").replace("updated: 2026-11-02\n", "updated:\n")
    assert schema.problems(document(text), tsk, "en") == ["front matter lacks created, updated"]


def test_a_status_outside_the_table_is_named_with_the_valid_ones(tsk: schema.TypeSchema) -> None:
    text = GOOD.replace("status: active", "status: open")
    assert schema.problems(document(text), tsk, "en") == ["status is 'open', valid: draft, active, done, cancelled"]


@pytest.mark.parametrize("value", ["yesterday", "2026-13-01", "20261101", "12", "[2026-11-01]"])
def test_what_is_no_date_is_shown(tsk: schema.TypeSchema, value: str) -> None:
    (problem,) = schema.problems(document(GOOD.replace("created: 2026-11-01", f"created: {value}")), tsk, "en")
    assert problem.startswith("created is ")
    assert problem.endswith(", write a date like 2026-11-30")


def test_a_missing_heading_is_named_with_what_it_is_called_in_the_language(tsk: schema.TypeSchema) -> None:
    text = GOOD.partition("## Recent")[0]
    assert schema.problems(document(text), tsk, "en") == ["heading missing: Recent Updates"]
    assert schema.problems(document(text), tsk, "de") == ["heading missing: Recent Updates (in de: Letzte Änderungen)"]


def test_headings_in_the_language_of_a_variant_stand_for_the_canonical_ones(tsk: schema.TypeSchema) -> None:
    text = GOOD.replace("## Items", "## Что  сделать").replace("## Recent Updates", "## последние изменения:")
    assert schema.problems(document(text), tsk, "ru") == []
    assert tsk.heading("Punkte", "de") is tsk.heading("Items", "en") is tsk.heading("Пункты", "en")
    assert tsk.heading("Notes", "en") is None


def test_a_list_entry_without_a_box_is_no_item(tsk: schema.TypeSchema) -> None:
    text = GOOD.replace("- [x] read", "- read")
    assert schema.problems(document(text), tsk, "en") == ["line 13: no item, write [ ] or [x]"]


def test_an_entry_needs_a_date_that_exists(tsk: schema.TypeSchema) -> None:
    text = GOOD.replace("2026-11-02 10:00", "2026-02-30 10:00")
    assert schema.problems(document(text), tsk, "en") == ["line 17: entry without a date like 2026-11-30 14:05"]


def test_entries_stand_newest_first(tsk: schema.TypeSchema) -> None:
    text = GOOD.replace("- 2026-11-01 - began", "- 2026-11-03 - ended")
    assert schema.problems(document(text), tsk, "en") == ["line 18: newer than the entry above it, the newest comes first"]


def test_a_section_of_entries_without_one_is_too_few(tsk: schema.TypeSchema) -> None:
    text = GOOD.partition("- 2026-11-02")[0]
    assert schema.problems(document(text), tsk, "en") == ["Recent Updates: 0 of at least 1 entries"]


def test_all_problems_are_said_at_once(tsk: schema.TypeSchema) -> None:
    text = "---\nstatus: open\n---\n# T\n\n## Items\n\n- a\n"
    assert len(schema.problems(document(text), tsk, "en")) == 4


def test_times_of_one_day_are_compared_across_time_zones(tsk: schema.TypeSchema) -> None:
    text = GOOD.replace("- 2026-11-01 - began", "- 2026-11-02T09:30:00-02:00 - began")
    assert schema.problems(document(text), tsk, "en") == ["line 18: newer than the entry above it, the newest comes first"]


def test_an_id_is_made_of_its_parts() -> None:
    wanted = schema.TypeSchema(id="{scheme}:{version}:{clause}", urls=["source_url"])
    text = '---\nid: sct:2025:recall\nscheme: sct\nversion: "2024"\nclause: recall\nsource_url: www\n---\nx\n'
    assert schema.problems(document(text), wanted, "en") == [
        "source_url is 'www', write an address that starts with https://",
        "id is sct:2025:recall, its parts make sct:2024:recall",
    ]


def test_keys_that_a_model_has_for_itself_can_be_required(tmp_path: Path) -> None:
    text = '[types.x]\nrequired = ["copy", "model_config", "_a", "with space"]\n'
    wanted = schema.load(written(tmp_path, text)).types["x"]
    assert schema.problems(document("# T\n"), wanted, "en") == ["front matter lacks copy, model_config, _a, with space"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[types.tsk]\nrequire = []\n", "types.tsk.require: Extra inputs are not permitted"),
        ("[types.tsk]\nstatus = 3\n", "types.tsk.status: "),
        ("types = [", "is not valid TOML"),
        ("", "types: Field required"),
    ],
)
def test_a_broken_schema_is_an_error_that_names_the_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"schema .*tsk\.toml") as caught:
        schema.load(written(tmp_path, text))
    assert message in str(caught.value)


def test_a_document_that_fails_shows_one_text_in_list_status_and_section(make_base: MakeBase) -> None:
    base = tasks(make_base, good=GOOD, bad=GOOD.replace("status: active", "status: open").replace("TSK-1", "TSK-2"))
    text = "does not fit the schema of type tsk: status is 'open', valid: draft, active, done, cancelled"
    (row,) = [row for row in base.kb.list().rows if row.id is None]
    assert (row.title, row.status, row.type, row.error) == ("<failed to parse>", "<failed to parse>", "tsk", text)
    assert base.kb.status().collections[0].errors == (("bad.md", text),)
    found = base.kb.section("bad.md")
    assert (found.id, found.title, found.status, found.error) == (None, "<failed to parse>", "<failed to parse>", text)
    assert base.kb.parsed("bad.md").error == text
    assert base.ids("went on") == ["TSK-1"]


def test_a_file_that_is_no_text_shows_one_text_in_list_status_and_section_too(make_base: MakeBase) -> None:
    base = make_base({"bad.md": b"\x00\x01\x02" * 50, "good.md": "# Good\n\ntext\n"})
    (row,) = [row for row in base.kb.list().rows if row.id is None]
    assert row.error
    assert base.kb.status().collections[0].errors == (("bad.md", row.error),)
    assert base.kb.section("bad.md").error == base.kb.parsed("bad.md").error == row.error
    assert base.kb.section("bad.md@docs").title == "<failed to parse>"


def test_a_source_path_leads_to_the_variant_in_a_language(make_base: MakeBase) -> None:
    base = tasks(make_base, TSK=GOOD, ru__TSK=GOOD.replace("Ship it", "Отправить"))
    assert base.kb.section("TSK.md", language="ru").source == "ru/TSK.md"
    assert base.kb.section("ru/TSK.md", language="en").source == "TSK.md"
    with pytest.raises(NotFound, match=r"TSK\.md has no variant in 'de'; there are: en, ru"):
        base.kb.section("TSK.md", language="de")
    with pytest.raises(ArgumentError, match="not a language code"):
        base.kb.section("TSK.md", language="ru\n")


def test_a_schema_that_changes_is_applied_by_the_next_search(make_base: MakeBase) -> None:
    base = tasks(make_base, good=GOOD)
    assert base.kb.list().error_count == 0
    written(base.place, TASK_SCHEMA.replace('"active", ', ""))
    assert base.kb.list().error_count == 1


def test_a_document_of_a_type_without_a_schema_is_free(make_base: MakeBase) -> None:
    base = tasks(make_base, note="---\ntype: note\n---\n# Anything\n\ntext\n")
    assert base.kb.list().error_count == 0
    assert base.kb.list(types=["note"]).rows[0].title == "Anything"


def test_a_variant_parses_to_the_canonical_headings(make_base: MakeBase) -> None:
    russian = GOOD.replace("## Items", "## Пункты").replace("## Recent Updates", "## Последние изменения")
    base = tasks(make_base, TSK=GOOD, ru__TSK=russian)
    data = base.kb.parsed("TSK-1", language="ru")
    assert [(heading.name, heading.title) for heading in data.headings] == [
        ("Ship it", "Ship it"),
        ("Items", "Пункты"),
        ("Recent Updates", "Последние изменения"),
    ]
    assert [(item.text, item.done, item.heading, item.line) for item in data.items] == [
        ("write", False, "Items", 12),
        ("read", True, "Items", 13),
    ]
    assert [(entry.at, entry.text) for entry in data.entries] == [("2026-11-02T10:00:00", "went on"), ("2026-11-01", "began")]
    assert (data.language, data.status, data.front_matter["created"]) == ("ru", "active", "2026-11-01")


def test_items_keep_their_depth_and_what_runs_on(make_base: MakeBase) -> None:
    text = "# T\n\n- [ ] one\n  runs on\n  - [X] inner\n- [ ] two\n\n```\n- [ ] code\n```\n"
    data = make_base({"a.md": text}).kb.parsed("a")
    assert [(item.text, item.done, item.depth) for item in data.items] == [
        ("one runs on", False, 0),
        ("inner", True, 1),
        ("two", False, 0),
    ]


def test_parsed_of_a_subsection_holds_that_part_alone(make_base: MakeBase) -> None:
    data = tasks(make_base, good=GOOD).kb.parsed("good#items")
    assert [heading.name for heading in data.headings] == ["Items"]
    assert len(data.items) == 2
    assert data.entries == ()
    assert list(data.as_json())[:8] == [
        "id", "title", "collection", "source", "type", "status", "language", "front_matter",
    ]  # fmt: skip


def test_a_schema_may_not_lie_outside_the_folder_of_a_toml_found_upwards(
    make_base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kb.config import load, locate

    base = make_base({}, TOML.replace("tsk.toml", "../tsk.toml"))
    written(base.place.parent, TASK_SCHEMA)
    assert load(base.path).collections[0].schema == base.place.parent / "tsk.toml"
    monkeypatch.chdir(base.place)
    with pytest.raises(ConfigError, match="schema of collection 'tasks' lies outside its folder"):
        locate(None)


def test_a_schema_that_is_missing_is_an_error(make_base: MakeBase) -> None:
    from kb.config import load

    with pytest.raises(ConfigError, match="schema of collection 'tasks' not found: tsk"):
        load(make_base({}, TOML).path)
