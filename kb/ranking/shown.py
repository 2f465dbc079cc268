"""What the catalog says of the sections and passages that an answer shows, read for all of them at once.

What is said of sections stays the same until the next write and is kept with the state of the index; texts are read every time.
"""

from __future__ import annotations

from collections.abc import Sequence

from kb.answers import PassageRef
from kb.index.catalog import Catalog
from kb.index.snapshot import Snapshot
from kb.ranking import bm25
from kb.ranking.alternatives import explained
from kb.ranking.groups import At
from kb.ranking.ranker import Ranking, Weights
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


def best_passage(snapshot: Snapshot, at: At, ranking: Ranking, used: Weights) -> int:
    """Return the unit of a hit's best passage, -1 where it has no text."""
    segment, mean = snapshot.segments[at[0]], snapshot.text.mean
    start, end = segment.hit_start[at[1] : at[1] + 2].tolist()
    values: dict[int, float] = {}
    for unit in range(start, max(end - 1, start + 1) if end > start else start):  # of several the last is the lead
        found = bm25.contributions(segment, "text", unit, ranking.text, mean, used.text)
        explained(segment, "text", unit, ranking.instead_text, mean, used.text, found)
        values[unit] = sum(found.values())
    return max(values, key=lambda unit: values[unit], default=-1)


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
