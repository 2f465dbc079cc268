"""A store that is a Qdrant server, reached through its official client (or that client's own memory)."""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kb.engines.store import DENSE, KEYWORDS, NAMES, NUMBERS, TEXT, Ask, Found, Held, Point, Vector
from kb.errors import EngineUnusable, NotAvailable

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.http import models

T = TypeVar("T")

OLDEST = (1, 13)
"""The first server version that knows all that is asked: the Query API (1.10), and which points have a vector (1.13)."""
ASK_SECONDS = 5
WRITE_SECONDS = 30
ASK_TRIES = 2
WRITE_TRIES = 8
PAGE = 256
"""Points in one answer that brings vectors back."""
PAUSE = 0.2
"""Seconds before the second try; each further one waits twice as long."""
LONGEST_PAUSE = 20.0
"""Seconds between two tries at most, for a search `ASK_SECONDS`; a server that asks for a longer pause is taken at this."""
_BUSY = (408, 429, 502, 503, 504)
"""What a server answers that may do better the next time: 408 where its own time ran out."""


def connect(url: str, key: str | None) -> ClientStore:
    """Return the server at a URL. Nothing is sent yet. NotAvailable where the client is not installed."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise NotAvailable(
            'kb.toml asks for Qdrant, and its client is not installed; run: pip install "kb-search[qdrant]"'
        ) from error
    from urllib.parse import urlsplit

    secure = urlsplit(url).scheme == "https"
    port = urlsplit(url).port or (443 if secure else 6333)
    with warnings.catch_warnings():  # a key over plain http: the guide says when that is all right
        warnings.simplefilter("ignore")
        writing, asking = (
            QdrantClient(url=url, port=port, api_key=key, timeout=seconds, check_compatibility=False)
            for seconds in (WRITE_SECONDS, ASK_SECONDS)
        )
    return ClientStore(writing, url, asking=asking)


class ClientStore:
    """Collections behind a QdrantClient. `name`: how messages call the other side.

    `asking`: a client that waits less long, for what somebody waits for.
    """

    def __init__(
        self, client: QdrantClient, name: str = "Qdrant", *, asking: QdrantClient | None = None, pause: float | None = None
    ) -> None:
        self._client = client
        self._asking = asking or client
        self._name = name
        self._pause = PAUSE if pause is None else pause

    def version(self) -> str:
        """Return the version of the server; EngineUnusable where it is too old for what is asked of it."""
        found = str(self._tried(lambda: self._asking.info().version, ASK_TRIES))
        numbers = found.split("-")[0].split(".")
        if all(n.isdecimal() for n in numbers[:2]) and tuple(map(int, numbers[:2])) < OLDEST:
            raise EngineUnusable(
                f"Qdrant at {self._name} is version {found}, too old; it must be {'.'.join(map(str, OLDEST))} or newer"
            )
        return found

    def create(self, collection: str, dimension: int | None) -> None:
        """Make a collection, with indexes for the payload that is filtered by."""
        from qdrant_client.http import models

        dense = {} if dimension is None else {DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)}
        sparse = {name: models.SparseVectorParams() for name in (TEXT, NAMES)}

        def make() -> None:
            if not self._client.collection_exists(collection):  # it may be there by a try whose answer was lost
                self._client.create_collection(
                    collection, vectors_config=dense, sparse_vectors_config=sparse, on_disk_payload=True, timeout=WRITE_SECONDS
                )

        self._tried(make, WRITE_TRIES)
        kinds = dict.fromkeys(KEYWORDS, models.PayloadSchemaType.KEYWORD)
        kinds.update(dict.fromkeys(NUMBERS, models.PayloadSchemaType.INTEGER))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the client's own memory has no such indexes, and says so
            for key, kind in kinds.items():
                self._tried(partial(self._client.create_payload_index, collection, key, kind, wait=True), WRITE_TRIES)

    def put(self, collection: str, points: Sequence[Point]) -> None:
        """Write points; a batch that fails half way is written again, and nothing is there twice."""
        made = [_struct(point) for point in points]
        self._tried(lambda: self._client.upsert(collection, made, wait=True), WRITE_TRIES)

    def remove(self, collection: str, match: Mapping[str, Sequence[str | int]], keep: Sequence[str] = ()) -> None:
        """Remove points by what they hold."""
        from qdrant_client.http import models

        kept: list[Any] = [models.HasIdCondition(has_id=list(keep))] if keep else []
        chosen = models.FilterSelector(filter=models.Filter(must=_conditions(match), must_not=kept or None))
        self._tried(lambda: self._client.delete(collection, chosen, wait=True), WRITE_TRIES)

    def ask(self, collection: str, asks: Sequence[Ask]) -> list[list[Found]] | None:
        """Return the answers of one request through the Query API."""
        requests = [_request(ask) for ask in asks]
        try:
            answers = self._tried(
                lambda: self._asking.query_batch_points(collection, requests, timeout=ASK_SECONDS), ASK_TRIES, missing=True
            )
        except _Missing:
            self.version()  # an old server does not know the request either
            return None
        return [
            [Found(point.score, point.payload or {}) for point in answer.points if point.score > 0 or ask.using == DENSE]
            for ask, answer in zip(asks, answers, strict=True)
        ]

    def scroll(self, collection: str, after: str | None) -> tuple[list[Vector], str | None]:
        """Return a page of the points that have a dense vector; those of a collection without one are none."""
        from qdrant_client.http import models

        chosen = models.Filter(must=[models.HasVectorCondition(has_vector=DENSE)])
        try:
            records, following = self._tried(
                lambda: self._client.scroll(
                    collection, chosen, limit=PAGE, offset=after, with_payload=["model", "vector_key"], with_vectors=[DENSE]
                ),
                WRITE_TRIES,
                missing=True,
            )
        except _Missing:
            return [], None
        found = []
        for record in records:
            vectors = record.vector
            if isinstance(vectors, dict) and DENSE in vectors:
                found.append(Vector(cast("list[float]", vectors[DENSE]), record.payload or {}))
        return found, None if following is None else str(following)

    def switch(self, alias: str, collection: str) -> None:
        """Make the alias stand for a collection; the server does both halves at once."""
        from qdrant_client.http import models

        held = self._tried(lambda: self._client.get_aliases().aliases, WRITE_TRIES)
        now = next((one.collection_name for one in held if one.alias_name == alias), None)
        if now == collection:
            return
        steps: list[Any] = []
        if now is not None:
            steps.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
        steps.append(models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=collection, alias_name=alias)))
        self._tried(lambda: self._client.update_collection_aliases(steps), WRITE_TRIES)

    def held(self, collection: str) -> Held | None:
        """Return what a collection holds."""
        try:
            info = self._tried(lambda: self._asking.get_collection(collection), ASK_TRIES, missing=True)
            count = self._tried(lambda: self._asking.count(collection, exact=True).count, ASK_TRIES, missing=True)
        except _Missing:
            return None
        return Held(count, info.config.params.shard_number or 1, str(info.status.value))

    def drop(self, collection: str) -> None:
        """Remove a collection."""
        self._tried(lambda: self._client.delete_collection(collection, timeout=WRITE_SECONDS), WRITE_TRIES, done=404)

    def close(self) -> None:
        """Close the connections."""
        self._asking.close()
        if self._client is not self._asking:
            self._client.close()

    def _tried(self, work: Callable[[], T], tries: int, *, missing: bool = False, done: int | None = None) -> T:
        """Do it, again where the server is busy or a connection breaks; whatever else goes wrong is named in one line."""
        from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

        wait, longest = self._pause, LONGEST_PAUSE if tries > ASK_TRIES else ASK_SECONDS
        for attempt in range(1, tries + 1):
            pause = wait * random.uniform(0.5, 1.0)
            try:
                return work()
            except UnexpectedResponse as error:
                if error.status_code == done:
                    return None  # type: ignore[return-value]
                if missing and error.status_code == 404:
                    raise _Missing from error
                if error.status_code not in _BUSY or attempt == tries:
                    raise self._refused(error.status_code, _said(error)) from error
            except ResourceExhaustedResponse as error:
                if attempt == tries:
                    raise self._refused(429, str(error)) from error
                pause = max(pause, float(error.retry_after_s))
            except (ApiException, QdrantException) as error:
                if attempt == tries:
                    raise self._unreachable(error) from error
            except ValueError as error:  # how the client's own memory says that something is not there, or does not fit
                if missing and "not found" in str(error):
                    raise _Missing from error
                raise EngineUnusable(f"Qdrant at {self._name} refused the request ({_line(error)})") from error
            time.sleep(min(pause, longest))
            wait *= 2
        raise AssertionError("unreachable")

    def _refused(self, status: int | None, said: str) -> EngineUnusable:
        if status in (401, 403):
            return EngineUnusable(f"Qdrant at {self._name} refused the key; set KB_QDRANT_KEY to one that may read and write")
        if status == 408:
            return EngineUnusable(f"Qdrant at {self._name} did not answer in time; look whether it is overloaded")
        if status in _BUSY:
            return EngineUnusable(f"Qdrant at {self._name} is too busy ({status}); try again in a moment")
        if "dimension" in said.lower():
            return EngineUnusable(f"Qdrant at {self._name} holds vectors of another dimension ({said}); run: kb index --rebuild")
        return EngineUnusable(f"Qdrant at {self._name} refused the request ({status}: {said}); look at the server's log")

    def _unreachable(self, error: Exception) -> EngineUnusable:
        cause = getattr(error, "source", error)
        if "Timeout" in type(cause).__name__:
            return EngineUnusable(f"Qdrant at {self._name} did not answer in time; look whether it is overloaded")
        return EngineUnusable(
            f"Qdrant at {self._name} can't be reached ({_line(cause) or type(cause).__name__}); look at engine.url and the server"
        )


class _Missing(Exception):
    """There is no such collection."""


def _struct(point: Point) -> models.PointStruct:
    from qdrant_client.http import models

    vector: dict[str, Any] = {
        name: models.SparseVector(indices=numbers.tolist(), values=values.tolist())
        for name, (numbers, values) in point.sparse.items()
    }
    if point.dense is not None:
        vector[DENSE] = point.dense.tolist()
    return models.PointStruct(id=point.id, vector=vector, payload=dict(point.payload))


def _request(ask: Ask) -> models.QueryRequest:
    from qdrant_client.http import models

    if isinstance(ask.vector, tuple):
        query: Any = models.SparseVector(indices=ask.vector[0].tolist(), values=ask.vector[1].tolist())
    else:
        query = ask.vector.tolist()
    return models.QueryRequest(
        query=query,
        using=ask.using,
        filter=models.Filter(must=_conditions(ask.match)) if ask.match else None,
        params=models.SearchParams(exact=True) if ask.exact else None,
        limit=ask.limit,
        with_payload=list(ask.payload),
    )


def _conditions(match: Mapping[str, Sequence[str | int]]) -> list[Any]:
    from qdrant_client.http import models

    return [models.FieldCondition(key=key, match=models.MatchAny(any=_any(values))) for key, values in match.items()]


def _said(error: Any) -> str:
    """Return what the server says of an error, on one line."""
    try:
        status = error.structured()["status"]
        return _line(status["error"] if isinstance(status, dict) else status)
    except (ValueError, KeyError, TypeError):
        return _line(error.reason_phrase)


def _line(text: object) -> str:
    return " ".join(str(text).split())[:200]


def _any(values: Sequence[str | int]) -> Any:
    return list(values)
