"""How common clients are told of the server: ready to paste, with the command and base as they are here."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NAME = "kb"


def program(base: Path | None) -> list[str]:
    """Return the command line that starts the server; `base` where it should be named."""
    found = shutil.which("kb")
    start = [found] if found else [sys.executable, "-m", "kb"]
    return [*start, *(["--base", str(base)] if base is not None else []), "mcp"]


def snippets(base: Path | None) -> list[tuple[str, str]]:
    """Return (client and file, what to put there) for each client."""
    line = program(base)
    entry = {"command": line[0], "args": line[1:]}
    return [
        ("Claude Code (run it)", _shell(["claude", "mcp", "add", NAME, "--", *line])),
        ("Claude Desktop (claude_desktop_config.json)", _json({"mcpServers": {NAME: entry}})),
        ("Cursor (.cursor/mcp.json)", _json({"mcpServers": {NAME: entry}})),
        ("VS Code (.vscode/mcp.json)", _json({"servers": {NAME: {"type": "stdio", **entry}}})),
        ("Codex (~/.codex/config.toml)", _toml(line)),
        ("Gemini CLI (~/.gemini/settings.json)", _json({"mcpServers": {NAME: entry}})),
        ("over HTTP, after: kb serve", "http://127.0.0.1:8321/mcp"),
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _toml(line: Sequence[str]) -> str:
    return f"[mcp_servers.{NAME}]\ncommand = {json.dumps(line[0])}\nargs = {json.dumps(list(line[1:]))}"


def _shell(words: Sequence[str]) -> str:
    import shlex

    return shlex.join(words)
