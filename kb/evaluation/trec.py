"""Runs and judgements in the formats of trec_eval, for other tools.

A run line is `query Q0 document rank score tag`, a judgement `query 0 document 1`. Scores fall with the rank, so that a tool
which sorts by score keeps the order. What would break a line (white space, `%`) is percent-encoded in ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kb.errors import ArgumentError
from kb.evaluation.gold import Judged, Unit
from kb.evaluation.measures import key
from kb.evaluation.report import Comparison, Report


def export(shown: Report | Comparison, folder: Path) -> tuple[Path, ...]:
    """Write `gold.qrels` and `kb.run` (of a comparison also `changed.run`) into a folder, made where it is missing.

    Returns the files. Questions without an answer have no line in the judgements.
    """
    first = shown.first if isinstance(shown, Comparison) else shown
    files = {folder / "gold.qrels": qrels(first.questions), folder / "kb.run": run(first, "kb")}
    if isinstance(shown, Comparison):
        files[folder / "changed.run"] = run(shown.second, "changed")
    for path, lines in files.items():
        write(path, "".join(f"{line}\n" for line in lines))
    return tuple(files)


def qrels(questions: Iterable[Judged]) -> list[str]:
    """Return the lines of the judgements, in order of the questions."""
    return [f"{_word(j.question.id)} 0 {_document(unit)} 1" for j in questions for unit in sorted(j.units, key=key)]


def run(report: Report, tag: str) -> list[str]:
    """Return the lines of a run, ranks from 1."""
    lines = []
    for judged in report.questions:
        units = report.run.ranked[judged.question.id]
        query = _word(judged.question.id)
        lines += [f"{query} Q0 {_document(unit)} {at} {len(units) + 1 - at} {tag}" for at, unit in enumerate(units, 1)]
    return lines


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all, its folder too; into a device or a pipe straight, a link stays a link.

    Raises ArgumentError where that can't be done.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
            return
        path = path.resolve()
        draft = path.with_name(f".{path.name}.tmp")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_text(text, encoding="utf-8", errors="backslashreplace")
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ArgumentError(f"{path} can't be written: {error.strerror or error}; name another place") from error


def _document(unit: Unit) -> str:
    return _word(key(unit))


def _word(value: str) -> str:
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        if char.isspace() or char == "%" or not char.isprintable()
        else char
        for char in value
    )
