from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.base import KnowledgeBase
from kb.errors import ArgumentError, KBError
from kb.surfaces.operations.bounds import bounded, length
from kb.surfaces.operations.model import Operation
from kb.surfaces.operations.registry import operation, operations
from kb.surfaces.operations.run import run

from .served import write

READING = operations(writable=False)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("operations")
    with KnowledgeBase(write(folder), cache=folder / "cache") as opened:
        yield opened


def test_operations_that_write_are_there_only_where_something_may_be_written_to() -> None:
    assert {asked.name for asked in operations(writable=True)} - {asked.name for asked in READING} == {"new"}


def test_the_names_are_those_of_the_tools() -> None:
    names = "search section list tree ground cite related similar vector chunks status"
    assert [asked.name for asked in READING] == names.split()


@pytest.mark.parametrize("asked", READING, ids=lambda asked: asked.name)
def test_schemas_are_valid_and_every_default_is_within_its_limits(asked: Operation) -> None:
    jsonschema.Draft202012Validator.check_schema(asked.input_schema())
    jsonschema.Draft202012Validator.check_schema(dict(asked.output))
    for argument in asked.arguments:
        if argument.default is not None:
            assert argument.checked(argument.default) == argument.default


def test_an_unknown_argument_is_refused_and_the_valid_ones_are_named(base: KnowledgeBase) -> None:
    with pytest.raises(ArgumentError, match="unknown argument 'query' for section; valid: id, language, raw"):
        run(base, operation("section"), {"query": "x"})
    with pytest.raises(ArgumentError, match="unknown argument 'x' for status; valid: none"):
        run(base, operation("status"), {"x": 1})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@settings(max_examples=300)
@given(st.data())
def test_no_arguments_do_more_than_answer_or_raise_an_error_of_ours(base: KnowledgeBase, data: st.DataObject) -> None:
    asked = data.draw(st.sampled_from(READING))
    names = st.sampled_from([argument.name for argument in asked.arguments] or ["x"]) | st.text(max_size=8)
    given_ = data.draw(st.dictionaries(names, VALUES | st.sampled_from(["H.1", "crane", "docs", "de"]), max_size=4))
    try:
        body = run(base, asked, given_, 20_000)
    except KBError as error:
        assert str(error)
        return
    json.dumps(body, allow_nan=False)
    jsonschema.Draft202012Validator(dict(asked.output)).validate(body)


def test_next_leads_to_a_section_that_is_there(base: KnowledgeBase) -> None:
    for name, arguments in [
        ("search", {"query": "crane"}),
        ("search", {"query": "xyzzyqwv"}),
        ("section", {"id": "H.1"}),
        ("section", {"id": "light/tower.md"}),
        ("section", {"id": "H.1", "parsed": True}),
        ("list", {}),
        ("list", {"max_results": 1}),
        ("tree", {"depth": 1}),
        ("ground", {"question": "crane", "budget": 4000}),
        ("cite", {"id": "demo:2026:FEE-1"}),
        ("vector", {"query": "lighthouse"}),
        ("status", {}),
    ]:
        following = run(base, operation(name), arguments)["next"]
        answer = run(base, operation(following["tool"].removeprefix("kb_")), following["arguments"])
        assert answer.get("results") or answer.get("id"), name


def test_next_names_the_variant_that_matched(base: KnowledgeBase) -> None:
    following = run(base, operation("search"), {"query": "гавань"})["next"]
    assert following == {"tool": "kb_section", "arguments": {"id": "H.1", "language": "ru"}}


def test_next_names_the_collection_where_several_hold_an_id(tmp_path: Path) -> None:
    files = {f"{name}/a.md": f"---\nid: A.1\n---\n# Title\n\nWords of {name}.\n" for name in ("one", "two")}
    toml = "".join(f'[[collections]]\nname = "{name}"\nroot = "{name}"\n\n' for name in ("one", "two"))
    with KnowledgeBase(write(tmp_path, {**files, "kb.toml": toml}), cache=tmp_path / "cache") as base:
        following = run(base, operation("search"), {"query": "two"})["next"]
        assert following["arguments"]["id"] == "A.1@two"
        assert run(base, operation("section"), following["arguments"])["collection"] == "two"


