from __future__ import annotations

import json
import socket
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .served import Served

PARTS = st.sampled_from(
    [
        "api",
        "search",
        "section",
        "tree",
        "list",
        "H.1",
        "..",
        "%2e%2e",
        "%00",
        "%ff",
        "a%2Fb",
        "",
        "static",
        "render",
        "mcp",
        "health",
    ]
)
NAMES = st.sampled_from(["query", "limit", "offset", "id", "raw", "depth", "type", "collection", "language", "where", "x", ""])
TEXT = st.text(st.sampled_from(string.printable + "яß合\x00\u202e"), max_size=20)


def _answered(served: Served, data: bytes) -> bytes:
    """Send bytes as they are and return the first line of what comes back."""
    with socket.create_connection((served.host, served.port), timeout=30) as connection:
        connection.sendall(data)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    assert b"Traceback" not in received
    return received.split(b"\r\n")[0]


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(
    st.lists(PARTS, max_size=5),
    st.lists(st.tuples(NAMES, TEXT), max_size=4),
    st.sampled_from(["GET", "POST", "PUT", "HEAD", "x"]),
)
def test_no_address_is_an_internal_error(served: Served, parts: list[str], values: list[tuple[str, str]], method: str) -> None:
    from urllib.parse import urlencode

    address = f"/{'/'.join(parts)}?{urlencode(values)}"
    line = f"{method} {address} HTTP/1.1\r\nHost: {served.host}:{served.port}\r\nConnection: close\r\n\r\n"
    status = _answered(served, line.encode())
    assert status.startswith(b"HTTP/1.1 ")
    assert not status.startswith(b"HTTP/1.1 5") or status.startswith(b"HTTP/1.1 503")


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(
    st.binary(max_size=60) | st.text(max_size=40).map(lambda text: json.dumps({"query": text}).encode()),
    st.sampled_from(["search", "section", "new", "chunks", "similar"]),
)
def test_no_body_is_an_internal_error(served: Served, body: bytes, name: str) -> None:
    reply = served.ask(f"/api/{name}", method="POST", body=body, headers={"content-type": "application/json"})
    assert reply.status in (200, 400, 404, 503)
    assert reply.status == 200 or set(reply.json) <= {"error", "suggestions"}


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(
        st.sampled_from(["jsonrpc", "id", "method", "params"]), st.none() | st.integers() | TEXT | st.just("2.0"), max_size=4
    )
    | st.just([]),
    st.sampled_from(["2026-07-28", "2025-11-25", "1999-01-01", ""]),
    st.sampled_from(["application/json, text/event-stream", "application/json", "text/plain", ""]),
)
def test_no_message_of_the_protocol_is_an_internal_error(served: Served, message: object, version: str, accept: str) -> None:
    headers = {"content-type": "application/json", "accept": accept, "mcp-protocol-version": version}
    reply = served.ask("/mcp", method="POST", body=json.dumps(message).encode(), headers=headers)
    assert reply.status < 500
    assert b"Traceback" not in reply.body


@pytest.mark.slow
def test_two_thousand_requests_made_from_the_description_find_no_error_of_the_server(served: Served) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    schema = schemathesis.openapi.from_dict(served.ask("/openapi.json").json)
    schema.config.update(base_url=served.url)
    asked = 0

    def check(operation: Any) -> None:
        @settings(max_examples=100, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        @given(st.data())
        def inner(data: st.DataObject) -> None:
            nonlocal asked
            mode = data.draw(st.sampled_from(list(schemathesis.GenerationMode)))
            case = data.draw(operation.as_strategy(generation_mode=mode))
            try:
                response = case.call(timeout=30)
            except OSError:  # a reset: an address of more than 160 kB is cut off, and nothing else may be
                assert len(case.as_curl_command()) > 150_000
                return
            asked += 1
            assert response.status_code < 500 or response.status_code == 503, (case, response.text)
            assert b"Traceback" not in response.content

        inner()

    for result in schema.get_all_operations():
        check(result.ok())
    assert asked >= 2000
