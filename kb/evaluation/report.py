"""Values of questions into what is reported: means with intervals, over all, by class and by language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kb.base import KnowledgeBase
from kb.evaluation import intervals, measures
from kb.evaluation.configuration import Configuration
from kb.evaluation.gold import Judged, Question
from kb.evaluation.intervals import Estimate
from kb.evaluation.run import Run, ask

Values = Mapping[str, Mapping[str, float]]
"""Measure -> question id -> value."""
Group = Mapping[str, Estimate]
"""Measure -> its mean over a group of questions."""


@dataclass(frozen=True, slots=True)
class Report:
    """How well one configuration answers. `counts` holds the questions of each class and language.

    `left_empty`: questions with an answer for which nothing came back.
    """

    questions: tuple[Judged, ...]
    run: Run
    values: Values
    measures: Group
    classes: Mapping[str, Group]
    languages: Mapping[str, Group]
    left_empty: int

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON, the promised keys first."""
        return {
            "measures": _json(self.measures),
            "classes": {name: _json(group) for name, group in self.classes.items()},
            "languages": {name: _json(group) for name, group in self.languages.items()},
            "mode": self.run.mode,
            "questions": len(self.questions),
            "left_empty": self.left_empty,
            "warnings": list(self.run.warnings),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two configurations on the same questions: `difference` is second minus first, paired."""

    first: Report
    second: Report
    changed: Mapping[str, Any]
    difference: Group

    def as_json(self) -> dict[str, Any]:
        """Return the first configuration's object with the second and the difference under `compare`."""
        return self.first.as_json() | {
            "compare": {
                "changed": dict(self.changed),
                **self.second.as_json(),
                "difference": _json(self.difference),
            }
        }


def evaluate(
    base: KnowledgeBase,
    questions: Sequence[Judged],
    *,
    collections: Sequence[str] = (),
    configuration: Configuration | None = None,
) -> Report:
    """Ask a base every question and measure what comes back."""
    run = ask(base, questions, collections=collections, configuration=configuration)
    return report(questions, run)


def report(questions: Sequence[Judged], run: Run) -> Report:
    """Measure a run."""
    values = measures.values(questions, run.ranked)
    return Report(
        tuple(questions),
        run,
        values,
        summary(values, questions),
        _groups(values, questions, lambda question: question.class_),
        _groups(values, questions, lambda question: question.language),
        sum(1 for judged in questions if judged.units and not run.ranked[judged.question.id]),
    )


def compare(first: Report, second: Report, changed: Mapping[str, Any]) -> Comparison:
    """Return what changes from one report to another of the same questions."""
    return Comparison(first, second, changed, differences(first, second, first.questions))


def differences(first: Report, second: Report, questions: Sequence[Judged]) -> Group:
    """Return the paired difference of each measure over some of the questions."""
    return {
        name: intervals.difference(_of(first.values[name], questions), _of(second.values[name], questions))
        for name in measures.MEASURES
    }


def summary(values: Values, questions: Sequence[Judged]) -> Group:
    """Return the mean of each measure over some of the questions."""
    return {name: intervals.mean(_of(values[name], questions)) for name in measures.MEASURES}


def _of(values: Mapping[str, float], questions: Sequence[Judged]) -> list[float]:
    return [values[judged.question.id] for judged in questions if judged.question.id in values]


def _groups(values: Values, questions: Sequence[Judged], label: Callable[[Question], str | None]) -> dict[str, Group]:
    held: dict[str, list[Judged]] = {}
    for judged in questions:
        name = label(judged.question)
        if name is not None:
            held.setdefault(name, []).append(judged)
    return {name: summary(values, held[name]) for name in sorted(held)}


def _json(group: Group) -> dict[str, Any]:
    return {name: estimate.as_json() for name, estimate in group.items()}
