"""What the system says of changes below folders, so that not every answer has to look at every file.

Linux reports each change of a folder's entries and of the files in it (inotify) before the call that made it returns: where
nothing is reported, nothing has changed. That holds for file systems of this machine and for files with one name; elsewhere,
and on other systems, there are no notices and every look is a whole one. Even so notices are believed for two seconds only:
what is written through a mapping of a file into memory is reported by no one.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kb.documents.walk import Walk

BELIEVED_SECONDS = 2.0
"""How long a look at the files stands for those after it, where nothing was reported meanwhile."""
_LOCAL = {0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630, 0xF2F52010, 0x2FC12FC1}
"""File systems whose changes all go through this machine: ext, XFS, Btrfs, tmpfs, overlays of them, F2FS, ZFS."""
_CHANGES = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""Written, attributes, closed after writing, moved from and to, created, deleted, the folder itself deleted or moved."""
_ONLY_FOLDERS = 0x01000000
_READ = 1 << 16


class Notices:
    """Whether anything below some roots may have changed since a look that found it as the index knows it.

    Safe to share between threads. A look is announced by `begin`, and what it found, where that is nothing, told to `unchanged`.
    """

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = tuple(os.path.abspath(root) for root in roots)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._descriptor = -1
        self._library: Any = None
        self._reports = 0  # how often something was reported
        self._watched: set[str] = set()
        self._watched_at = -1  # the count of reports when the folders were last put under watch
        self._refused = False
        self._signs: tuple[tuple[int, ...], ...] = ()
        self._still = -1  # the state of the index that the files are known to agree with
        self._until = 0.0

    def silent(self, state: int) -> bool:
        """Tell whether the files are known to be as they were when they agreed with a state of the index."""
        if self._still != state or time.monotonic() > self._until:
            return False
        with self._lock:
            self._take_in()
            return self._still == state and self._signs == self._seen()

    def begin(self) -> int:
        """Announce a look at the files; return what to tell `unchanged`."""
        with self._lock:
            self._take_in()
            return self._reports

    def unchanged(self, begun: int, state: int, walks: Iterable[Walk]) -> None:
        """Take in that a look which has begun so found the files to agree with a state of the index."""
        with self._lock:
            self._still = -1
            found = [*walks]
            folders = {folder for one in found for folder in one.folders}
            if self._refused or not all(one.plain for one in found):
                return
            # A folder may have been replaced by another of its name: after a report all are put under watch again.
            if not folders <= self._watched or self._watched_at != self._reports or self._signs != self._seen():
                self._watch(folders)  # and the next look is believed: this one began before
            elif begun == self._reports:
                self._still, self._until = state, time.monotonic() + BELIEVED_SECONDS

    def close(self) -> None:
        """Let go of what the system holds for this."""
        with self._lock:
            self._forget()

    def _watch(self, folders: set[str]) -> None:
        signs = self._seen()
        try:
            if self._descriptor < 0:
                from ctypes import CDLL

                self._library = CDLL(None, use_errno=True)
                self._descriptor = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
                self._process = os.getpid()
        except (OSError, AttributeError, ImportError, TypeError):
            pass  # a system without it
        if self._descriptor >= 0 and all(self._add(folder) for folder in folders):
            self._watched, self._watched_at, self._signs = folders, self._reports, signs
        else:
            self._forget()
            self._refused = True

    def _add(self, folder: str) -> bool:
        from ctypes import c_long, create_string_buffer

        path, held = os.fsencode(folder), create_string_buffer(256)
        if self._library.statfs(path, held) or c_long.from_buffer(held).value not in _LOCAL:
            return False
        return bool(self._library.inotify_add_watch(self._descriptor, path, _CHANGES | _ONLY_FOLDERS) >= 0)

    def _take_in(self) -> None:
        """Read what was reported."""
        if self._descriptor < 0:
            return
        if self._process != os.getpid():
            self._forget()  # the reports belong to the process that this one was forked from
            return
        with suppress(BlockingIOError):
            while os.read(self._descriptor, _READ):
                self._reports += 1
                self._still = -1

    def _seen(self) -> tuple[tuple[int, ...], ...]:
        """Return what shows that a root leads to something else; of a root that is a file, that it has changed too."""
        try:
            found = [os.stat(root) for root in self._roots]
        except OSError:
            return ((-1,),)
        return tuple(
            (s.st_dev, s.st_ino) if s.st_mode & 0o040000 else (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
            for s in found
        )

    def _forget(self) -> None:
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = -1
        self._watched, self._signs, self._still = set(), (), -1

    def __del__(self) -> None:
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
