from __future__ import annotations

import json
from pathlib import Path

from .served import command


def test_the_doctor_tries_the_server_and_shows_how_clients_are_told_of_it(place: Path) -> None:
    done = command(place, "doctor", "--mcp")
    assert done.returncode == 0, done.stderr
    assert "tools listed and a call answered" in done.stdout
    for client in ("Claude Code", "Claude Desktop", "Cursor", "VS Code", "Codex", "Gemini CLI"):
        assert client in done.stdout
    assert str(place / "kb.toml") in done.stdout


def test_the_snippets_are_what_the_clients_read(place: Path) -> None:
    import tomllib

    body = json.loads(command(place, "doctor", "--mcp", "--json").stdout)
    assert body["ok"]
    texts = {entry["client"].partition(" (")[0]: entry["text"] for entry in body["snippets"]}
    desktop = json.loads(texts["Claude Desktop"])["mcpServers"]["kb"]
    assert desktop["args"][-3:] == ["--base", str(place / "kb.toml"), "mcp"]
    assert json.loads(texts["VS Code"])["servers"]["kb"]["type"] == "stdio"
    assert tomllib.loads(texts["Codex"])["mcp_servers"]["kb"]["args"] == desktop["args"]


def test_a_base_that_the_server_can_not_use_is_said(tmp_path: Path) -> None:
    done = command(tmp_path, "doctor", "--mcp")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
