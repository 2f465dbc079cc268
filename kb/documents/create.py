"""A new document: its slug, its place among the others, its front matter, and its file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from kb.documents import folders, frontmatter
from kb.documents.model import Document
from kb.documents.read import LARGEST_BYTES, SUFFIXES, parse
from kb.documents.slugs import slug
from kb.errors import ArgumentError, BaseUnusable

FORMATS = {"md": ".md", "html": ".html"}
_LONGEST_TITLE = 300
_LONGEST_STATUS = 60
_LONGEST_PATH = 500
_DESCRIPTION = 240
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(10))})


@dataclass(frozen=True, slots=True)
class Draft:
    """What a document is to be made of, checked. `values`: front matter that its content brought along."""

    title: str
    slug: str
    given_slug: bool
    body: str
    values: Mapping[str, object]
    status: str
    sort_order: float | None
    suffix: str
    language: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document goes: below `parent` (an id) at `path` (`prozesse/rag-prozess`, empty for the top).

    `folder` is the language's folder or empty, `others` those of the other languages, `reserved` slugs that may not
    stand at the top because a language's folder is called so. `language`: the collection's.
    """

    parent: str | None
    path: str
    folder: str
    others: tuple[str, ...]
    reserved: Collection[str]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """A document that was created: its source file and what it holds."""

    source: str
    id: str
    slug: str
    created_at: str
    body: str
    document: Document

    @property
    def path(self) -> str:
        """The document's path in the tree, such as `/prozesse/rag-prozess/aehnlichkeitssuche`."""
        return f"/{self.id}"

    @property
    def depth(self) -> int:
        """How many documents stand above it on its path."""
        return self.id.count("/")


def draft(
    title: str,
    content: str,
    *,
    slug_: str | None = None,
    status: str | None = None,
    sort_order: float | None = None,
    format_: str = "md",
    language: str | None = None,
) -> Draft:
    """Check what a document is to be made of. ArgumentError says what is wrong; nothing is read or written."""
    name = _line("title", title, _LONGEST_TITLE)
    if format_ not in FORMATS:
        raise ArgumentError(f"format is {format_!r}; valid: {', '.join(FORMATS)}")
    if sort_order is not None and (
        isinstance(sort_order, bool) or not isinstance(sort_order, (int, float)) or not math.isfinite(sort_order)
    ):
        raise ArgumentError(f"sort_order must be a number, got {sort_order!r}")
    body, values = _content(content)
    given = values.get("status")
    if status is None:
        status = given if isinstance(given, str) else "published"
    written = values.get("lang") or values.get("language")
    if language is None and isinstance(written, str):
        language = frontmatter.language_tag(written)
    return Draft(
        title=name,
        slug=_slug(name if slug_ is None else slug_, slug_ is not None, language),
        given_slug=slug_ is not None,
        body=body,
        values=values,
        status=_line("status", status, _LONGEST_STATUS),
        sort_order=sort_order,
        suffix=FORMATS[format_],
        language=language,
    )


def _line(name: str, value: str, longest: int) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"{name} must be a text, got {type(value).__name__}")
    text = " ".join(_UNSEEN.sub(" ", _SURROGATE.sub("\ufffd", value)).split())
    if not text:
        raise ArgumentError(f"{name} is empty")
    if len(text) > longest:
        raise ArgumentError(f"{name} has {len(text)} characters; {longest} at most")
    return text


def _slug(text: str, given: bool, language: str | None) -> str:
    if given:
        if not isinstance(text, str) or not text.strip():
            raise ArgumentError("slug is empty")
        if re.search(r"[/\\\x00-\x1f\x7f]", text) or text.strip() in (".", ".."):
            raise ArgumentError("a slug is one name: no '/', no '..', no control characters; use --parent for the place")
    return slug(_SURROGATE.sub("\ufffd", text), language)


def _content(content: str) -> tuple[str, dict[str, object]]:
    """The text as it will stand in the file, and the front matter that opened it."""
    if not isinstance(content, str):
        raise ArgumentError(f"content must be a text, got {type(content).__name__}")
    content = content.removeprefix("\ufeff")
    if "\0" in content or _SURROGATE.search(content):
        raise ArgumentError("content is no text: it holds NUL or characters that UTF-8 does not have")
    if len(content.encode("utf-8")) > LARGEST_BYTES // 2:
        raise ArgumentError(f"content is larger than {LARGEST_BYTES // 2 // 1024 // 1024} MB")
    front = frontmatter.split("content", content[:200_000].replace("\r\n", "\n").replace("\r", "\n"))
    if front.body_line == 1 or front.warnings:
        return content, {}
    return "".join(_LINES.findall(content)[front.body_line - 1 :]), dict(front.values)


