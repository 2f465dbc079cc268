"""The lines of the protocol: an input that ends only when what was asked has been answered.

A client that writes its requests and closes its end at once (a pipe in a shell) would otherwise get errors for answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import anyio
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

_GRACE_SECONDS = 10.0
"""How long requests may go on after the input has ended: the client may as well have gone."""
_ANSWER = re.compile(r'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),"(?:result|error)"')


class Traffic:
    """The ids of requests that wait for their answers."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._changed = anyio.Event()

    def asked(self, line: str) -> None:
        """Note a line of input."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            return  # it gets no answer
        if isinstance(message, JSONRPCRequest):
            self._open.add(json.dumps(message.id))

    def answered(self, line: str) -> None:
        """Note a line of output."""
        found = _ANSWER.match(line)
        if found:
            self._open.discard(json.dumps(json.loads(found[1])))
            self._changed.set()
            self._changed = anyio.Event()

    async def settled(self) -> None:
        """Wait until nothing is open, for a while at most."""
        with anyio.move_on_after(_GRACE_SECONDS):
            while self._open:
                await self._changed.wait()


class Incoming:
    """Lines of input."""

    def __init__(self, file: anyio.AsyncFile[str], traffic: Traffic) -> None:
        self._file = file
        self._traffic = traffic

    async def __aiter__(self) -> AsyncIterator[str]:
        """Give the lines; the end comes when all is answered."""
        async for line in self._file:
            self._traffic.asked(line)
            yield line
        await self._traffic.settled()


class Outgoing:
    """Lines of output."""

    def __init__(self, file: anyio.AsyncFile[str], traffic: Traffic) -> None:
        self._file = file
        self._traffic = traffic

    async def write(self, line: str) -> None:
        """Write one line."""
        await self._file.write(line)
        self._traffic.answered(line)

    async def flush(self) -> None:
        """Send what was written."""
        await self._file.flush()