def test_pages_of_a_list_are_joined_by_next(base: KnowledgeBase) -> None:
    seen = []
    arguments: dict[str, Any] = {"max_results": 3, "collection": ["docs"]}
    while True:
        body = run(base, operation("list"), arguments)
        seen += [row["source"] for row in body["results"]]
        if body["next"]["tool"] != "kb_list":
            break
        arguments = body["next"]["arguments"]
    assert len(seen) == body["total"]


def test_a_pack_of_passages_keeps_its_budget_with_what_is_next(base: KnowledgeBase) -> None:
    for budget in range(400, 3000, 200):
        body = run(base, operation("ground"), {"question": "crane rope harbour", "budget": budget})
        assert len(json.dumps(body, ensure_ascii=False, indent=2)) <= budget


@settings(max_examples=60)
@given(st.integers(2000, 60_000), st.text(st.sampled_from('ab\n"\\\u0416 '), max_size=40), st.integers(1, 4000))
def test_a_bounded_section_is_never_longer_and_reads_on_where_it_was_cut(most: int, piece: str, times: int) -> None:
    text = (piece + "\n") * times
    node = {"id": "x" * 300, "title": "y" * 300}
    whole = {
        "id": "H.1",
        "title": "T",
        "path": "P",
        "parent": None,
        "children": [node] * 30,
        "siblings": [node] * 200,
        "source": "a.md",
    }
    body = bounded(operation("section"), {**whole, "body": text, "_body_offset": 1}, {}, most)
    assert length(body) <= most - 1000
    assert text.startswith(body["body"])
    if body.get("next_offset"):
        assert body["body"].count("\n") == body["next_offset"] - 1


@settings(max_examples=30)
@given(st.integers(2000, 30_000), st.recursive(st.just([]), lambda inner: st.lists(inner, max_size=12), max_leaves=300))
def test_a_bounded_tree_is_never_longer_and_says_what_it_hides(most: int, shape: list[Any]) -> None:
    def grown(shape: list[Any], name: str) -> dict[str, Any]:
        return {
            "id": name,
            "title": name * 3,
            "collection": "c",
            "children": [grown(s, f"{name}.{n}") for n, s in enumerate(shape)],
        }

    whole = {"results": [grown(s, str(n)) for n, s in enumerate(shape)]}
    body = bounded(operation("tree"), whole, {}, most)
    assert length(body) <= most
    if length(whole) > most:
        assert body["truncated"]

    def same(short: dict[str, Any], full: dict[str, Any]) -> None:
        assert short["id"] == full["id"]
        if short["children"]:
            assert len(short["children"]) == len(full["children"])
        else:
            assert short.get("more", 0) == len(full["children"])
        for inner, outer in zip(short["children"], full["children"], strict=False):
            same(inner, outer)

    for short, full in zip(body["results"], whole["results"], strict=False):
        same(short, full)


def test_one_line_longer_than_an_answer_can_still_be_read(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.md": "# A\n\n" + "word " * 20_000 + "\n\nThe end.\n"})
    with KnowledgeBase(tmp_path / "docs", cache=tmp_path / "cache") as base:
        body = run(base, operation("section"), {"id": "a"}, 20_000)
        text = ""
        for _ in range(5):
            following = body["next"]["arguments"]
            if not following.get("raw"):
                break
            body = run(base, operation("section"), following, 20_000)
            text += "" if body["next"]["arguments"].get("offset") == body["offset"] else body["text"]
        assert "The end." in text
        assert text.count("word") == 20_000


def test_what_is_of_use_to_a_person_only_is_no_argument_of_a_tool() -> None:
    search = next(asked for asked in READING if asked.name == "search")
    assert search.argument("typing") is not None
    tool = search.as_tool()
    assert tool.argument("typing") is None
    assert "typing" not in tool.input_schema()["properties"]
    with pytest.raises(ArgumentError, match="typing"):
        tool.checked({"query": "x", "typing": True})