def create(
    root: str,
    made: Draft,
    place: Place,
    *,
    taken: Callable[[str], bool],
    required: Iterable[str] = (),
    problem: Callable[[Document], str | None] = lambda document: None,
) -> Created:
    """Write the document's file below `root` and return what it became.

    `taken` tells ids that another document has. `required`: front matter keys that must be there; `created` and
    `updated` among them are filled in. `problem` says what speaks against a document, before anything is written.
    ArgumentError or BaseUnusable where it can't be created; then nothing was changed.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    dates = {key: now[:10] for key in ("created", "updated") if key in required}
    if place.path and place.path.partition("/")[0] in place.reserved:
        raise ArgumentError(f"no document can be created below {place.parent}: its folder would be that of a language")

    def built(name: str) -> tuple[bytes, Document, str]:
        return _built(made, place, name, now, dates)

    fault = problem(built(made.slug)[1])
    if fault:
        raise ArgumentError(f"this document can't be created: it {fault}")
    try:
        with folders.locked(root) as folder:
            return _placed(folder, made, place, now, built, taken)
    except OSError as error:
        raise BaseUnusable(f"can't create {made.slug}{made.suffix}: {error.strerror or error}; nothing was written") from error


def _placed(
    root: folders.Folder,
    made: Draft,
    place: Place,
    now: str,
    built: Callable[[str], tuple[bytes, Document, str]],
    taken: Callable[[str], bool],
) -> Created:
    inside = tuple(PurePosixPath(place.path).parts)
    own = _stems(folders.names_below(root, _below(place.folder, inside)))
    others = {
        name: kinds for other in place.others for name, kinds in _stems(folders.names_below(root, _below(other, inside))).items()
    }
    for number, name in enumerate(_numbered(made.slug), 1):
        id_ = f"{place.path}/{name}" if place.path else name
        variant = number == 1 and made.given_slug and name not in own and made.suffix in others.get(name, ())
        if not variant and (name in own or name in others or _reserved(name, place) or taken(id_)):
            continue
        data, document, body = built(name)
        try:
            folders.publish(root, _below(place.folder, inside), name + made.suffix, data)
        except FileExistsError:
            continue
        return Created(document.source, id_, name, now, body, document)
    raise AssertionError("unreachable")


def _below(folder: str, inside: tuple[str, ...]) -> tuple[str, ...]:
    return (folder, *inside) if folder else inside


def _stems(names: Iterable[str]) -> dict[str, set[str]]:
    """The slugs of the documents among some file names, each with the suffixes it has."""
    found: dict[str, set[str]] = {}
    for name in names:
        path = PurePosixPath(name)
        if path.suffix.lower() in SUFFIXES:
            found.setdefault(slug(path.stem), set()).add(path.suffix)
    return found


def _numbered(name: str) -> Iterable[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _reserved(name: str, place: Place) -> bool:
    return name in _DEVICES or (not place.path and name in place.reserved)


def _built(made: Draft, place: Place, name: str, now: str, dates: Mapping[str, str]) -> tuple[bytes, Document, str]:
    """The bytes of the file, the document they make, and its text without the front matter."""
    id_ = f"{place.path}/{name}" if place.path else name
    if len(id_) > _LONGEST_PATH:
        raise ArgumentError(f"the path /{id_[:60]}… has {len(id_)} characters; {_LONGEST_PATH} at most")
    values: dict[str, Any] = {
        "id": id_,
        "title": made.title,
        "slug": name,
        "status": made.status,
        "sort_order": made.sort_order,
        "parent": place.parent,
        "created_at": now,
        "updated_at": now,
    }
    language = made.language or place.language
    if language is not None:
        values["lang"] = language
    rest = {key: value for key, value in made.values.items() if key not in (*values, "lang", "language")}
    front = _yaml({**values, **dates, **rest})
    body = made.body
    source = "/".join((*_below(place.folder, PurePosixPath(place.path).parts), name + made.suffix))
    document = parse(source, (front + body).encode("utf-8"))
    if document.error is None and _untitled(made, document):
        # Without a text of its own, or with a lesser heading first, the page would not bear its title.
        body = _titled(made) + body
        document = parse(source, (front + body).encode("utf-8"))
    if document.error is not None:
        raise ArgumentError(f"this document can't be created: {document.error}")
    return (front + body).encode("utf-8"), document, body


def _untitled(made: Draft, document: Document) -> bool:
    if not document.sections:
        return True
    return made.suffix == ".md" and document.sections[0].level > 1 and made.body.lstrip().startswith("##")


def _titled(made: Draft) -> str:
    if made.suffix == ".html":
        from html import escape

        return f"<h1>{escape(made.title)}</h1>\n"
    return "# " + re.sub(r"([\\`*_\[\]<>&#])", r"\\\1", made.title) + "\n"


def _yaml(values: Mapping[str, object]) -> str:
    import yaml

    written = yaml.safe_dump(dict(values), allow_unicode=True, sort_keys=False, default_flow_style=False, width=10_000)
    return f"---\n{written}---\n"


def description(document: Document) -> str:
    """The first paragraph of a document on one line, at most 240 characters, whole words."""
    from kb.documents.titles import plain_text

    for section in document.sections:
        for block in section.blocks:
            if block.kind == "paragraph":
                text = plain_text(block.text) if document.source.endswith(".md") else " ".join(block.text.split())
                if len(text) <= _DESCRIPTION:
                    return text
                return text[: _DESCRIPTION - 1].rsplit(" ", 1)[0] + "…"
    return ""
