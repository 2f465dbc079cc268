"""A report as a drawing: one column a measure, one bar a group, its interval as a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from kb.evaluation.configuration import written
from kb.evaluation.intervals import Estimate
from kb.evaluation.measures import MEASURES
from kb.evaluation.report import Comparison, Group, Report
from kb.evaluation.table import number, rows

_LEFT, _TOP, _COLUMN, _BAR, _GAP, _ROOM = 150, 44, 170, 12, 10, 50
_COLOURS = ("#2f6f9f", "#d9822b")


def svg(shown: Report | Comparison) -> str:
    """Return the drawing as SVG; of a comparison both configurations stand below each other."""
    reports = [shown.first, shown.second] if isinstance(shown, Comparison) else [shown]
    measures = [name for name in MEASURES if reports[0].measures[name].value is not None]
    groups = [(f"{name} ({count})", [group]) for name, count, group in rows(reports[0])]
    for other in reports[1:]:
        for (_, held), (_, _, group) in zip(groups, rows(other), strict=True):
            held.append(group)
    step = _BAR * len(reports) + _GAP
    width, height = _LEFT + _COLUMN * len(measures), _TOP + step * len(groups) + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_heading(shown, measures),
    ]
    for at, (name, held) in enumerate(groups):
        top = _TOP + at * step
        lines.append(_text(_LEFT - 8, top + _BAR * len(reports) / 2 + 4, name, anchor="end"))
        for column, measure in enumerate(measures):
            lines += _bars(_LEFT + column * _COLUMN, top, held, measure)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _heading(shown: Report | Comparison, measures: Sequence[str]) -> Iterator[str]:
    first = shown.first if isinstance(shown, Comparison) else shown
    title = f"{len(first.questions)} questions, {first.run.mode} mode, 95 % intervals"
    yield _text(8, 16, title)
    if isinstance(shown, Comparison):
        changed = written(shown.changed)
        yield _text(330, 16, "now", colour=_COLOURS[0])
        yield _text(360, 16, changed, colour=_COLOURS[1])
    for column, measure in enumerate(measures):
        yield _text(_LEFT + column * _COLUMN, 36, measure, weight="bold")


def _bars(left: float, top: float, held: Sequence[Group], measure: str) -> Iterator[str]:
    scale = _COLUMN - _ROOM
    for at, group in enumerate(held):
        found: Estimate = group[measure]
        if found.value is None or found.low is None or found.high is None:
            continue
        y = top + at * _BAR
        middle = y + (_BAR - 2) / 2
        yield f'<rect x="{left}" y="{y}" width="{scale}" height="{_BAR - 2}" fill="#eeeeee"/>'
        yield f'<rect x="{left}" y="{y}" width="{found.value * scale:.1f}" height="{_BAR - 2}" fill="{_COLOURS[at]}"/>'
        yield (
            f'<line x1="{left + found.low * scale:.1f}" x2="{left + found.high * scale:.1f}" y1="{middle}" y2="{middle}"'
            ' stroke="#111111" stroke-width="1.5"/>'
        )
        yield _text(left + scale + 4, y + _BAR - 3, number(found.value))


def _text(x: float, y: float, value: str, *, anchor: str = "start", colour: str = "#111111", weight: str = "normal") -> str:
    plain = "".join(char if char.isprintable() else "\ufffd" for char in value)
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">{escape(plain)}</text>'
