"""Small bases for tests: a folder of files, and the KnowledgeBase over it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kb.answers import SearchAnswer
from kb.base import KnowledgeBase


class Base:
    """A documents folder with its own cache folder; `toml` stands beside the folder and names it as a collection."""

    def __init__(self, place: Path, files: Mapping[str, str | bytes] | None = None, toml: str | None = None) -> None:
        self.place = place
        self.root = place / "docs"
        self.cache = place / "cache"
        self.root.mkdir(parents=True)
        self.path = self.root
        for name, content in (files or {}).items():
            self.write(name, content)
        if toml is not None:
            self.path = place / "kb.toml"
            self.path.write_text(toml, encoding="utf-8")
        self._opened: list[KnowledgeBase] = []
        self._rebuilds = 0

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        return path

    def open(self, cache: Path | None = None) -> KnowledgeBase:
        opened = KnowledgeBase(self.path, cache=cache or self.cache)
        self._opened.append(opened)
        return opened

    @property
    def kb(self) -> KnowledgeBase:
        return self._opened[0] if self._opened else self.open()

    def rebuilt(self) -> KnowledgeBase:
        """The same files under an index of their own, made in one go."""
        self._rebuilds += 1
        return self.open(self.place / f"rebuilt-{self._rebuilds}")

    def search(self, query: str, **options: object) -> SearchAnswer:
        return self.kb.search(query, **options)  # type: ignore[arg-type]

    def ids(self, query: str, **options: object) -> list[str]:
        """The ids that a query finds, best first, up to 50."""
        return [result.id for result in self.search(query, **{"limit": 50, **options}).results]

    def close(self) -> None:
        for opened in self._opened:
            opened.close()


@contextmanager
def temporary(files: Mapping[str, str | bytes] | None = None, toml: str | None = None) -> Iterator[Base]:
    """A base for one example of a property test; in memory where the system has such a folder, for speed."""
    memory = Path("/dev/shm")
    folder = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as place:
        base = Base(Path(place) / "base", files, toml)
        try:
            yield base
        finally:
            base.close()


def folder_hash(root: Path) -> str:
    """A hash over names, contents, modes and times of change of everything below a folder."""
    digest = hashlib.sha256()
    for path in sorted([root, *root.rglob("*")]):
        status = path.lstat()
        digest.update(f"{path.relative_to(root)}|{status.st_mode}|{status.st_mtime_ns}|{status.st_size}\n".encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
