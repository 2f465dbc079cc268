"""The glossaries of a base: read when a search first needs them, and again when their files change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from kb.config import Collection
from kb.errors import ConfigError
from kb.stamps import changed_ns

if TYPE_CHECKING:
    from kb.analysis.analyzer import Analyzer
    from kb.analysis.glossary import Glossary


class Glossaries:
    """What the collections' `glossary` files say. No file is read, and nothing imported, where none is named."""

    def __init__(self, collections: Sequence[Collection], folder: Path, analyzer: Callable[[], Analyzer]) -> None:
        self._paths = {c.name: c.glossary for c in collections if c.glossary is not None}
        self._folder = folder
        self._analyzer = analyzer
        self._held: dict[Path, tuple[tuple[int, ...], Glossary]] = {}
        self._joined: tuple[tuple[Glossary, ...], Glossary | None] = ((), None)

    def of(self, names: Sequence[str] = ()) -> Glossary | None:
        """Return the terms of the named collections, of all where none is named; None where they have no glossary.

        ConfigError where a file is not there any more, or not valid.
        """
        paths = dict.fromkeys(path for name, path in self._paths.items() if not names or name in names)
        if not paths:
            return None
        found = tuple(self._read(path) for path in paths)
        if self._joined[0] != found:
            from kb.analysis.glossary import joined

            self._joined = (found, joined(found))
        return self._joined[1]

    def state(self) -> int:
        """Return a number that is another one once a file has changed; 0 where there is none."""
        return crc32(repr([self._stamp(path) for path in self._paths.values()]).encode()) if self._paths else 0

    def _read(self, path: Path) -> Glossary:
        stamp = self._stamp(path)
        held = self._held.get(path)
        if held is None or held[0] != stamp:
            from kb.analysis.glossary import read

            held = self._held[path] = (stamp, read(path, self._analyzer, self._folder))
        return held[1]

    @staticmethod
    def _stamp(path: Path) -> tuple[int, ...]:
        try:
            status = path.stat()
        except FileNotFoundError:
            raise ConfigError(f"glossary not found: {path}; put it back, or take it out of kb.toml") from None
        except OSError as error:
            raise ConfigError(f"glossary can't be read: {path}: {error}") from error
        return (status.st_size, changed_ns(status), status.st_ino)
