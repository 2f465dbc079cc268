"""One file made ready for the index: parsed, cut into passages, its words found.

Nothing here depends on what else the base holds, so files can be prepared side by side in several
processes; what is handed back is plain data that is cheap to send.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from kb.analysis import words
from kb.analysis.languages import STEMMERS, detect
from kb.config import Collection
from kb.documents.model import Document, Name
from kb.documents.read import content, parse
from kb.index import noise, passages
from kb.records import record


@record
class Task:
    """A file to prepare. `digest`: of the content that the index holds. `repeated`: keys of blocks that don't rank."""

    collection: Collection
    source: str
    digest: bytes | None
    repeated: frozenset[int]
    passage_words: int


class PreparedSection(NamedTuple):  # tuples, for thousands of them are sent from one process to another
    """A section: the id it wants, and positions of its parent and of the hit it belongs to among the sections."""

    wanted: str
    explicit: bool
    title: str
    level: int
    lines: tuple[int, int]
    parent: int | None
    hit: int


class PreparedPassage(NamedTuple):
    """A passage; `size` is the number of its words, those of its heading included."""

    section: int
    lines: tuple[int, int]
    heading: str
    text: str
    size: int


class PreparedName(NamedTuple):
    """A name of a hit; `size` is the number of its words, `language` the one it is in."""

    text: str
    size: int
    language: str


class PreparedHit(NamedTuple):
    """A hit: its names and its passages."""

    section: int
    names: tuple[PreparedName, ...]
    passages: tuple[PreparedPassage, ...]


@record
class Prepared:
    """Everything the index keeps of a file. `node`: the id of a file that has front matter and no text.

    `words` are the words of all hits in order, of each its names' and then its passages': as bytes of int32, numbers that the
    `Preparer` gave them. `fresh` are the words that it had not met in an earlier file, numbered on from those it had.
    """

    source: str
    digest: bytes
    variant: str
    language: str
    title: str
    type: str | None
    status: str | None
    sort_order: float | None
    parent: str | None
    front: str
    body_line: int
    warnings: tuple[str, ...]
    error: str | None
    node: str | None
    sections: tuple[PreparedSection, ...]
    hits: tuple[PreparedHit, ...]
    words: bytes
    fresh: tuple[str, ...]
    preparer: int
    blocks: tuple[int, ...]

    def languages(self) -> set[str]:
        """Return the languages of the document and of its names."""
        return {self.language, *(name.language for hit in self.hits for name in hit.names)}

    def wanted(self) -> list[str]:
        """Return the ids that the document's sections want."""
        return [section.wanted for section in self.sections] or ([self.node] if self.node else [])


@record
class Job:
    """A document to be written: what it holds, its file's size and times in ns, and the number it replaces."""

    collection: Collection
    prepared: Prepared
    size: int
    changed: int
    checked: int
    replaces: int | None


class Preparer:
    """Prepares files one after the other; what it has learnt of words in one it knows in the next.

    `number` tells the words of several preparers apart, which number them each in its own way.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._numbers = _Numbers()

    def prepare(self, task: Task) -> Prepared | None:
        """Read and prepare a file; None where its content is what the index holds already."""
        data, problem = content(task.collection.root, task.source)
        digest = blake2b(data, digest_size=16).digest() if problem is None else b""
        if problem is None and digest == task.digest:
            return None
        document = parse(task.source, data) if problem is None else problem
        variant, folder_language = variant_of(task.collection, document.source)
        language = document.language or folder_language or task.collection.language or detect(document.text)
        type_ = document.type or task.collection.type
        if task.collection.schema is not None:
            from kb.documents import schema  # on use: what it validates with is slow to import

            document = schema.checked(document, schema.load(task.collection.schema), type_, language)
        numbers: list[int] = []
        hits = tuple(self._hits(document, language, task, numbers))
        fresh = self._numbers.taken()
        node = document.front_matter.get("id") if not document.sections else None
        return Prepared(
            source=document.source,
            digest=digest,
            variant=variant,
            language=language,
            title=document.title,
            type=type_,
            status=document.status,
            sort_order=document.sort_order,
            parent=document.parent,
            front=json.dumps(document.front_matter, ensure_ascii=False),
            body_line=document.body_line,
            warnings=document.warnings,
            error=document.error,
            node=None if node is None else str(node),
            sections=_sections(document, task.collection.hit_level),
            hits=hits,
            words=array("i", numbers).tobytes(),
            fresh=fresh,
            preparer=self._number,
            blocks=tuple({noise.key(block): None for section in document.sections for block in section.blocks}),
        )

    def _hits(self, document: Document, language: str, task: Task, numbers: list[int]) -> Iterable[PreparedHit]:
        repeated = task.repeated
        cut = passages.cut(
            document,
            task.collection.hit_level,
            task.passage_words,
            (lambda block: noise.key(block) in repeated) if repeated else None,
        )
        for hit in cut:
            section = document.sections[hit.section]
            names = [
                Name(section.title),
                *([Name(f"{section.id} {section.title}")] if section.explicit else []),
                *(document.aliases if hit.section == 0 else ()),
            ]
            if hit.above:
                names.append(Name(" ".join((*hit.above, section.title))))
            yield PreparedHit(
                hit.section,
                tuple(
                    PreparedName(name.text, self._number_words(name.text, numbers), name.language or language) for name in names
                ),
                tuple(
                    PreparedPassage(p.section, p.lines, p.heading, p.text, self._number_words(p.heading + "\n" + p.text, numbers))
                    for p in hit.passages
                ),
            )

    def _number_words(self, text: str, numbers: list[int]) -> int:
        before = len(numbers)
        numbers.extend(map(self._numbers.__getitem__, words.find(text)))
        return len(numbers) - before


def _sections(document: Document, hit_level: int) -> tuple[PreparedSection, ...]:
    return tuple(
        PreparedSection(s.id, s.explicit, s.title, s.level, s.lines, s.parent, hit)
        for s, hit in zip(document.sections, passages.hit_of(document, hit_level), strict=True)
    )


class _Numbers(dict[str, int]):
    """Words, numbered as they come."""

    def __init__(self) -> None:
        self._fresh: list[str] = []

    def taken(self) -> tuple[str, ...]:
        """Return the words that have come since this was asked last."""
        fresh, self._fresh = tuple(self._fresh), []
        return fresh

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self._fresh.append(word)
        return number


def variant_of(collection: Collection, source: str) -> tuple[str, str | None]:
    """Return the path that a document shares with its variants, and the language its folder names."""
    folder, _, rest = source.partition("/")
    if rest and (folder in collection.languages or (folder in STEMMERS and (collection.root / rest).is_file())):
        return rest, folder
    return source, None
