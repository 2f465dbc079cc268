"""A script that knows nothing of the tools but what their list says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from .served import environment

pytestmark = pytest.mark.slow

QUESTIONS = [
    "How is trust in a conclusion assembled from many parts?",
    "What is a bounded context?",
    "Как устроено исчисление доверия?",
    "Что такое холон?",
    "Чем роль отличается от функции?",
    "How long may an instant payment take?",
    "Wie finde ich Abschnitte in mehreren Sprachen?",
    "evidence decay",
    "A.3.1",
    "свежесть свидетельств",
]


def _pick(tools: list[Any], *words: str) -> Any:
    """The tool whose title and description speak most of some words."""

    def rank(tool: Any) -> int:
        text = f"{tool.name} {tool.title} {tool.description}".lower().split(";")[0]
        return sum(text.count(word) for word in words)

    return max(tools, key=rank)


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_ten_questions_are_answered_by_search_and_what_is_next(tmp_path: Path, era: str) -> None:
    target = StdioServerParameters(command=sys.executable, args=["-m", "kb", "mcp"], env=environment(tmp_path))

    async def run() -> list[tuple[str, dict[str, Any]]]:
        answers = []
        async with Client(target, mode=era) as client:
            tools = (await client.list_tools()).tools
            search = _pick(tools, "search", "question", "find")
            (required,) = search.input_schema["required"]
            for question in QUESTIONS:
                found = await client.call_tool(search.name, {required: question})
                assert not found.is_error
                following = found.structured_content["next"]
                assert following["tool"] in {tool.name for tool in tools}
                read = await client.call_tool(following["tool"], following["arguments"])
                assert not read.is_error
                assert read.structured_content["id"] == found.structured_content["results"][0]["id"]
                answers.append((question, read.structured_content))
        return answers

    answers = anyio.run(run)
    assert all(body["body"] for _, body in answers)
    assert dict(answers)["A.3.1"]["id"] == "A.3.1"
    assert dict(answers)["Что такое холон?"]["language"] == "ru"


INSPECTOR = shutil.which("mcp-inspector")


@pytest.mark.skipif(INSPECTOR is None, reason="mcp-inspector is not installed (npm install -g @modelcontextprotocol/inspector)")
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_lists_and_calls_the_tools(place: Path, served: Any, transport: str) -> None:
    assert INSPECTOR is not None
    server = (
        [sys.executable, "-m", "kb", "--base", str(place / "kb.toml"), "mcp"] if transport == "stdio" else [f"{served.url}/mcp"]
    )
    how = [] if transport == "stdio" else ["--transport", "http"]

    def inspect(*arguments: str) -> Any:
        done = subprocess.run(
            [INSPECTOR, "--cli", *server, *how, *arguments],
            capture_output=True,
            encoding="utf-8",
            env=environment(place),
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    names = [tool["name"] for tool in inspect("--method", "tools/list")["tools"]]
    assert names[0] == "kb_search"
    found = inspect("--method", "tools/call", "--tool-name", "kb_search", "--tool-arg", "query=crane", "--tool-arg", "limit=1")
    assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
    missing = inspect("--method", "tools/call", "--tool-name", "kb_section", "--tool-arg", "id=H.2")
    assert missing["isError"]
    assert inspect("--method", "prompts/list")["prompts"]
    assert inspect("--method", "resources/read", "--uri", "kb://section/H.1")["contents"]
