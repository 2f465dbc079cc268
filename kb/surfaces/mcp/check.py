"""Whether a client would get anywhere: start the server as a client does, list its tools, ask it something."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from kb.surfaces.mcp.snippets import program

_SECONDS = 60.0
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "kb doctor", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def check(base: Path | None) -> tuple[bool, str]:
    """Return whether the server lists its tools and answers a call, and what was seen."""
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": _META}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "kb_status", "arguments": {}, "_meta": _META}},
    ]
    started = time.monotonic()
    try:
        done = subprocess.run(
            program(base),
            input="".join(json.dumps(request) + "\n" for request in requests),
            capture_output=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
        answers: dict[int, Any] = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
        tools, status = answers[1]["result"]["tools"], answers[2]["result"]
    except subprocess.TimeoutExpired:
        return False, f"no answer within {_SECONDS:g} s; run kb mcp by hand and look at what it says"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return False, f"the server gave no answer ({type(error).__name__}); run kb mcp by hand and look at what it says"
    if status.get("isError"):
        return False, " ".join(str(status["content"][0]["text"]).split())
    return True, f"{len(tools)} tools listed and a call answered in {time.monotonic() - started:.1f} s"
