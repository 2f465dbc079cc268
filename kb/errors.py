"""What can go wrong, as exceptions a caller can catch.

KBError
├── ArgumentError          a value the caller gave is not valid (exit 2)
├── NotFound               the section asked for is not there (exit 1)
├── NotAvailable           an optional part is not installed (exit 1)
│   └── SemanticUnavailable embeddings can't be had: package, weights or vectors missing, disabled, broken, too slow
└── BaseUnusable           the base, its index or its engine can't be used (exit 3)
    ├── ConfigError        kb.toml is broken or names something unknown
    ├── IndexDamaged       an index file is not what the catalog says it is
    ├── IndexBusy          another process is writing
    ├── IndexUnwritable    the index can't be written: disk full, folder not writable
    └── EngineUnusable     the engine that kb.toml names is unreachable, too old, or refuses what is asked of it
"""

from __future__ import annotations


class KBError(Exception):
    """Base of everything kb raises on purpose; its text is one line that says what to do."""

    exit_code = 3


class ArgumentError(KBError):
    """A value the caller gave is not valid; nothing was read or written."""

    exit_code = 2


class NotFound(KBError):
    """No section has the id asked for; `suggestions` holds the nearest ids."""

    exit_code = 1

    def __init__(self, message: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.suggestions = suggestions


class NotAvailable(KBError):
    """What was asked for needs an optional part that is not installed; the text holds the install command."""

    exit_code = 1


class SemanticUnavailable(NotAvailable):
    """Embeddings can't be had now. `why` and `advice` (what to run) make the text; `reason` is for programs.

    `reason` is `disabled` or `backend-unavailable`.
    """

    def __init__(self, why: str, advice: str, reason: str = "backend-unavailable") -> None:
        super().__init__(f"{why}; {advice}")
        self.why = why
        self.advice = advice
        self.reason = reason


class BaseUnusable(KBError):
    """The base, its index or its engine can't be used."""


class ConfigError(BaseUnusable):
    """kb.toml can't be parsed, or holds a key or value that is not known."""

    exit_code = 2


class IndexDamaged(BaseUnusable):
    """An index file is missing, truncated, or of another version than the catalog says."""


class IndexBusy(BaseUnusable):
    """Another process holds the write lock and kept it longer than the wait allowed."""


class IndexUnwritable(BaseUnusable):
    """The cache folder can't be written, or is full; what was there before is there still."""


class EngineUnusable(BaseUnusable):
    """The engine that kb.toml names can't be reached, is too old, or refuses the key or the request."""
