"""The server process: a socket, uvicorn, and logs that name no query and no token."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from kb.errors import ArgumentError

if TYPE_CHECKING:
    from kb.base import KnowledgeBase
    from kb.surfaces.http.guard import Rules

_LONGEST_HEAD = 160_000
"""Bytes of a request line and its headers; a query string may take most of it."""
_CONNECTIONS = 512
_KEEP_ALIVE_SECONDS = 30
_GRACE_SECONDS = 5


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. ArgumentError where the address can't be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]  # fmt: skip
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ArgumentError(f"can't listen on {host}: {error.strerror or error}; name another address with --host") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_CONNECTIONS)
    except OSError as error:
        bound.close()
        raise ArgumentError(
            f"can't listen on {host} port {port}: {error.strerror or error}; name another port with --port"
        ) from error
    return bound


def serve(base: KnowledgeBase, rules: Rules, bound: socket.socket) -> int:
    """Serve until interrupted; return the exit code."""
    import uvicorn

    from kb.surfaces.http.app import application

    config = uvicorn.Config(
        application(base, rules),
        http="h11",
        loop="asyncio",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
    )
    try:
        uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        pass
    finally:
        bound.close()
    return 0
