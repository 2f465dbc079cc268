"""A store over shards of the server's own code in this process, queried and merged as a cluster of them is."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from kb.engines.store import DENSE, KEYWORDS, NAMES, NUMBERS, TEXT, Ask, Found, Held, Point, Vector


class EdgeStore:
    """Collections of `shards` shards each, in folders below `place`; those that are there already are opened."""

    def __init__(self, place: Path, shards: int = 1) -> None:
        self._place = place
        self._count = shards
        self._collections: dict[str, list[edge.EdgeShard]] = {}
        self.aliases: dict[str, str] = {}
        for folder in sorted(place.iterdir()) if place.is_dir() else ():
            parts = sorted(folder.iterdir(), key=lambda path: int(path.name))
            self._collections[folder.name] = [edge.EdgeShard.load(str(path)) for path in parts]

    def version(self) -> str:
        return "1.20.0"

    def create(self, collection: str, dimension: int | None) -> None:
        dense = {} if dimension is None else {DENSE: edge.EdgeVectorParams(dimension, edge.Distance.Cosine)}
        sparse = {name: edge.EdgeSparseVectorParams() for name in (TEXT, NAMES)}
        shards = []
        for number in range(self._count):
            folder = self._place / collection / str(number)
            folder.mkdir(parents=True)
            config = edge.EdgeConfig(vectors=dense, sparse_vectors=sparse, on_disk_payload=True)
            shard = edge.EdgeShard.create(str(folder), config)
            for key in KEYWORDS:
                shard.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword))
            for key in NUMBERS:
                shard.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Integer))
            shards.append(shard)
        self._collections[collection] = shards

    def put(self, collection: str, points: Sequence[Point]) -> None:
        for number, shard in enumerate(self._shards(collection)):
            mine = [_point(point) for point in points if uuid.UUID(point.id).int % self._count == number]
            if mine:
                shard.update(edge.UpdateOperation.upsert_points(mine))

    def remove(self, collection: str, match: Mapping[str, Sequence[str | int]], keep: Sequence[str] = ()) -> None:
        kept: list[Any] = [edge.HasIdCondition(set(keep))] if keep else []
        chosen = edge.Filter(must=_conditions(match), must_not=kept)
        for shard in self._shards(collection):
            shard.update(edge.UpdateOperation.delete_points_by_filter(chosen))

    def ask(self, collection: str, asks: Sequence[Ask]) -> list[list[Found]] | None:
        if self.aliases.get(collection, collection) not in self._collections:
            return None
        out: list[list[Found]] = [[] for _ in asks]
        for shard in self._shards(collection):
            answers = shard.query_batch(edge.QueryBatchRequest([_request(ask) for ask in asks]))
            for rows, answer in zip(out, answers, strict=True):
                rows.extend(Found(point.score, point.payload or {}) for point in answer)
        for rows, ask in zip(out, asks, strict=True):
            rows.sort(key=lambda found: -found.score)
            del rows[ask.limit :]
        return out

    def scroll(self, collection: str, after: str | None) -> tuple[list[Vector], str | None]:
        shards = self._shards(collection)
        number, _, last = (after or "0 ").partition(" ")
        records, following = shards[int(number)].scroll(
            edge.ScrollRequest(offset=last or None, limit=50, with_payload=["model", "vector_key"], with_vector=[DENSE])
        )
        found = [Vector(one.vector[DENSE], one.payload or {}) for one in records if DENSE in (one.vector or {})]
        if following is not None:
            return found, f"{number} {following}"
        return found, f"{int(number) + 1} " if int(number) + 1 < len(shards) else None

    def switch(self, alias: str, collection: str) -> None:
        self.aliases[alias] = collection

    def held(self, collection: str) -> Held | None:
        name = self.aliases.get(collection, collection)
        if name not in self._collections:
            return None
        return Held(sum(shard.info().points_count for shard in self._collections[name]), self._count, "green")

    def drop(self, collection: str) -> None:
        for shard in self._collections.pop(collection, []):
            shard.close()
        shutil.rmtree(self._place / collection, ignore_errors=True)

    def optimize(self) -> None:
        for shards in self._collections.values():
            for shard in shards:
                shard.optimize()

    def close(self) -> None:
        for shards in self._collections.values():
            for shard in shards:
                shard.close()
        self._collections.clear()

    def _shards(self, collection: str) -> list[edge.EdgeShard]:
        return self._collections[self.aliases.get(collection, collection)]


def _point(point: Point) -> edge.Point:
    vector: dict[str, Any] = {name: edge.SparseVector(n.tolist(), v.tolist()) for name, (n, v) in point.sparse.items()}
    if point.dense is not None:
        vector[DENSE] = point.dense.tolist()
    return edge.Point(point.id, vector, dict(point.payload))


def _request(ask: Ask) -> edge.QueryRequest:
    if isinstance(ask.vector, tuple):
        vector: Any = edge.SparseVector(ask.vector[0].tolist(), ask.vector[1].tolist())
    else:
        vector = ask.vector.tolist()
    return edge.QueryRequest(
        limit=ask.limit,
        query=edge.Query.Nearest(vector, using=ask.using),
        filter=edge.Filter(must=_conditions(ask.match)) if ask.match else None,
        params=edge.SearchParams(exact=True) if ask.exact else None,
        with_payload=list(ask.payload),
    )


def _conditions(match: Mapping[str, Sequence[str | int]]) -> list[Any]:
    return [edge.FieldCondition(key, match=edge.MatchAny(list(values))) for key, values in match.items()]
