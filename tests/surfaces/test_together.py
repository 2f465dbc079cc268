"""Several processes serve one base while its files change."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from .served import command, environment, serving, write

pytestmark = pytest.mark.slow


def test_two_agents_and_a_server_are_current_while_files_change(tmp_path: Path) -> None:
    write(tmp_path)
    arguments = ["-m", "kb", "--base", str(tmp_path / "kb.toml"), "mcp"]
    target = StdioServerParameters(command=sys.executable, args=arguments, env=environment(tmp_path))

    async def titles(client: Client, query: str) -> list[str]:
        result = await client.call_tool("kb_search", {"query": query, "limit": 50})
        assert not result.is_error, result.content
        assert result.structured_content["warning"] is None
        return sorted(row["title"] for row in result.structured_content["results"])

    async def run(url: str) -> None:
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(Client(server, mode=era))
                for server, era in ((target, "auto"), (target, "legacy"), (f"{url}/mcp", "auto"))
            ]
            for number in range(12):
                name = f"Buoy {number}"
                path = tmp_path / "docs" / f"buoy-{number % 4}.md"
                path.write_text(f"# {name}\n\nA buoywort marks the channel.\n", encoding="utf-8")
                if number % 3 == 2:
                    (tmp_path / "docs" / f"buoy-{(number - 1) % 4}.md").unlink()
                expected = sorted(
                    held.read_text(encoding="utf-8").splitlines()[0][2:] for held in (tmp_path / "docs").glob("buoy-*.md")
                )
                answers: list[list[str]] = []

                async def ask(client: Client, answers: list[list[str]] = answers) -> None:
                    answers.append(await titles(client, "buoywort"))

                with anyio.fail_after(60):
                    async with anyio.create_task_group() as group:
                        for client in clients:
                            group.start_soon(ask, client)
                assert answers == [expected] * 3

    with serving(tmp_path) as served:
        anyio.run(run, served.url)


def test_a_search_is_answered_while_the_index_is_made_anew(tmp_path: Path) -> None:
    import subprocess

    files = {
        f"docs/{n}.md": f"# Page {n}\n\nThe word harbour and number {n}. " + "Filling text of many words. " * 40
        for n in range(600)
    }
    write(tmp_path, {**files, "kb.toml": '[[collections]]\nname = "docs"\nroot = "docs"\n'})
    with serving(tmp_path) as served:
        assert served.ask("/api/search", query="harbour").json["total"] == 600
        process = subprocess.Popen(
            [sys.executable, "-m", "kb", "--base", str(tmp_path / "kb.toml"), "index", "--rebuild"],
            env=environment(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        answered = 0
        while process.poll() is None:
            reply = served.ask("/api/search", query=f"harbour {answered}")
            assert reply.status == 200
            assert reply.json["total"] == 600
            answered += 1
        assert process.returncode == 0
    assert answered > 0
    assert command(tmp_path, "search", "harbour").returncode == 0
