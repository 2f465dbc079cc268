"""A file to a document."""

from __future__ import annotations

import os
import stat
import unicodedata
from pathlib import Path, PurePosixPath

from kb.documents import frontmatter, sections
from kb.documents.decode import NotText, decode
from kb.documents.model import Block, Document, Heading, failed

LARGEST_BYTES = 64 * 1024 * 1024
MARKDOWN = (".md", ".markdown")
HTML = (".html", ".htm")
TEXT = (".txt", ".text")
SUFFIXES = frozenset(MARKDOWN + HTML + TEXT)


def parse(source: str, data: bytes) -> Document:
    """The document that the bytes of a file make; `source` is its path relative to the collection's root.

    The suffix says what it is: Markdown, HTML, else plain text. Never raises: what can't be decoded comes back as a
    document with `error`.
    """
    source = unicodedata.normalize("NFC", source)
    if len(data) > LARGEST_BYTES:
        return failed(source, f"larger than {LARGEST_BYTES // 1024 // 1024} MB ({len(data)} bytes)")
    try:
        return _parsed(source, data)
    except NotText as error:
        return failed(source, str(error))
    except Exception as error:  # one file must not stop the others
        return failed(source, f"could not be parsed: {type(error).__name__}: {error}")


def read(root: Path, source: str) -> Document:
    """Open and parse one file below `root` (or `root` itself, when that is a file of this name).

    Only a regular file whose real path lies inside the root is opened; what can't be read comes back with `error`.
    """
    data, problem = content(root, source)
    return parse(source, data) if problem is None else problem


def content(root: Path, source: str) -> tuple[bytes, Document | None]:
    """The bytes of a file, or none and the document with `error` that stands for it; for whoever needs both."""
    wanted = unicodedata.normalize("NFC", source)
    try:
        return _bytes(root, source), None
    except OSError as error:
        return b"", failed(wanted, f"can't be read: {error.strerror or error}")
    except ValueError as error:
        return b"", failed(wanted, f"can't be read: {error}")


def _bytes(root: Path, source: str) -> bytes:
    base = os.path.realpath(root)
    if os.path.isfile(base):
        base, source_path = os.path.split(base)
    else:
        pure = PurePosixPath(source)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts or "\0" in source:
            raise ValueError("path leaves the folder")
        source_path = _on_disk(base, pure)
    real = os.path.realpath(os.path.join(base, source_path))
    if os.path.commonpath([base, real]) != base:
        raise ValueError("path leaves the folder")
    descriptor = _open_inside(base, os.path.relpath(real, base))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(LARGEST_BYTES + 1)
    finally:
        os.close(descriptor)


def _on_disk(base: str, source: PurePosixPath) -> str:
    """The path as the disk spells it: names are compared in NFC, where the disk may hold another form."""
    direct = os.path.join(base, *source.parts)
    if os.path.lexists(direct):
        return os.path.join(*source.parts)
    found: list[str] = []
    for part in source.parts:
        folder = os.path.join(base, *found)
        composed = unicodedata.normalize("NFC", part)
        if os.path.lexists(os.path.join(folder, part)):
            found.append(part)
            continue
        found.append(next((n for n in sorted(os.listdir(folder)) if unicodedata.normalize("NFC", n) == composed), part))
    return os.path.join(*found)


def _open_inside(base: str, relative: str) -> int:
    """Open a file that must lie below `base` without following a link that appeared since it was resolved."""
    # A pipe that took the file's place would block the open.
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if os.open not in os.supports_dir_fd:
        return os.open(os.path.join(base, relative), flags)
    *folders, name = relative.split(os.sep)
    descriptor = os.open(base, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        for folder in folders:
            inner = os.open(folder, flags | getattr(os, "O_DIRECTORY", 0), dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return os.open(name, flags, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _parsed(source: str, data: bytes) -> Document:
    decoded = decode(source, data)
    text = decoded.text
    front = frontmatter.split(source, text)
    name = PurePosixPath(source)
    suffix = name.suffix.lower()
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    body = lines[front.body_line - 1 :]
    found, title, language, warnings = _parts(source, suffix, body, front.body_line)
    root_title = front.title or title or name.stem
    made, id_warnings = sections.build(source, found, body, front.body_line, front.id, root_title)
    named = front.title or (title if title and not _has_main_heading(found) else None)
    return Document(
        source=source,
        title=named or (made[0].title if made else root_title),
        language=front.language or language,
        type=front.type,
        status=front.status,
        front_matter=front.values,
        aliases=front.aliases,
        parent=front.parent,
        sort_order=front.sort_order,
        sections=made,
        text=text,
        body_line=front.body_line,
        warnings=(*decoded.warnings, *front.warnings, *warnings, *id_warnings),
    )


def _parts(
    source: str, suffix: str, body: list[str], first: int
) -> tuple[list[Heading | Block], str | None, str | None, list[str]]:
    """Headings and blocks, the title and the language that the format itself states, and warnings."""
    if not body:
        return [], None, None, []
    if suffix in MARKDOWN:
        from kb.documents import markdown

        found, warnings = markdown.parts(source, body, first)
        return found, None, None, warnings
    if suffix in HTML:
        from kb.documents import html

        page = html.parts(body, first)
        return page.parts, page.title, page.language, []
    from kb.documents import text

    return [*text.blocks(body, first)], None, None, []


def _has_main_heading(parts: list[Heading | Block]) -> bool:
    return any(isinstance(part, Heading) and part.level == 1 for part in parts)
