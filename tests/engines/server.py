"""A server on the loopback that speaks as much of Qdrant's REST interface as is used, validates each request with the
client's own models, runs it in the client's own memory, and fails when told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError
from qdrant_client import QdrantClient
from qdrant_client.http import models

KEY = "a-key"


@dataclass
class Fault:
    """What goes wrong with the next `times` requests whose "METHOD /path" holds `where`, after `skip` that go well.

    `status` answers so without doing anything; `half` does the first half of a write before that; `cut` breaks the
    connection instead of answering, `after` doing what was asked; `slow` waits so many seconds first.
    """

    where: str
    status: int = 0
    retry_after: str | None = None
    half: bool = False
    cut: bool = False
    after: bool = False
    slow: float = 0.0
    times: int = 1
    skip: int = 0


@dataclass
class Server:
    """What runs, and all that was asked of it."""

    url: str = ""
    version: str = "1.20.0"
    memory: QdrantClient = field(default_factory=lambda: QdrantClient(":memory:"))
    faults: list[Fault] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    watch: Callable[[str], None] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def count(self, where: str) -> int:
        """How many requests held `where`."""
        return sum(where in one for one in self.asked)

    def points(self, alias: str) -> dict[str, dict[str, Any]]:
        """Everything behind a name: id -> payload."""
        found, _ = self.memory.scroll(alias, limit=100_000)
        return {str(point.id): point.payload or {} for point in found}

    def names(self) -> set[str]:
        return {one.name for one in self.memory.get_collections().collections}


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server for as long as the block lasts."""
    state = Server()

    class Handler(_Handler):
        server_state = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        state.memory.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: Server

    def log_message(self, *_: object) -> None:
        return

    def _any(self) -> None:
        state = self.server_state
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        what = f"{self.command} {path}"
        with state.lock:
            state.asked.append(what)
            fault = next((one for one in state.faults if one.where in what and one.times > 0), None)
            if fault is not None and fault.skip:
                fault.skip -= 1
                fault = None
            elif fault is not None:
                fault.times -= 1
        if state.watch is not None:
            state.watch(what)
        if fault is not None and fault.slow:
            time.sleep(fault.slow)
        if self.headers.get("api-key") != KEY:
            return self._answer(401, "Must provide an API key or an Authorization bearer token")
        if fault is None or fault.after or fault.slow:
            status, result = self._done(path, body)
        if fault is not None and fault.half:
            points = json.loads(body)["points"]
            self._done(path, json.dumps({"points": points[: len(points) // 2]}).encode())
        if fault is not None and fault.cut:
            self.close_connection = True
            self.connection.close()
            return None
        if fault is not None and fault.status:
            return self._answer(fault.status, "told to fail", retry_after=fault.retry_after)
        return self._answer(status, result)

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = _any

    def _done(self, path: str, body: bytes) -> tuple[int, Any]:
        state = self.server_state
        try:
            with state.lock:
                return 200, _run(state, self.command, path.strip("/").split("/"), body)
        except ValidationError as error:
            state.invalid.append(f"{self.command} {path}: {error}")
            return 400, f"Format error in JSON body: {error}"
        except KeyError:
            state.invalid.append(f"{self.command} {path}")
            return 404, "no such path"
        except ValueError as error:
            return (404 if "not found" in str(error) else 400), str(error)

    def _answer(self, status: int, result: Any, retry_after: str | None = None) -> None:
        good = status == 200
        whole = {"time": 0.001, "status": "ok" if good else {"error": result}, "result": result if good else None}
        data = (json.dumps(result) if good and isinstance(result, dict) and "title" in result else json.dumps(whole)).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if retry_after is not None:
                self.send_header("Retry-After", retry_after)
            self.end_headers()
            self.wfile.write(data)
        except OSError:  # whoever asked has given up
            self.close_connection = True


def _run(state: Server, method: str, path: list[str], body: bytes) -> Any:
    memory = state.memory
    given = json.loads(body) if body else {}
    match (method, *path):
        case ("GET", ""):
            return {"title": "qdrant - vector search engine", "version": state.version, "commit": None}
        case ("GET", "aliases"):
            return _json(memory.get_aliases())
        case ("POST", "collections", "aliases"):
            return _rename(state, models.ChangeAliasesOperation.model_validate(given))
        case ("GET", "collections", name, "exists"):
            return {"exists": memory.collection_exists(name)}
        case ("GET", "collections", name):
            return _json(memory.get_collection(name))
        case ("DELETE", "collections", name):
            return memory.delete_collection(name)
        case ("PUT", "collections", name):
            if memory.collection_exists(name):
                raise ValueError(f"Collection `{name}` already exists!")
            wanted = models.CreateCollection.model_validate(given)
            return memory.create_collection(name, vectors_config=wanted.vectors, sparse_vectors_config=wanted.sparse_vectors)
        case ("PUT", "collections", name, "index"):
            models.CreateFieldIndex.model_validate(given)
            return {"operation_id": 0, "status": "completed"}
        case (_, "collections", name, "points", *what):
            return _points(memory, method, name, what, given)
    raise KeyError(path)


def _rename(state: Server, steps: models.ChangeAliasesOperation) -> Any:
    taken = state.names()
    for step in steps.actions:
        if isinstance(step, models.CreateAliasOperation) and step.create_alias.alias_name in taken:
            raise ValueError(f"Collection `{step.create_alias.alias_name}` already exists!")  # as the server does
    return state.memory.update_collection_aliases(steps.actions)


def _points(memory: QdrantClient, method: str, name: str, what: list[str], given: Any) -> Any:
    match (method, *what):
        case ("PUT",):
            points = models.PointsList.model_validate(given)
            return _json(memory.upsert(name, points.points))
        case ("POST", "count"):
            counted = models.CountRequest.model_validate(given)
            return _json(memory.count(name, counted.filter, exact=counted.exact or False))
        case ("POST", "delete"):
            selector: Any = TypeAdapter(models.PointsSelector).validate_python(given)
            return _json(memory.delete(name, selector))
        case ("POST", "query", "batch"):
            batch = models.QueryRequestBatch.model_validate(given)
            return [_json(one) for one in memory.query_batch_points(name, batch.searches)]
        case ("POST", "scroll"):
            asked = models.ScrollRequest.model_validate(given)
            found, following = memory.scroll(
                name, asked.filter, limit=asked.limit or 10, offset=asked.offset, with_payload=asked.with_payload or False,
                with_vectors=asked.with_vector or False,
            )  # fmt: skip
            return {"points": [_json(one) for one in found], "next_page_offset": following}
    raise KeyError(what)


def _json(model: Any) -> Any:
    return json.loads(model.model_dump_json(exclude_none=True))
