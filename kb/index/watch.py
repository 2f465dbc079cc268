"""Wait for changes below the roots of a base, as the system reports them; nothing is listed or read meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

from kb.config import Collection
from kb.errors import BaseUnusable, NotAvailable
from kb.stamps import changed_ns

WAKE_MS = 1000
"""How long one wait lasts; between waits only roots that are single files are looked at, one stat each."""
SETTLE_MS = 400
"""Changes that follow each other this closely are taken together."""


def changes(collections: Sequence[Collection], stop: Event | None = None) -> Iterator[bool]:
    """Yield True whenever something below a root has changed, and False about once a second otherwise, until `stop` is set.

    From the first value on nothing is missed. Raises NotAvailable where watchfiles is not installed, BaseUnusable where a
    root can't be watched.
    """
    try:
        from watchfiles import watch  # on use: nothing else needs it
    except ImportError as error:
        raise NotAvailable("watching needs watchfiles, which is not installed; run: pip install watchfiles") from error
    folders = [collection.root for collection in collections if collection.root.is_dir()]
    files = [collection.root for collection in collections if not collection.root.is_dir()]
    if not folders:
        folders = sorted({root.parent for root in files})
        recursive = False
    else:
        recursive = True
    before = _stats(files)
    try:
        for found in watch(
            *folders, watch_filter=None, debounce=SETTLE_MS, rust_timeout=WAKE_MS, yield_on_timeout=True, stop_event=stop,
            recursive=recursive, raise_interrupt=False,
        ):  # fmt: skip
            now = _stats(files)
            yield (bool(found) and recursive) or now != before
            before = now
    except (OSError, RuntimeError) as error:
        raise BaseUnusable(f"the folders can't be watched ({error}); run kb index by hand, or from a timer") from error


def _stats(files: Sequence[Path]) -> list[tuple[int, int, int] | None]:
    """Return what tells that a file has changed, or None for one that is not there: editors replace files by renaming."""
    out: list[tuple[int, int, int] | None] = []
    for path in files:
        try:
            status = path.stat()
            out.append((status.st_ino, status.st_size, changed_ns(status)))
        except OSError:
            out.append(None)
    return out
