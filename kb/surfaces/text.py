"""Answers as text for people. What comes from documents is made safe for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb.answers import IndexAnswer, ListAnswer, RawWindow, Result, SearchAnswer, SectionAnswer, StatusAnswer, TreeNode
    from kb.reading.records import Clause, GroundAnswer, NewAnswer, ParsedAnswer

_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
_MARK, _UNMARK = "\x1b[1m", "\x1b[0m"


def safe(value: str) -> str:
    """Return a text without control characters that would steer a terminal or turn the direction of writing."""
    return value if value.isprintable() else re.sub(_CONTROL, "\ufffd", value)


def one_line(value: str) -> str:
    """Return a text as one safe line."""
    return safe(" ".join(value.split()))


def search(answer: SearchAnswer, colour: bool) -> str:
    """Return the hits of a search, numbered."""
    lines = []
    if answer.corrected:
        lines.append(f"searched for: {one_line(answer.corrected)}\n")
    if answer.also:
        lines.append(f"also searched for: {one_line(', '.join(answer.also))}\n")
    if not answer.results:
        lines.append("nothing found\n")
    for number, result in enumerate(answer.results, 1):
        lines.append(_hit(number, result, colour))
    if answer.results:
        lines.append(f"{len(answer.results)} of {answer.total} sections\n")
    return "".join(lines)


def _hit(number: int, result: Result, colour: bool) -> str:
    stale = "  [changed since it was indexed]" if result.stale else ""
    stale += "  [weak]" if result.low_confidence else ""
    where = one_line(result.source)
    if result.passage:
        where += f":{result.passage.lines[0]}-{result.passage.lines[1]}"
    out = f"{number}. {one_line(result.title)}  [{one_line(result.id)}]  {result.score:.2f}{stale}\n"
    out += f"   {one_line(result.path)}\n"
    if result.snippet:
        out += f"   {_marked(result, colour)}\n"
    out += f"   {where}\n"
    for name, part in (result.explanation or {}).items():
        forms = {term: f" [{one_line(form)}]" for term, form in part.get("instead", {}).items() if form != term}
        terms = ", ".join(f"{one_line(t)} {v:.3f}{forms.get(t, '')}" for t, v in part.get("terms", {}).items())
        out += f"   {name}: {part['score']:.3f}" + (f" ({terms})" if terms else "") + "\n"
    return out + "\n"


def _marked(result: Result, colour: bool) -> str:
    if not colour:
        return safe(result.snippet)
    out, at = [], 0
    for start, end in result.highlights:
        out += [safe(result.snippet[at:start]), _MARK, safe(result.snippet[start:end]), _UNMARK]
        at = end
    return "".join([*out, safe(result.snippet[at:])])


def section(found: SectionAnswer) -> str:
    """Return a section: its place, its text, and where to go from it."""
    if found.error is not None:
        return f"{found.title}\n{one_line(found.source or '')}: {one_line(found.error)}\n"
    head = [one_line(found.path)]
    if found.source:
        head.append(f"{one_line(found.source)}" + (f":{found.lines[0]}-{found.lines[1]}" if found.lines else ""))
    if len(found.languages) > 1:
        head.append(f"languages: {', '.join(found.languages)}")
    out = "\n".join(head) + "\n\n"
    if found.body:
        out += safe(found.body) + "\n"
    if found.children:
        out += "\n" + "\n".join(f"  {one_line(child.id)}  {one_line(child.title)}" for child in found.children) + "\n"
    return out


def raw(window: RawWindow) -> str:
    """Return raw lines."""
    value = safe(window.text)
    return value if not value or value.endswith("\n") else value + "\n"


def parsed(data: ParsedAnswer) -> str:
    """Return a section as data: front matter, headings with their canonical names, items and entries."""
    if data.error is not None:
        return f"{data.title}\n{one_line(data.source or '')}: {one_line(data.error)}\n"
    lines = [f"{one_line(data.title)}  [{one_line(data.id or '')}]  {one_line(data.source or '')}"]
    lines += [f"{one_line(key)}: {one_line(_value(value))}" for key, value in data.front_matter.items()]
    for heading in data.headings:
        other = f"  ({one_line(heading.title)})" if heading.title != heading.name else ""
        lines.append(f"{'#' * max(heading.level, 1)} {one_line(heading.name)}{other}  :{heading.lines[0]}-{heading.lines[1]}")
    lines += [f"{'  ' * item.depth}[{'x' if item.done else ' '}] {one_line(item.text)}  :{item.line}" for item in data.items]
    lines += [f"{entry.at}  {one_line(entry.text)}  :{entry.line}" for entry in data.entries]
    return "\n".join(lines) + "\n"


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def clause(found: Clause) -> str:
    """Return a clause as it is cited."""
    lines = [f"{one_line(found.title)}  [{one_line(found.id)}]"]
    if found.summary:
        lines.append(one_line(found.summary))
    if found.source_url:
        lines.append(f"source: {one_line(found.source_url)}" + (f" (as of {one_line(found.as_of)})" if found.as_of else ""))
    if found.disclaimer:
        lines.append(f"note: {one_line(found.disclaimer)}")
    return "\n".join(lines) + "\n"


def ground(answer: GroundAnswer, terminal: bool) -> str:
    """Return the pack; word for word, save on a terminal, which control characters would steer."""
    return safe(answer.markdown) if terminal else answer.markdown


def created(answer: NewAnswer) -> str:
    """Return what was created, and how to read it."""
    return f"{one_line(answer.message)}\nread it: kb section {one_line(answer.id)}\n"


def listing(answer: ListAnswer) -> str:
    """Return a page of rows."""
    lines = []
    for row in answer.rows:
        if row.error is not None:
            lines.append(f"{row.title}  {one_line(row.source)}: {one_line(row.error)}")
        else:
            lines.append(f"{one_line(row.id or '')}  {one_line(row.title)}  ({', '.join(row.languages)})  {one_line(row.source)}")
    last = answer.offset + len(answer.rows)
    more = f"; next: --offset {last}" if answer.truncated else ""
    lines.append(f"{len(answer.rows)} of {answer.total} sections, {answer.error_count} failed{more}")
    return "\n".join(lines) + "\n"


def tree(nodes: Sequence[TreeNode]) -> str:
    """Return a tree, indented."""
    return "".join(_branch(node, 0) for node in nodes) or "empty\n"


def _branch(node: TreeNode, depth: int) -> str:
    more = f"  (+{node.more})" if node.more else ""
    line = f"{'  ' * depth}{one_line(node.id)}  {one_line(node.title)}{more}\n"
    return line + "".join(_branch(child, depth + 1) for child in node.children)


def index(answer: IndexAnswer) -> str:
    """Return what an index run did."""
    out = f"{answer.indexed} files indexed, {answer.removed} removed, {answer.unchanged} unchanged in {answer.seconds:.2f} s\n"
    if answer.vectors is not None:
        made = answer.vectors
        out += (
            f"{made.embedded} passages embedded by {one_line(made.model)} in {made.seconds:.2f} s, {made.unchanged} had theirs\n"
        )
    return out


def status(answer: StatusAnswer) -> str:
    """Return the state of a base."""
    lines = [f"base: {one_line(answer.base)}"]
    for held in answer.collections:
        languages = ", ".join(f"{code} {count}" for code, count in held.languages.items())
        lines.append(
            f"collection {one_line(held.name)}: {held.documents} documents, {held.sections} sections,"
            f" {held.passages} passages" + (f" ({languages})" if languages else "")
        )
        if held.skipped:
            kinds = ", ".join(f"{one_line(kind)} {count}" for kind, count in held.skipped.items())
            lines.append(f"  kinds of file that are not read: {kinds}")
        lines += [f"  <failed to parse> {one_line(source)}: {one_line(error)}" for source, error in held.errors]
        lines += _noted("warning", held.warnings)
        lines += [f"  id {one_line(i)} is claimed by: {', '.join(map(one_line, sources))}" for i, sources in held.clashes]
    lines.append(f"index: {one_line(answer.index)} ({answer.bytes / 1e6:.1f} MB, {answer.segments} segments)")
    lines.append(f"changed since: {answer.pending} files")
    engine = answer.extra.get("engine")
    if engine:
        lines.append(_engine(engine))
    if answer.warning:
        lines.append(f"warning: {one_line(answer.warning)}")
    return "\n".join(lines) + "\n"


def _engine(held: Mapping[str, Any]) -> str:
    if "error" in held:
        return f"engine: {one_line(held['error'])}"
    behind = "not filled yet" if held["behind"] is None else f"{held['behind']} documents behind"
    waiting = f", {held['without_vectors']} wait for vectors" if held["without_vectors"] else ""
    missing = f" ({held['missing']} missing)" if held["missing"] else ""
    points = f"{held['points']} points{missing} in {held['shards']} shards, {held['state']}"
    return f"engine: {held['kind']} {held['version']}, {one_line(held['alias'])}: {points}; {behind}{waiting}"


def _noted(name: str, notes: Iterable[str]) -> list[str]:
    return [f"  {name}: {one_line(note)}" for note in notes]
