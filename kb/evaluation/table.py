"""Reports as text: a table of measures and bars."""

from __future__ import annotations

from collections.abc import Iterator

from kb.evaluation.configuration import written
from kb.evaluation.intervals import Estimate
from kb.evaluation.measures import ABSTAINED, MEASURES
from kb.evaluation.report import Comparison, Group, Report

BARS = "nDCG@10"
"""The measure that bars show; where no question has an answer, the share rightly left empty."""
_WIDTH = 40


def number(value: float) -> str:
    """Return a number as measures are written: three decimals, no zero before the point."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def estimate(found: Estimate) -> str:
    """Return a mean with its interval, `-` where nothing was measured."""
    if found.value is None or found.low is None or found.high is None:
        return "-"
    return f"{number(found.value)} ({number(found.low)}-{number(found.high)})"


def change(found: Estimate) -> str:
    """Return a difference with its sign and interval; `*` where the interval leaves out 0."""
    if found.value is None or found.low is None or found.high is None:
        return "-"
    sure = "*" if found.low > 0 or found.high < 0 else ""
    return f"{found.value:+.3f}{sure} ({found.low:+.3f} to {found.high:+.3f})"


def rows(report: Report) -> Iterator[tuple[str, int, Group]]:
    """Yield (name, number of questions, measures) of all questions, then of each class and language."""
    yield "all", len(report.questions), report.measures
    for groups, label in ((report.classes, "class_"), (report.languages, "language")):
        for name, group in groups.items():
            yield name, sum(1 for judged in report.questions if getattr(judged.question, label) == name), group


def text(report: Report) -> str:
    """Return a report as a table and bars."""
    measures = [name for name in MEASURES if report.measures[name].value is not None]
    lines = [["", "n", *measures]]
    lines += [[name, str(count), *(estimate(group[m]) for m in measures)] for name, count, group in rows(report)]
    out = f"{len(report.questions)} questions, {report.run.mode} mode; means with 95 % intervals\n\n" + _aligned(lines)
    out += f"\nnothing came back for {report.left_empty} questions that have an answer\n\n" if report.left_empty else "\n"
    return out + _bars(report)


def comparison(compared: Comparison) -> str:
    """Return two reports, and what changes from the first to the second."""
    changed = written(compared.changed)
    lines = [["", "now", "changed", "difference, paired"]]
    for name in MEASURES:
        first, second = compared.first.measures[name], compared.second.measures[name]
        if first.value is not None:
            lines.append([name, estimate(first), estimate(second), change(compared.difference[name])])
    heading = f"changed: {changed} ({compared.second.run.mode} mode)"
    return f"{text(compared.first)}\n{heading}\n\n{_aligned(lines)}\n* the 95 % interval leaves out 0\n"


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )


def _bars(report: Report) -> str:
    measure = BARS if report.measures[BARS].value is not None else ABSTAINED
    shown = [(name, group[measure].value) for name, _, group in rows(report)]
    width = max(len(name) for name, _ in shown)
    out = f"{measure}\n"
    for name, value in shown:
        if value is not None:
            filled = round(value * _WIDTH)
            out += f"{name.ljust(width)}  {'█' * filled}{'·' * (_WIDTH - filled)} {number(value)}\n"
    return out
