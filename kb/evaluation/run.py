"""Asking a base the gold questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kb.answers import SearchAnswer
from kb.base import KnowledgeBase
from kb.evaluation.configuration import Configuration, configure
from kb.evaluation.gold import Judged, Unit
from kb.evaluation.measures import DEPTH, Ranked

_MOST = 50
"""Hits that a search returns at most."""


@dataclass(frozen=True, slots=True)
class Run:
    """What came back: `ranked` units of each question, the mode that ran, and what was warned of."""

    ranked: Ranked
    mode: str
    warnings: tuple[str, ...]


def ask(
    base: KnowledgeBase,
    questions: Sequence[Judged],
    *,
    collections: Sequence[str] = (),
    configuration: Configuration | None = None,
) -> Run:
    """Search for every question and fold the hits into units, each at the rank of its best hit.

    The index is brought up to date first: a search alone may answer from what it has, with a warning.
    """
    base.index()
    answers = _search(base, questions, DEPTH, collections, configuration)
    ranked = {judged.question.id: _fold(judged.by, answer) for judged, answer in zip(questions, answers, strict=True)}
    # Where several hits fell into one file, those asked for do not fill the ranks that are measured.
    short = [
        judged
        for judged, answer in zip(questions, answers, strict=True)
        if len(ranked[judged.question.id]) < DEPTH and len(answer.results) == DEPTH
    ]
    if short:
        again = _search(base, short, _MOST, collections, configuration)
        ranked.update((j.question.id, _fold(j.by, answer)[:DEPTH]) for j, answer in zip(short, again, strict=True))
    return Run(
        ranked,
        "+".join(sorted({answer.mode for answer in answers})),
        tuple(dict.fromkeys(answer.warning for answer in answers if answer.warning)),
    )


def _search(
    base: KnowledgeBase,
    questions: Sequence[Judged],
    limit: int,
    collections: Sequence[str],
    configuration: Configuration | None,
) -> tuple[SearchAnswer, ...]:
    used = configuration or configure(base.config, {})
    with used.applied():
        return base.search_many(
            [judged.question.query for judged in questions],
            limit=limit,
            collections=collections,
            semantic=used.semantic,
            settings=used.search,
            weights=used.weights,
            fusion=used.fusion,
            snippets=False,
        )


def _fold(by: str, answer: SearchAnswer) -> tuple[Unit, ...]:
    return tuple(dict.fromkeys(Unit(result.collection, result.id if by == "id" else result.source) for result in answer.results))
