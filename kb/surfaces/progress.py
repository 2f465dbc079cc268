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

    def __call__(self, done: int, total: int) -> None:
        """Show how far a run is, at most ten times a second."""
        now = time.monotonic()
        if self.shown and (now - self._last > _EVERY_SECONDS or done == total):
            self._stream.write(f"\r\x1b[2Kindexing {done}/{total} files")
            self._stream.flush()
            self._last, self._written = now, True

    def close(self) -> None:
        """Clear the line."""
        if self._written:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._written = False
