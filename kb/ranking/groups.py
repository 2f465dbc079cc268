"""Groups of hits: language variants of one id, which count once, and which of them is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.analysis.languages import of_question
from kb.index.segment import Segment
from kb.index.snapshot import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.index.catalog import Catalog
    from kb.ranking.plan import Plan

At = tuple[int, int]
"""A hit: (position of its segment in the snapshot, its number there)."""
_Variants = tuple[tuple[At, str, bool], ...]
"""Where each lies, its language, and whether it lies flat."""


def count(snapshot: Snapshot, found: Sequence[NDArray[np.int64]]) -> int:
    """Return how many groups the hits found belong to; `found`: the positions of hits, for each segment."""
    out = 0
    for segment, hits in zip(snapshot.segments, found, strict=True):
        if len(segment.group) == len(segment.hit_section):
            out += len(hits)
        else:
            marked = np.zeros(len(segment.group), dtype=bool)
            marked[segment.hit_group[hits]] = True
            out += int(np.count_nonzero(marked))
    shared = _shared(snapshot)
    if shared is not None:
        held = [
            _distinct(groups_[np.isin(at, hits, assume_unique=True)]) for (at, groups_), hits in zip(shared, found, strict=True)
        ]
        out -= sum(map(len, held)) - len(_distinct(np.concatenate(held)))
    return out


def numbered(snapshot: Snapshot, first_hits: Sequence[int]) -> tuple[NDArray[np.int64] | None, int]:
    """Return the number of each live hit's group, and how many numbers there are; None where each is its hit's own.

    Hits go on from segment to segment, from `first_hits` on.
    """
    segments, shared = snapshot.segments, _shared(snapshot)
    if alone(snapshot):
        return None, sum(len(segment.hit_section) for segment in segments)
    parts, end = [], 0
    for segment in segments:
        parts.append(segment.hit_group.astype(np.int64) + end)
        end += len(segment.group)
    out = np.concatenate(parts)
    if shared is not None:
        more = _distinct(np.concatenate([of for _, of in shared]))
        for first, (at, of) in zip(first_hits, shared, strict=True):
            out[at + first] = end + more.searchsorted(of)
        end += len(more)
    return out, end


def alone(snapshot: Snapshot) -> bool:
    """Tell whether no hit has a variant."""
    return _shared(snapshot) is None and all(len(segment.group) == len(segment.hit_section) for segment in snapshot.segments)


def shown(
    catalog: Catalog, snapshot: Snapshot, made: Plan, page: Sequence[At], allowed: Sequence[NDArray[np.bool_] | None] | None
) -> list[At]:
    """Return for each hit of a page the variant that is shown in its place: the one in the question's language.

    Where that is not clear, or there is none, the variant that lies flat is shown if it holds all words of the question that the
    hit does: a word that stands in several languages says nothing of the reader's. `allowed`: for each segment the hits that may
    be returned. Call it inside `catalog.reading()`.
    """
    if not page or alone(snapshot):
        return [*page]
    held: dict[At, _Variants] = snapshot.remembered("variants of hits")
    missing = [at for at in page if at not in held]
    if missing:
        held.update(_variants(catalog, snapshot, missing))
    language = of_question(made.query.words, snapshot.languages)
    return [_chosen(snapshot, made, at, held[at], language, allowed) if held[at] else at for at in page]


def _chosen(
    snapshot: Snapshot,
    made: Plan,
    own: At,
    variants: _Variants,
    language: str | None,
    allowed: Sequence[NDArray[np.bool_] | None] | None,
) -> At:
    if language is not None and (own, language) in [(at, of) for at, of, _ in variants]:
        return own
    if allowed is not None:
        masks = [(variant, allowed[variant[0][0]]) for variant in variants]
        variants = tuple(variant for variant, mask in masks if mask is None or mask[variant[0][1]])
    for at, of, _ in variants:
        if of == language:
            return at
    first = next((at for at, _, flat in variants if flat), own)
    return first if first == own or _words_of(snapshot, made, own) <= _words_of(snapshot, made, first) else own


def _words_of(snapshot: Snapshot, made: Plan, at: At) -> set[int]:
    """Return which of the words that carry a question's weight stand in a hit, as they are spelt or else by a glossary."""
    segment, hit = snapshot.segments[at[0]], at[1]
    own = dict(made.terms)
    out = set()
    for number, word in enumerate(made.words):
        terms = [term for term in word.terms if term in own] or word.terms
        if _holds(segment, hit, terms):
            out.add(number)
    return out


def _holds(segment: Segment, hit: int, terms: Iterable[str]) -> bool:
    fields = (segment.text, segment.hit_start), (segment.head, segment.name_start)
    for term in terms:
        number = segment.number_of(term)
        if number is None:
            continue
        for field, starts in fields:
            units = field.of(number)[0]
            if units.searchsorted(starts[hit]) < units.searchsorted(starts[hit + 1]):
                return True
    return False


def _variants(catalog: Catalog, snapshot: Snapshot, hits: Sequence[At]) -> dict[At, _Variants]:
    """Return for each hit all variants of it, itself included; nothing for one that has none."""
    wanted = {int(snapshot.segments[position].hit_section[hit]): (position, hit) for position, hit in hits}
    out: dict[At, list[tuple[At, str, bool]]] = {at: [] for at in hits}
    rows = catalog.db.execute(
        "SELECT a.section, b.section, b.language, d.source = d.variant FROM sections a JOIN sections b USING (id, collection)"
        f" JOIN documents d ON d.document = b.document WHERE a.section IN ({','.join('?' * len(wanted))})"
        " AND b.hit = b.section ORDER BY b.section",
        [*wanted],
    )
    for section, other, language, flat in rows.fetchall():
        at = wanted[section] if other == section else _place(snapshot, other)
        if at is not None:
            out[wanted[section]].append((at, language, bool(flat)))
    return {at: tuple(variants) if len(variants) > 1 else () for at, variants in out.items()}


def _place(snapshot: Snapshot, section: int) -> At | None:
    """Return where a section is a hit; None where it is none that is live."""
    for position, segment in enumerate(snapshot.segments):
        for hit in (segment.hit_section == section).nonzero()[0].tolist():
            if hit not in segment.dead.hits:
                return position, hit
    return None


def _shared(snapshot: Snapshot) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None:
    """Return for each segment its live hits whose group lies in other segments too, and the group of each; None where none does.

    Worked out once for a state of the index.
    """
    if len(snapshot.segments) < 2:
        return None
    if "shared groups" not in snapshot.memo:
        live, groups_ = [], []
        for segment in snapshot.segments:
            alive = np.ones(len(segment.hit_section), dtype=bool)
            alive[segment.dead.hits] = False
            live.append(np.flatnonzero(alive))
            groups_.append(segment.group[segment.hit_group[live[-1]]])
        distinct, counts = np.unique(np.concatenate([_distinct(one) for one in groups_]), return_counts=True)
        more = distinct[counts > 1]
        found = None
        if len(more):
            inside = [np.isin(one, more) for one in groups_]
            found = [(at[mine], of[mine]) for at, of, mine in zip(live, groups_, inside, strict=True)]
        snapshot.memo["shared groups"] = found
    kept: list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None = snapshot.memo["shared groups"]
    return kept


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct values, ascending; a fraction of what numpy's own function takes."""
    found = np.sort(values)
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found
