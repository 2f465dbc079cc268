"""One file made ready for the index: parsed, cut into passages, its words found.

Nothing here depends on what else the base holds, so files can be prepared side by side in several
processes; what is handed back is plain data that is cheap to send.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from kb.analysis import words
from kb.analysis.languages import STEMMERS, detect
from kb.config import Collection
from kb.documents.model import Document
from kb.documents.read import content, parse
from kb.index import noise, passages


@dataclass(frozen=True, slots=True)
class Task:
    """A file to prepare. `digest`: of the content that the index holds. `repeated`: keys of blocks that don't rank."""

    collection: Collection
    source: str
    digest: bytes | None
    repeated: frozenset[int]
    passage_words: int


@dataclass(frozen=True, slots=True)
class PreparedSection:
    """A section: the id it wants, and positions of its parent and of the hit it belongs to among the sections."""

    wanted: str
    explicit: bool
    title: str
    level: int
    lines: tuple[int, int]
    parent: int | None
    hit: int


@dataclass(frozen=True, slots=True)
class PreparedPassage:
    """A passage: `words` are positions in the vocabulary of its document, as bytes of int32."""

    section: int
    lines: tuple[int, int]
    heading: str
    text: str
    words: bytes


@dataclass(frozen=True, slots=True)
class PreparedHit:
    """A hit: its names, each with its words, and its passages."""

    section: int
    names: tuple[tuple[str, bytes], ...]
    passages: tuple[PreparedPassage, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything the index keeps of a file. `node`: the id of a file that has front matter and no text."""

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
    vocabulary: tuple[str, ...]
    blocks: tuple[int, ...]

    def wanted(self) -> list[str]:
        """Return the ids that the document's sections want."""
        return [section.wanted for section in self.sections] or ([self.node] if self.node else [])


def prepare(task: Task) -> Prepared | None:
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
    vocabulary = _Vocabulary()
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
        hits=tuple(_hits(document, task, vocabulary)),
        vocabulary=tuple(vocabulary),
        blocks=tuple({noise.key(block): None for section in document.sections for block in section.blocks}),
    )


def _sections(document: Document, hit_level: int) -> tuple[PreparedSection, ...]:
    return tuple(
        PreparedSection(s.id, s.explicit, s.title, s.level, s.lines, s.parent, hit)
        for s, hit in zip(document.sections, passages.hit_of(document, hit_level), strict=True)
    )


def _hits(document: Document, task: Task, vocabulary: _Vocabulary) -> Iterable[PreparedHit]:
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
            section.title,
            *([f"{section.id} {section.title}"] if section.explicit else []),
            *(document.aliases if hit.section == 0 else ()),
        ]
        if hit.above:
            names.append(" ".join((*hit.above, section.title)))
        yield PreparedHit(
            hit.section,
            tuple((name, _numbers(name, vocabulary)) for name in names),
            tuple(
                PreparedPassage(p.section, p.lines, p.heading, p.text, _numbers(p.heading + "\n" + p.text, vocabulary))
                for p in hit.passages
            ),
        )


class _Vocabulary(dict[str, int]):
    """The words of one document, numbered as they come."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def _numbers(text: str, vocabulary: _Vocabulary) -> bytes:
    return array("i", map(vocabulary.__getitem__, words.find(text))).tobytes()


def variant_of(collection: Collection, source: str) -> tuple[str, str | None]:
    """Return the path that a document shares with its variants, and the language its folder names."""
    folder, _, rest = source.partition("/")
    if rest and (folder in collection.languages or (folder in STEMMERS and (collection.root / rest).is_file())):
        return rest, folder
    return source, None
