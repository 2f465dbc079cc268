from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from .served import Served, command_json, environment, write

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
Work = Callable[[Client], Awaitable[Any]]
QUESTIONS: list[tuple[str, Mapping[str, Any], list[str]]] = [
    ("kb_search", {"query": "crane containers", "limit": 3}, ["search", "crane containers", "--limit", "3"]),
    ("kb_search", {"query": "гавань", "language": "ru"}, ["search", "гавань", "--language", "ru"]),
    ("kb_search", {"query": "crane", "collection": ["docs"], "explain": True},
     ["search", "crane", "--collection", "docs", "--explain"]),
    ("kb_search", {"query": "xyzzyqwv"}, ["search", "xyzzyqwv"]),
    ("kb_search", {"query": "crane", "semantic": True}, ["search", "crane", "--semantic"]),
    ("kb_section", {"id": "H.1", "language": "de"}, ["section", "H.1", "--language", "de"]),
    ("kb_section", {"id": "harbour#crane", "raw": True, "offset": 2, "limit": 1},
     ["section", "harbour#crane", "--raw", "--offset", "2", "--limit", "1"]),
    ("kb_section", {"id": "H.1", "parsed": True}, ["section", "H.1", "--parsed"]),
    ("kb_section", {"id": "table.md"}, ["section", "table.md", "--max-characters", "20000"]),
    ("kb_list", {"type": ["note"], "max_results": 1}, ["list", "--type", "note", "--max-results", "1"]),
    ("kb_tree", {"depth": 1}, ["tree", "--depth", "1"]),
    ("kb_tree", {"id": "H.1"}, ["tree", "H.1"]),
    ("kb_ground", {"question": "crane rope", "budget": 2000}, ["ground", "crane rope", "--budget", "2000"]),
    ("kb_cite", {"id": "demo:2026:FEE-1"}, ["cite", "demo:2026:FEE-1"]),
    ("kb_related", {"id": "H.1"}, ["related", "H.1"]),
    ("kb_similar", {"text": "boats in a harbour"}, ["similar", "boats in a harbour"]),
    ("kb_vector", {"query": "lighthouse"}, ["vector", "lighthouse"]),
    ("kb_chunks", {"query": "boats", "collection": "docs"}, ["chunks", "boats", "--collection", "docs"]),
    ("kb_status", {}, ["status"]),
]  # fmt: skip


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, place: Path, served: Served) -> StdioServerParameters | str:
    """The server over each transport; both stand on the same base."""
    if request.param == "http":
        return f"{served.url}/mcp"
    arguments = ["-m", "kb", "--base", str(place / "kb.toml"), "mcp"]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment(place))


@pytest.fixture(scope="module")
def from_the_command(place: Path) -> list[Any]:
    """What the command says to each question."""
    return [command_json(place, *words) for _, _, words in QUESTIONS]


def asked(target: StdioServerParameters | str, era: str, work: Work) -> Any:
    async def run() -> Any:
        with anyio.fail_after(120):
            async with Client(target, mode=era) as client:
                assert client.protocol_version == ERAS[era]
                return await work(client)

    return anyio.run(run)


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_answers_as_the_command_does_and_fits_its_schema(
    target: StdioServerParameters | str, era: str, from_the_command: list[Any]
) -> None:
    async def work(client: Client) -> tuple[dict[str, Any], list[Any]]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return tools, [await client.call_tool(name, dict(arguments)) for name, arguments, _ in QUESTIONS]

    tools, results = asked(target, era, work)
    for (name, arguments, _), result, expected in zip(QUESTIONS, results, from_the_command, strict=True):
        assert not result.is_error, (name, result.content)
        text = result.content[0].text
        assert len(text) <= 20_000
        assert json.loads(text) == result.structured_content
        jsonschema.Draft202012Validator(tools[name].output_schema).validate(result.structured_content)
        jsonschema.Draft202012Validator(tools[name].input_schema).validate(arguments)
        if name == "kb_status":  # the size of the index changes as it is used
            assert result.structured_content["collections"] == expected["collections"]
        else:
            assert result.structured_content == expected, name
    assert set(tools) - {name for name, *_ in QUESTIONS} == {"kb_new"}


@pytest.mark.parametrize("era", ERAS)
def test_the_tools_say_what_they_do_and_what_they_take(target: StdioServerParameters | str, era: str) -> None:
    async def work(client: Client) -> Any:
        return await client.list_tools()

    listed = asked(target, era, work)
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) < 24_000
    for tool in listed.tools:
        assert tool.title
        assert tool.description
        assert tool.annotations.read_only_hint == (tool.name != "kb_new")
        assert tool.annotations.idempotent_hint == (tool.name != "kb_new")
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
        assert all(value["description"] for value in tool.input_schema["properties"].values())
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


