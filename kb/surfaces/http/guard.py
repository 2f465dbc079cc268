"""What stands before every route: who may ask, from where, and how much; and the headers of every response.

A page in a browser can be made to ask a server on this machine. The Host check stops names that an attacker has pointed
here (DNS rebinding), the Origin check stops pages from elsewhere, and the token stops everybody who has none.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LONGEST_QUERY = 120_000
"""Bytes of a query string: 8192 characters of four bytes each, percent-encoded, and room for the other arguments."""
LARGEST_BODY = 4 * 1024 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
_LOG = logging.getLogger("kb.http")


@dataclass(frozen=True, slots=True)
class Rules:
    """Who may ask. `hosts` are names, with or without a port; `origins` are whole, such as https://wiki.example."""

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    token: str | None = None

    def host_allowed(self, header: str, server: str | None) -> bool:
        """Return whether a Host header names this server."""
        host = _name(header)
        if host is None:
            return False
        if host == "localhost" or host == server or header.lower() in self.hosts or host in self.hosts:
            return True
        return is_loopback(host)

    def origin_allowed(self, origin: str, host: str) -> bool:
        """Return whether a page from this origin may ask: the server's own page (a proxy may add TLS), or one that was named."""
        return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower(), *self.origins)

    def token_held(self, header: str | None) -> bool:
        """Return whether an Authorization header holds the token, compared in constant time."""
        kind, _, given = (header or "").partition(" ")
        expected = (self.token or "").encode()
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode("utf-8", "replace"), expected)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine and nothing else can reach it."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _name(header: str) -> str | None:
    """Return the lower-case name or address in a Host header, without its port."""
    value = header.strip().lower()
    if value.startswith("["):
        end = value.find("]")
        return value[1:end] if end > 0 and (value[end + 1 :] == "" or _is_port(value[end + 1 :])) else None
    name, colon, port = value.partition(":")
    return name if name and (not colon or _is_port(colon + port)) else None


def _is_port(text: str) -> bool:
    return text.startswith(":") and text[1:].isascii() and text[1:].isdigit()


class Refused(Exception):
    """A request that is not served; `status` and the text are the response."""

    def __init__(self, status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: App, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, refuse it, or answer 500 with one line where something failed."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                held = {name for name, _ in message.get("headers", ())}
                message["headers"] = [*message.get("headers", ()), *(pair for pair in _HEADERS if pair[0] not in held)]
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, _limited(scope, receive), watched)
        except Refused as refusal:
            if not started:
                await _respond(watched, refusal.status, str(refusal), *refusal.headers)
        except Exception as error:
            # What went wrong is for whoever runs the server; a path or a query has no place in a log.
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place is not None else "?"
            _LOG.error("request failed: %s at %s", type(error).__name__, where)
            if not started:
                await _respond(watched, 500, "internal error; the server's log names the place")

    def _check(self, scope: Scope) -> None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        hosts = [value.decode("latin-1") for value in headers.get(b"host", [])]
        server = scope.get("server")
        if len(hosts) != 1 or not self._rules.host_allowed(hosts[0], server[0] if server else None):
            raise Refused(403, "this host name is not served here; name it in [serve] allowed_hosts")
        for origin in headers.get(b"origin", []):
            if not self._rules.origin_allowed(origin.decode("latin-1"), hosts[0]):
                raise Refused(403, "pages from this origin may not ask; name it in [serve] allowed_origins")
        if len(scope.get("query_string", b"")) > LONGEST_QUERY:
            raise Refused(414, f"the query string has more than {LONGEST_QUERY} bytes; send the arguments as JSON with POST")
        length = headers.get(b"content-length", [b"0"])[0]
        if length.isdigit() and int(length) > LARGEST_BODY:
            raise Refused(413, f"the body has more than {LARGEST_BODY} bytes")
        if self._rules.token and _guarded(scope["path"]) and scope["method"] != "OPTIONS":
            given = headers.get(b"authorization", [b""])[0].decode("latin-1")
            if not self._rules.token_held(given):
                raise Refused(401, "a bearer token is needed", (b"www-authenticate", b"Bearer"))


def _guarded(path: str) -> bool:
    return path.startswith(("/api/", "/render/", "/mcp")) or path in ("/openapi.json", "/api")


def _limited(scope: Scope, receive: Receive) -> Receive:
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > LARGEST_BODY:
            raise Refused(413, f"the body has more than {LARGEST_BODY} bytes")
        return message

    return limited


async def _respond(send: Send, status: int, message: str, *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps({"error": message}).encode()
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers],
        }
    )
    await send({"type": "http.response.body", "body": body})
