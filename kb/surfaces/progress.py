"""Progress on a terminal; nothing at all in a pipe."""

from __future__ import annotations

import time
from typing import TextIO

_EVERY_SECONDS = 0.1


class Progress:
    """Writes `indexing 120/424 files` on one line of a terminal, and clears it at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.shown = stream.isatty()
        self._last = 0.0
        self._written = False
        self._embedding_since: float | None = None
        self._embedded_before = 0

    def __call__(self, done: int, total: int) -> None:
        """Show how far a run is, at most ten times a second."""
        self._show(f"indexing {done}/{total} files", done == total)

    def embedding(self, done: int, total: int) -> None:
        """Show how many texts are embedded, and the time left at the pace so far."""
        if self._embedding_since is None:
            self._embedding_since, self._embedded_before = time.monotonic(), done
        spent, made = time.monotonic() - self._embedding_since, done - self._embedded_before
        left = f", {_clock(spent / made * (total - done))} left" if made and done < total else ""
        self._show(f"embedding {done}/{total} texts{left}", done == total)

    def _show(self, line: str, last: bool) -> None:
        now = time.monotonic()
        if self.shown and (now - self._last > _EVERY_SECONDS or last):
            self._stream.write(f"\r\x1b[2K{line}")
            self._stream.flush()
            self._last, self._written = now, True

    def close(self) -> None:
        """Clear the line."""
        if self._written:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._written = False


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"
