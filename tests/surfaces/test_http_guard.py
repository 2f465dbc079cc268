from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kb.config import load
from kb.errors import ConfigError
from kb.surfaces.http.guard import Rules, is_loopback

from .served import Served, environment, serving, write

TOKEN = "a-secret-of-some-length"


@pytest.mark.parametrize("path", ["/health", "/api/search?query=a", "/", "/mcp", "/static/app.js"])
def test_a_host_that_is_not_served_is_403(served: Served, path: str) -> None:
    assert served.ask(path, headers={"host": "evil.example"}).status == 403
    assert served.ask(path, headers={"host": f"127.0.0.1.evil.example:{served.port}"}).status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://localhost:1", "http://127.0.0.1"])
def test_a_page_from_elsewhere_may_not_ask(served: Served, origin: str) -> None:
    assert served.ask("/api/search?query=a", headers={"origin": origin}).status == 403
    reply = served.ask("/mcp", method="POST", body=b"{}", headers={"origin": origin, "content-type": "application/json"})
    assert reply.status == 403


def test_the_page_of_the_server_itself_may_ask(served: Served) -> None:
    assert served.ask("/api/search?query=a", headers={"origin": served.url}).status == 200
    assert served.ask("/health", headers={"host": f"localhost:{served.port}"}).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/api/section/../../etc/passwd",
        "/api/section/..%2f..%2fetc%2fpasswd",
        "/api/section/%2e%2e/%2e%2e/etc/passwd",
        "/api/section/%2Fetc%2Fpasswd",
        "/api/section//etc/passwd",
        "/api/section/..%5c..%5cetc",
        "/api/section/docs%00.md",
        "/render/..%2f..%2fetc%2fpasswd",
        "/static/../../config.py",
        "/static/%2e%2e/%2e%2e/config.py",
        "/static/..%2f..%2fconfig.py",
        "/static//etc/passwd",
    ],
)
def test_a_path_out_of_the_base_is_refused(served: Served, path: str) -> None:
    reply = served.ask(path)
    assert reply.status in (400, 404)
    assert set(reply.json) <= {"error", "suggestions"}
    assert b"root:" not in reply.body


def test_every_response_carries_the_headers_of_a_careful_server(served: Served) -> None:
    for path in ("/", "/api/search?query=a", "/api/nothing", "/static/app.js"):
        headers = served.ask(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_with_a_token_nothing_of_the_base_is_given_without_it(place: Path) -> None:
    with serving(place, KB_TOKEN=TOKEN) as served:
        for path in ("/api/search?query=crane", "/api/status", "/render/H.1", "/openapi.json", "/mcp"):
            reply = served.ask(path)
            assert reply.status == 401
            assert reply.headers["www-authenticate"] == "Bearer"
            assert served.ask(path, headers={"authorization": "Bearer wrong"}).status == 401
            assert served.ask(path, headers={"authorization": f"Basic {TOKEN}"}).status == 401
        given = {"authorization": f"Bearer {TOKEN}"}
        assert served.ask("/api/search?query=crane", headers=given).status == 200
        assert served.ask("/health").status == 200
        assert served.ask("/").status == 200


def _serve(place: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kb", "--base", str(place / "kb.toml"), "serve", *arguments],
        capture_output=True, encoding="utf-8", timeout=60, env=environment(place, **more),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "token", "said"),
    [
        (["--host", "0.0.0.0"], "", "can be reached by others: set KB_TOKEN"),
        (["--host", "127.0.0.1"], "short", "KB_TOKEN must have 16 or more"),
        (["--port", "70000"], "", "port must be from 0 to 65535"),
        (["--host", "no.such.host.invalid", "--port", "0"], TOKEN, "can't listen on no.such.host.invalid"),
    ],
)
def test_an_address_that_would_be_open_or_can_not_be_had_is_one_line(
    place: Path, arguments: list[str], token: str, said: str
) -> None:
    done = _serve(place, *arguments, KB_TOKEN=token)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_in_use_is_one_line(served: Served, place: Path) -> None:
    done = _serve(place, "--port", str(served.port))
    assert done.returncode == 2
    assert "name another port with --port" in done.stderr


