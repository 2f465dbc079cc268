"""KnowledgeBase: the one object that every surface talks to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from kb.config import Config, SearchSettings, SemanticSettings, locate
from kb.engines.part import Engined
from kb.errors import ArgumentError
from kb.freshness import Current, Freshness, Progress
from kb.glossaries import Glossaries
from kb.index import changes
from kb.index.catalog import Catalog
from kb.likeness import Likeness
from kb.pages import Pages
from kb.ranking.query import LONGEST
from kb.reading import checks
from kb.records import replace
from kb.toml import remembered

if TYPE_CHECKING:
    from kb.answers import ListAnswer, Node, RawWindow, SearchAnswer, SectionAnswer, StatusAnswer, TreeNode
    from kb.engines.engine import Engine, Search
    from kb.index.snapshot import Snapshot
    from kb.ranking.ranker import Weights
    from kb.reading.places import Place


class KnowledgeBase(Current, Pages, Likeness, Engined):
    """A base that can be searched and read. Safe to share between threads; close it, or use it as a context manager.

    `base`: a folder, a file or a kb.toml; None means KB_BASE, then the nearest kb.toml upwards, then the shipped base.
    `cache`: the folder indexes live in; None means KB_CACHE, then the user's cache folder.
    `engine`: one to use in place of what kb.toml names.
    Errors are subclasses of `kb.errors.KBError`.
    """

    def __init__(
        self,
        base: str | Path | None = None,
        *,
        cache: str | Path | None = None,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> None:
        kept = _cache_folder(cache)
        self.config: Config = locate(base, read=lambda path: remembered(path, kept))
        self._engine = engine
        self._keep_in(kept / key_of(self.config), progress)
        self._collections = {collection.name: collection for collection in self.config.collections}
        self._glossaries = Glossaries(self.config.collections, kept, self._words)
        self._ranked_by: Weights | None = None  # as kb.toml says

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and connections."""
        with self._lock:
            self._close_index()
            self._close_model()
            self._close_engine()

    # -- search --------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        offset: int = 0,
        collections: Sequence[str] = (),
        types: Sequence[str] = (),
        status: str | None = None,
        language: str | None = None,
        semantic: bool = False,
        explain: bool = False,
        typing: bool = False,
    ) -> SearchAnswer:
        """Return the sections that answer a query, best first.

        `query`: 1 to 8192 characters once trimmed. `limit`: 1 to 50. `offset`: hits to skip. `semantic` asks for embeddings
        beside keywords; where they can't be had the answer is by keywords, and its mode and warning say so. `typing`: the
        query is still being written, so words that its last one begins count too, and nothing guesses at that one. The rest
        narrows what may come back. Raises ArgumentError before any file is touched.
        """
        return self.search_many(
            [query], limit=limit, offset=offset, collections=collections, types=types, status=status, language=language,
            semantic=semantic, explain=explain, typing=typing,
        )[0]  # fmt: skip

    def search_many(
        self,
        queries: Sequence[str],
        *,
        limit: int = 5,
        offset: int = 0,
        collections: Sequence[str] = (),
        types: Sequence[str] = (),
        status: str | None = None,
        language: str | None = None,
        semantic: bool = False,
        explain: bool = False,
        typing: bool = False,
        settings: SearchSettings | None = None,
        weights: Weights | None = None,
        snippets: bool = True,
        fusion: SemanticSettings | None = None,
    ) -> tuple[SearchAnswer, ...]:
        """Return the answers to many queries, all from one state of the index; the files are looked at once.

        Arguments as for `search`. `settings`, `weights` and `fusion` stand in for those of the base. Without `snippets` they
        are empty, which takes a fraction of the time.
        """
        texts = [self._query(query) for query in queries]
        unfinished = [typing and query == query.rstrip() for query in queries]
        _whole("limit", limit, 1, 50)
        _whole("offset", offset, 0, None)
        checks.check_language(language)
        self._known_collections(collections)

        from kb.ranking.search import Filters, search

        filters = Filters(tuple(collections), tuple(types), status, language)
        used = settings or self.config.search
        if weights is None and settings is None:
            weights = self._ranked_by = self._ranked_by or ranking_weights(used)
        by = weights or ranking_weights(used)

        glossary = self._glossaries.of(collections)
        attempt = self._attempt() if semantic else None
        engine = self._open_engine()

        def one(catalog: Catalog, state: Snapshot, text: str, open_: bool, served: Search | None = None) -> SearchAnswer:
            ranked: dict[str, Any] = {} if served is None else {"rank_by": served.ranker()}
            shared: dict[str, Any] = {
                "typing": open_, "analyzer": self._words, "limit": limit, "offset": offset, "filters": filters, "weights": by,
                "fuzzy": used.fuzzy, "glossary": glossary, "snippets": snippets, "explain": explain,
            }  # fmt: skip
            if attempt is None or attempt.reason is not None:
                answer = search(catalog, state, text, **shared, **ranked)
                return answer if attempt is None else replace(answer, warning=_joined(attempt.warning, answer.warning))
            from kb.ranking.semantic import search_semantic

            how = fusion or self.config.semantic
            found = attempt.run(
                lambda dense: search_semantic(
                    catalog, state, text, dense=dense, settings=how, **shared, **ranked,
                    **({} if served is None else served.comparing(catalog, dense)),
                )
            )  # fmt: skip
            if found is not None:
                return found
            answer = search(catalog, state, text, **shared, **ranked)
            return replace(answer, warning=_joined(attempt.warning, answer.warning))

        def answer(catalog: Catalog) -> list[SearchAnswer]:
            self._known_types(catalog, types)
            checks.check_held(catalog.db, "status", status)
            checks.check_held(catalog.db, "language", language)
            state = self._state(catalog)
            if engine is None:
                return [one(catalog, state, *asked) for asked in zip(texts, unfinished, strict=True)]
            served = self._engine_search(engine, catalog, by, filters)
            found = [one(catalog, state, *asked, served) for asked in zip(texts, unfinished, strict=True)]
            return [replace(each, warning=_joined(served.warning, each.warning)) for each in found]

        freshness, found = self._read(answer, self._preparing(attempt, engine) if engine or attempt else None)
        if freshness.stale:
            found = [_mark_stale(one, freshness) for one in found]
        if freshness.warning is None and freshness.unread is None:
            return tuple(found)
        return tuple(replace(one, warning=_joined(freshness.warning, freshness.unread, one.warning)) for one in found)

    # -- reading ---------------------------------------------------------------------------------------------------

    def section(self, id_: str, *, language: str | None = None) -> SectionAnswer:
        """Return one section, by id (`B.3`, `b.3`, `B.3@collection`) or source path. NotFound with the nearest ids."""
        from kb.reading import section as sections

        wanted = checks.check_id(id_)
        checks.check_language(language)
        return self._read(
            lambda catalog: sections.section(catalog.db, self._collections, sections.find(catalog.db, wanted, language))
        )[1]

    def raw(
        self,
        id_: str,
        *,
        offset: int | None = None,
        limit: int | None = None,
        numbered: bool = False,
        language: str | None = None,
    ) -> RawWindow:
        """Return lines of a section's body as they stand in the file: from `offset` (1-based), at most `limit`."""
        from kb.reading import section as sections

        wanted = checks.check_id(id_)
        checks.check_language(language)
        window = checks.check_window(True, offset, limit, numbered) or checks.Window()
        return self._read(
            lambda catalog: sections.raw(catalog.db, self._collections, sections.find(catalog.db, wanted, language), window)
        )[1]

    def state(self) -> int | None:
        """Bring the index up to date as before any answer; return the number of its state, None where answers would warn.

        The same question has the same answer for as long as the number stays the same.
        """
        words = self._glossaries.state()
        freshness, number = self._read(lambda catalog: catalog.generation)
        return None if freshness.warning else number << 32 | words

    def trail(self, id_: str, *, language: str | None = None) -> tuple[Node, ...]:
        """Return what stands above a section, from the top of the tree down."""
        from kb.reading import section as sections

        wanted = checks.check_id(id_)
        checks.check_language(language)

        from kb.answers import Node
        from kb.reading.paths import ancestors

        def answer(catalog: Catalog) -> tuple[Node, ...]:
            found = sections.find(catalog.db, wanted, language)
            above = ancestors(catalog.db, found.collection, found.id or "", found.parent, found.language)
            return tuple(Node(*node) for node in above)

        return self._read(answer)[1]

    def address(self, id_: str, collection: str | None) -> str:
        """Return the shortest name that leads to a section which an answer has just named: its id, or `id@collection`."""
        if collection is None or len(self._collections) == 1:
            return id_
        held = self._catalog().db.execute("SELECT count(DISTINCT collection) FROM sections WHERE id = ?", (id_,)).fetchone()[0]
        return id_ if held < 2 else f"{id_}@{collection}"

    def places(self, names: Sequence[str], *, collections: Sequence[str] = ()) -> tuple[tuple[Place, ...], ...]:
        """Return for each name (an id, `id@collection` or a source path) what it stands for; empty where nothing has it."""
        self._known_collections(collections)

        from kb.reading.places import places

        return self._read(lambda catalog: tuple(places(catalog.db, name, collections) for name in names))[1]

    def list(
        self,
        *,
        collections: Sequence[str] = (),
        types: Sequence[str] = (),
        status: str | None = None,
        since: str | None = None,
        where: Sequence[tuple[str, str]] = (),
        glob: str | None = None,
        offset: int = 0,
        max_results: int = 25,
    ) -> ListAnswer:
        """Return one page of the hit-level sections: one row an id, natural order, files that failed first."""
        from kb.reading import listing as listings
        from kb.reading.section import FAILED

        selection = listings.Selection(tuple(collections), tuple(types), status, since, tuple(where), glob)
        listings.check(selection, offset, max_results)
        self._known_collections(collections)

        def answer(catalog: Catalog) -> ListAnswer:
            self._known_types(catalog, types)
            checks.check_held(catalog.db, "status", None if status == FAILED else status)
            return listings.listing(catalog.db, selection, offset, max_results)

        return self._read(answer)[1]

    def tree(self, id_: str | None = None, *, depth: int = 3, language: str | None = None) -> tuple[TreeNode, ...]:
        """Return the tree of the base, or what lies under one id, `depth` levels deep (1 to 64).

        Titles are those of the variants in `language`, where there are any.
        """
        from kb.reading import section as sections

        wanted = None if id_ is None else checks.check_id(id_)
        _whole("depth", depth, 1, 64)
        checks.check_language(language)

        from kb.reading.tree import tree

        def answer(catalog: Catalog) -> tuple[TreeNode, ...]:
            if wanted is None:
                return tuple(tree(catalog.db, [c.name for c in self.config.collections], None, depth, language))
            found = sections.find(catalog.db, wanted, None)
            if found.id is None:
                return ()
            return tuple(tree(catalog.db, [], (found.collection, found.id, found.title), depth, language))

        return self._read(answer)[1]

    def status(self) -> StatusAnswer:
        """Return what the base holds, what could not be read, and how its index stands."""
        from kb.answers import StatusAnswer
        from kb.reading.status import collection_status

        def answer(catalog: Catalog) -> StatusAnswer:
            pending = changes.find(catalog, self.config.collections)
            unsure = sum(candidate.doubtful for candidate in pending.candidates)
            return StatusAnswer(
                base=str(self.config.path),
                collections=tuple(collection_status(catalog, c) for c in self.config.collections),
                index="in memory" if catalog.folder is None else str(catalog.folder),
                bytes=_size(catalog.folder),
                segments=len(catalog.segments()),
                pending=len(pending.candidates) - unsure + len(pending.gone),
                extra=self._engine_status(catalog),
            )

        freshness, found = self._read(answer)
        return replace(found, warning=freshness.warning)

    # -- arguments ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _query(query: str) -> str:
        if not isinstance(query, str):
            raise ArgumentError(f"query must be a text, got {type(query).__name__}")
        text = query.strip()
        if not text:
            raise ArgumentError("query is empty; write what you look for")
        if len(text) > LONGEST:
            raise ArgumentError(f"query has {len(text)} characters; {LONGEST} at most")
        return text

    def _known_collections(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._collections:
                raise ArgumentError(f"unknown collection {name!r}; there are: {', '.join(self._collections)}")

    @staticmethod
    def _known_types(catalog: Catalog, types: Sequence[str]) -> None:
        checks.check_held(catalog.db, "type", *types)


def ranking_weights(settings: SearchSettings) -> Weights:
    """Return the weights a base ranks by: those of `kb.ranking`, with variant, k1 and b as its kb.toml sets them."""
    from kb.ranking.ranker import Weights

    weights = Weights()
    return replace(
        weights,
        text=replace(weights.text, k1=settings.k1, b=settings.b, scoring=settings.scoring),
        head=replace(weights.head, k1=settings.k1, scoring=settings.scoring),
    )


def _mark_stale(answer: SearchAnswer, freshness: Freshness) -> SearchAnswer:
    marked = (replace(r, stale=True) if (r.collection, r.source) in freshness.stale else r for r in answer.results)
    return replace(answer, results=tuple(marked))


def _whole(name: str, value: int, low: int, high: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(f"{name} must be a whole number, got {value!r}")
    if value < low or (high is not None and value > high):
        bounds = f"from {low} to {high}" if high is not None else f"{low} or more"
        raise ArgumentError(f"{name} must be {bounds}, got {value}")


def _cache_folder(cache: str | Path | None) -> Path:
    named = cache if cache not in (None, "") else os.environ.get("KB_CACHE")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("kb-search", appauthor=False)


def key_of(config: Config) -> str:
    """Return what tells one base from others on this machine."""
    # Two checksums, forwards and backwards: telling a user's few bases apart does not need a hash that is slow to import.
    path = str(config.path).encode("utf-8", "surrogateescape")
    return f"{config.path.stem[:40] or 'base'}-{crc32(path):08x}{crc32(path[::-1]):08x}"


def _size(folder: Path | None) -> int:
    if folder is None:
        return 0
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _joined(*warnings: str | None) -> str | None:
    return "; ".join(warning for warning in warnings if warning) or None