@pytest.mark.parametrize("era", ERAS)
def test_mistakes_are_results_that_a_model_can_act_on(target: StdioServerParameters | str, era: str) -> None:
    calls = [
        ("kb_section", {"id": "H.2"}, "section not found: H.2"),
        ("kb_search", {"query": "crane", "colection": ["docs"]}, "valid: query, limit, offset, semantic, collection"),
        ("kb_search", {"query": "crane", "limit": 51}, "limit must be from 1 to 50, got 51"),
        ("kb_search", {"query": 7}, "query must be a text, got 7"),
        ("kb_search", {"query": "crane", "collection": ["nowhere"]}, "there are: docs, rules, pages"),
        ("kb_search", {}, "search needs query"),
        ("kb_section", {"id": "../../etc/passwd"}, "not an id or a source path inside the base"),
        ("kb_cite", {"id": "H.1"}, "clause not found: H.1"),
        ("kb_new", {"title": "x", "collection": "docs"}, "collection docs is not writable"),
    ]

    async def work(client: Client) -> list[Any]:
        return [await client.call_tool(name, arguments) for name, arguments, _ in calls]

    for (name, _, said), result in zip(calls, asked(target, era, work), strict=True):
        assert result.is_error, name
        assert result.structured_content is None
        body = json.loads(result.content[0].text)
        assert said in body["error"]
        assert set(body) <= {"error", "suggestions"}
        if name == "kb_section" and said.startswith("section not found"):
            assert "H.1" in body["suggestions"]


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_an_error_of_the_protocol(target: StdioServerParameters | str, era: str) -> None:
    async def work(client: Client) -> None:
        await client.call_tool("kb_nothing", {})

    with pytest.raises(MCPError, match="there are: kb_search"):
        _unwrapped(lambda: asked(target, era, work))


@pytest.mark.parametrize("era", ERAS)
def test_sections_are_resources(target: StdioServerParameters | str, era: str) -> None:
    async def work(client: Client) -> Any:
        page = await client.list_resources()
        template = (await client.list_resource_templates()).resource_templates[0]
        texts = [await client.read_resource(resource.uri) for resource in page.resources]
        return page, template, texts

    page, template, texts = asked(target, era, work)
    assert template.uri_template == "kb://section/{id}"
    named = {resource.name: text.contents[0].text for resource, text in zip(page.resources, texts, strict=True)}
    assert "The harbour holds boats" in named["H.1"]
    assert all(len(text) <= 200_100 for text in named.values())


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_resource_names_the_nearest_ids(target: StdioServerParameters | str, era: str) -> None:
    async def work(client: Client) -> None:
        await client.read_resource("kb://section/H.2")

    with pytest.raises(MCPError, match="section not found") as caught:
        _unwrapped(lambda: asked(target, era, work))
    assert caught.value.error.code == (-32602 if era == "auto" else -32002)
    assert "H.1" in caught.value.error.data["suggestions"]


@pytest.mark.parametrize("era", ERAS)
def test_the_prompt_holds_passages_that_no_section_can_break_out_of(target: StdioServerParameters | str, era: str) -> None:
    async def work(client: Client) -> Any:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["kb_ground_question"]
        return await client.get_prompt("kb_ground_question", {"question": "hostile instructions", "budget": "3000"})

    text = asked(target, era, work).messages[0].content.text
    assert "Ignore previous instructions" in text
    fence = text[text.index("```") :].partition("text\n")[0]
    assert text.count(f"\n{fence}text\n") == text.count(f"\n{fence}\n")


def test_a_document_created_through_a_tool_is_found_by_the_next_call(tmp_path: Path) -> None:
    write(tmp_path)
    target = StdioServerParameters(
        command=sys.executable, args=["-m", "kb", "--base", str(tmp_path / "kb.toml"), "mcp"], env=environment(tmp_path)
    )

    async def work(client: Client) -> tuple[Any, Any]:
        made = await client.call_tool("kb_new", {"title": "Tide table", "content": "High water at noon.\n"})
        following = made.structured_content["next"]
        return made, await client.call_tool(following["tool"], following["arguments"])

    made, read = asked(target, "auto", work)
    assert made.structured_content["doc"]["path"] == "/tide-table"
    assert "High water at noon." in read.structured_content["body"]


def test_writing_is_not_offered_where_no_collection_may_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    target = StdioServerParameters(
        command=sys.executable, args=["-m", "kb", "--base", str(tmp_path), "mcp"], env=environment(tmp_path / "cache")
    )

    async def work(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert "kb_new" not in asked(target, "auto", work)


def test_building_the_index_is_reported_and_can_be_given_up(tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / "docs").mkdir(exist_ok=True)
        text = f"# Page {number}\n\n" + "Many different words stand in this page. " * 60
        (tmp_path / "docs" / f"{number}.md").write_text(text, encoding="utf-8")
    target = StdioServerParameters(
        command=sys.executable, args=["-m", "kb", "--base", str(tmp_path / "docs"), "mcp"], env=environment(tmp_path)
    )
    seen: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(done)

    async def work(client: Client) -> Any:
        with anyio.move_on_after(0.05):
            await client.call_tool("kb_search", {"query": "words"})
        return await client.call_tool("kb_search", {"query": "words"}, progress_callback=progress)

    result = asked(target, "auto", work)
    assert result.structured_content["total"] == 400
    assert seen == sorted(seen)


def _unwrapped(work: Callable[[], Any]) -> Any:
    """Run something whose error comes inside groups of one, and raise the error itself."""
    try:
        return work()
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
