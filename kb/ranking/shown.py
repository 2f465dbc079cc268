"""What the catalog says of the sections and passages that an answer shows, read for all of them at once.

What is said of sections stays the same until the next write and is kept with the state of the index; texts are read every time.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.answers import PassageRef
from kb.index.catalog import Catalog
from kb.index.snapshot import Snapshot
from kb.reading.paths import breadcrumb
from kb.records import record


@record
class Shown:
    """A section as answers name it: `path` is its breadcrumb, `languages` those of all its variants."""

    id: str
    title: str
    collection: str
    language: str
    source: str
    type: str | None
    languages: tuple[str, ...]
    path: str


def sections(catalog: Catalog, snapshot: Snapshot, numbers: Sequence[int]) -> list[Shown]:
    """Return what is shown of sections, in their order. Call it inside `catalog.reading()`."""
    held = snapshot.remembered("sections shown")
    missing = [number for number in dict.fromkeys(numbers) if number not in held]
    if missing:
        rows = catalog.db.execute(
            "SELECT s.section, s.id, s.title, s.collection, s.language, d.source, d.type, s.parent"
            f" FROM sections s JOIN documents d USING (document) WHERE section IN ({_marks(missing)})",
            missing,
        ).fetchall()
        variants = _variants(catalog, [*{row[1] for row in rows}])
        nodes = snapshot.remembered("nodes")
        for number, id_, title, collection, language, source, type_, parent in rows:
            languages = variants[id_, collection]
            path = breadcrumb(catalog.db, collection, id_, title, parent, language, nodes)
            held[number] = Shown(id_, title, collection, language, source, type_, languages, path)
    return [held[number] for number in numbers]


def passages(catalog: Catalog, snapshot: Snapshot, numbers: Sequence[int]) -> dict[int, tuple[PassageRef, str]]:
    """Return where passages stand, and their texts, by number."""
    if not numbers:
        return {}
    rows = catalog.db.execute(
        f"SELECT passage, section, first, last, text FROM passages WHERE passage IN ({_marks(numbers)})", [*numbers]
    ).fetchall()
    held: dict[int, tuple[str, str]] = snapshot.remembered("titles of sections")
    missing = list({row[1] for row in rows if row[1] not in held})
    if missing:
        found = catalog.db.execute(f"SELECT section, id, title FROM sections WHERE section IN ({_marks(missing)})", missing)
        held.update((section, (id_, title)) for section, id_, title in found)
    return {
        number: (PassageRef(*held[section], (first, last)), text)
        for number, section, first, last, text in rows
        if section in held
    }


def first_passage(catalog: Catalog, section: int) -> int | None:
    """Return the number of the first passage of a section that has text."""
    row = catalog.db.execute(
        "SELECT min(passage) FROM passages WHERE document = (SELECT document FROM sections WHERE section = ?1)"
        " AND section = ?1 AND text != ''",
        (section,),
    ).fetchone()
    found: int | None = row[0]
    return found


def _variants(catalog: Catalog, ids: Sequence[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the languages that the sections of each id are there in, by id and collection."""
    found: dict[tuple[str, str], set[str]] = {}
    for id_, collection, language in catalog.db.execute(
        f"SELECT id, collection, language FROM sections WHERE id IN ({_marks(ids)})", ids
    ):
        languages = found.setdefault((id_, collection), set())
        if language is not None:
            languages.add(language)
    return {key: tuple(sorted(languages)) for key, languages in found.items()}


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