def test_another_address_serves_those_who_hold_the_token(place: Path) -> None:
    with serving(place, "--host", "0.0.0.0", KB_TOKEN=TOKEN) as served:
        given = {"authorization": f"Bearer {TOKEN}"}
        assert served.ask("/api/search?query=crane", headers=given).status == 200
        assert served.ask("/api/search?query=crane", headers={**given, "host": "evil.example"}).status == 403


def test_neither_the_token_nor_a_query_is_written_to_the_log(tmp_path: Path) -> None:
    write(tmp_path)
    with serving(tmp_path, KB_TOKEN=TOKEN) as served:
        served.ask("/api/search?query=confidential", headers={"authorization": f"Bearer {TOKEN}"})
        served.ask("/api/search?query=confidential", headers={"authorization": "Bearer wrong-confidential"})
        served.ask("/api/section/confidential", headers={"authorization": f"Bearer {TOKEN}"})
        served.process.terminate()
        assert served.process.stderr is not None
        log = served.process.stderr.read()
    assert "confidential" not in log
    assert TOKEN not in log


def test_names_and_origins_of_kb_toml_are_served(tmp_path: Path) -> None:
    write(tmp_path)
    toml = tmp_path / "kb.toml"
    extra = '\n[serve]\nallowed_hosts = ["wiki.example"]\nallowed_origins = ["https://Notes.example/"]\n'
    toml.write_text(toml.read_text(encoding="utf-8") + extra, encoding="utf-8")
    with serving(tmp_path) as served:
        assert served.ask("/health", headers={"host": "wiki.example:8321"}).status == 200
        reply = served.ask("/api/search?query=a", headers={"origin": "https://notes.example"})
        assert reply.status == 200
        assert reply.headers["access-control-allow-origin"] == "https://notes.example"
        assert served.ask("/health", headers={"origin": "https://other.example"}).status == 403


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        ('host = 1', "serve.host must be a text"),
        ('port = 70000', "serve.port must be from 0 to 65535"),
        ('token = "x"', "unknown key serve.token; valid: host, port, allowed_hosts, allowed_origins"),
        ('allowed_origins = ["*"]', "write whole origins"),
    ],
)  # fmt: skip
def test_settings_that_are_not_valid_are_named(tmp_path: Path, serve: str, said: str) -> None:
    toml = write(tmp_path)
    toml.write_text(toml.read_text(encoding="utf-8") + f"\n[serve]\n{serve}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(said)):
        load(toml)


def test_a_kb_toml_that_nobody_named_may_not_open_the_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kb.config import locate

    toml = write(tmp_path)
    toml.write_text(toml.read_text(encoding="utf-8") + '\n[serve]\nhost = "0.0.0.0"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"name this .* with --base"):
        locate(None)
    assert load(toml).serve.host == "0.0.0.0"


def test_only_this_machine_counts_as_this_machine() -> None:
    assert all(is_loopback(host) for host in ("localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "example.org", "", "127.0.0.1.example.org"))


def test_the_own_page_may_ask_through_a_proxy_that_adds_tls() -> None:
    rules = Rules(hosts=("kb.example",))
    assert rules.origin_allowed("https://kb.example", "kb.example")
    assert not rules.origin_allowed("https://kb.example.evil.example", "kb.example")
    assert not rules.origin_allowed("null", "kb.example")


@pytest.mark.parametrize("header", ["", "[::1", "127.0.0.1:x", "127.0.0.1:80:80", "::1", "a@127.0.0.1", "127.0.0.1 evil"])
def test_a_host_header_that_is_no_host_is_not_served(header: str) -> None:
    assert not Rules().host_allowed(header, None)
