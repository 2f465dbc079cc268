"""What a knowledge base does with documents as such: read them as data, cite, ground and create them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from kb.config import Collection
from kb.errors import ArgumentError, IndexBusy, NotFound
from kb.glossaries import Glossaries
from kb.ranking.query import LONGEST
from kb.reading import checks

if TYPE_CHECKING:
    from kb.analysis.analyzer import Analyzer
    from kb.answers import SearchAnswer
    from kb.documents import create
    from kb.documents.model import Document
    from kb.index.catalog import Catalog
    from kb.index.snapshot import Snapshot
    from kb.reading.records import Clause, GroundAnswer, NewAnswer, ParsedAnswer

T = TypeVar("T")


class Pages:
    """The part of `KnowledgeBase` that is about documents as such; it is used through that class only."""

    _collections: dict[str, Collection]
    _glossaries: Glossaries

    if TYPE_CHECKING:
        # What KnowledgeBase gives: its search, one state of the catalog to read from, and its index.
        search: Callable[..., SearchAnswer]
        _read: Callable[[Callable[[Catalog], T]], tuple[object, T]]
        _state: Callable[[Catalog], Snapshot]
        _words: Callable[[], Analyzer]
        _catalog: Callable[[], Catalog]
        _update: Callable[[Catalog, float | None], bool]
        _known_collections: Callable[[Sequence[str]], None]

    def parsed(self, id_: str, *, language: str | None = None) -> ParsedAnswer:
        """Return a section as data: front matter, canonical headings, items and entries. NotFound with the nearest ids."""
        from kb.reading import section as sections

        wanted = checks.check_id(id_)
        checks.check_language(language)

        from kb.reading.parsed import parsed

        return self._read(lambda catalog: parsed(catalog.db, self._collections, sections.find(catalog.db, wanted, language)))[1]

    def cite(self, id_: str, *, language: str | None = None) -> Clause:
        """Return a clause with its source, date and disclaimer. NotFound with the nearest clauses."""
        from kb.reading import section as sections

        wanted = checks.check_id(id_)
        checks.check_language(language)

        from kb.reading import cite

        def answer(catalog: Catalog) -> Clause:
            try:
                found = sections.find(catalog.db, wanted, language)
            except NotFound as error:
                if not error.suggestions:
                    raise
                raise NotFound(f"clause not found: {wanted}", cite.near(catalog.db, wanted)) from None
            return cite.cite(catalog.db, found, wanted)

        return self._read(answer)[1]

    def ground(
        self,
        question: str,
        *,
        budget: int = 6000,
        ids: Sequence[str] = (),
        semantic: bool = False,
        collections: Sequence[str] = (),
        types: Sequence[str] = (),
        status: str | None = None,
        language: str | None = None,
    ) -> GroundAnswer:
        """Return passages that help to answer a question, word for word, together at most `budget` characters.

        `ids` takes them from these sections instead of from a search. `budget` (200 to 1,000,000) counts the whole pack as
        it is printed. The rest narrows the search. Raises ArgumentError before any file is touched.
        """
        from kb.reading import section as sections

        if not isinstance(question, str) or not question.strip() or len(question.strip()) > LONGEST:
            raise ArgumentError(f"a question has 1 to {LONGEST} characters")
        asked = question.strip()
        wanted = [checks.check_id(id_) for id_ in ids]
        checks.check_language(language)
        self._known_collections(collections)

        from kb.reading import ground

        ground.check(asked, budget)
        glossary = self._glossaries.of(collections)
        if wanted:
            found = self._read(
                lambda catalog: ground.of_sections(
                    catalog, self._state(catalog), self._words, asked,
                    [sections.find(catalog.db, id_, language) for id_ in wanted], glossary,
                )
            )[1]  # fmt: skip
            return ground.pack(asked, "keyword", None, found, budget, self._collections)
        answer = self.search(
            asked, limit=ground.HITS, collections=collections, types=types, status=status, language=language,
            semantic=semantic,
        )  # fmt: skip
        found = self._read(lambda catalog: ground.of_search(catalog, self._state(catalog), self._words, answer, glossary))[1]
        return ground.pack(asked, answer.mode, answer.warning, found, budget, self._collections)

    def new(
        self,
        title: str,
        content: str = "",
        *,
        slug: str | None = None,
        parent: str | None = None,
        status: str | None = None,
        sort_order: float | None = None,
        format: str = "md",
        language: str | None = None,
        collection: str | None = None,
    ) -> NewAnswer:
        """Create a document and return it; a search finds it at once.

        `content` is Markdown or HTML (`format`), kept as it is; front matter that opens it is joined with what is derived:
        id, slug, path. `parent`: an id or path. `status`: the content's own, else `published`. `collection`: needed
        where several are writable. Raises ArgumentError or NotFound, and then nothing was written.
        """
        from kb.documents import create

        checks.check_language(language)
        draft = create.draft(title, content, slug_=slug, status=status, sort_order=sort_order, format_=format, language=language)
        above = None if parent is None else checks.check_id(parent.removeprefix("/"))
        target = self.writable(collection)
        place = self._read(lambda catalog: _place(catalog, target, above, draft.language))[1]
        catalog = self._catalog()
        made = create.create(
            str(target.root),
            draft,
            place,
            taken=lambda id_: _taken(catalog, target.name, id_),
            required=_required(target, draft.values),
            problem=lambda document: _problem(target, document),
        )
        warning = None
        try:
            self._update(catalog, None)
        except IndexBusy:
            warning = "another process is writing the index: the next search takes the document in"
        return _answer(target, place, draft, made, warning)

    def writable(self, name: str | None = None) -> Collection:
        """Return the collection that a new document goes into. ArgumentError where none, or more than one, is writable."""

        if name is not None:
            self._known_collections([name])
            if not self._collections[name].writable:
                raise ArgumentError(f"collection {name} is not writable; set writable = true for it in kb.toml")
            return self._collections[name]
        writable = [collection for collection in self._collections.values() if collection.writable]
        if not writable:
            raise ArgumentError("no collection of this base is writable; set writable = true for one in kb.toml")
        if len(writable) > 1:
            raise ArgumentError(f"name the collection; writable are: {', '.join(c.name for c in writable)}")
        return writable[0]


def _place(catalog: Catalog, target: Collection, above: str | None, language: str | None) -> create.Place:
    from kb.analysis.languages import STEMMERS
    from kb.documents.create import Place
    from kb.reading import section as sections
    from kb.reading.parents import path_of

    own = language if language in target.languages and language != target.language else ""
    others = tuple(folder for folder in ("", *target.languages) if folder != own)
    reserved = frozenset([*STEMMERS, *target.languages])
    if above is None:
        return Place(None, "", own or "", others, reserved, target.language)
    try:
        found = sections.find(catalog.db, above if "@" in above else f"{above}@{target.name}", None)
    except NotFound as error:
        raise NotFound(f"no document to create below: {above}", error.suggestions) from None
    if found.collection != target.name:
        raise ArgumentError(f"{above} is not in collection {target.name}; a document lies in the collection of its parent")
    if found.id is None:
        raise ArgumentError(f"{above} could not be read, so nothing can be created below it")
    return Place(found.id, path_of(catalog.db, found), own or "", others, reserved, target.language)


def _taken(catalog: Catalog, collection: str, id_: str) -> bool:
    row = catalog.db.execute("SELECT 1 FROM sections WHERE id = ? AND collection = ? LIMIT 1", (id_, collection)).fetchone()
    return row is not None


def _required(target: Collection, values: Mapping[str, object]) -> Sequence[str]:
    if target.schema is None:
        return ()
    from kb.documents.schema import load

    schema = load(target.schema).types.get(str(values.get("type") or target.type or ""))
    return () if schema is None else schema.required


def _problem(target: Collection, document: Document) -> str | None:
    """Return why a document would not be readable in a collection, or None."""
    from kb.documents.walk import takes

    if not takes(target.root, document.source, target.include, target.exclude):
        return "would be left out by the patterns of the collection or by an ignore file"
    if target.schema is None:
        return None
    from kb.documents.schema import checked, load

    type_ = document.type or target.type
    return checked(document, load(target.schema), type_, document.language or target.language).error


def _answer(target: Collection, place: create.Place, draft: create.Draft, made: create.Created, warning: str | None) -> NewAnswer:
    from kb.documents.create import description
    from kb.reading.records import NewAnswer

    return NewAnswer(
        id=made.id,
        parent_id=place.parent,
        slug=made.slug,
        path=made.path,
        title=draft.title,
        description=description(made.document),
        content=made.body,
        status=draft.status,
        sort_order=draft.sort_order,
        depth=made.depth,
        created_at=made.created_at,
        updated_at=made.created_at,
        collection=target.name,
        source=made.source,
        language=draft.language or target.language,
        warning=warning,
    )
