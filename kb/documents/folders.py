"""Folders below a root that are written to: no link is followed, no file replaced, nothing visible before it is whole.

Where the system can open files relative to a folder that is held open, that is how everything here is done, so that
no path can lead elsewhere between a check and its use.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from kb.errors import BaseUnusable, IndexBusy
from kb.records import record, replace

_RELATIVE = {os.open, os.mkdir, os.stat, os.unlink, os.link, os.rmdir} <= os.supports_dir_fd
_OPEN = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_UNNAMED = getattr(os, "O_TMPFILE", None)
_WRITE = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_TEMPORARY = (".kb-new-", ".tmp")
LOCK_SECONDS = 30.0
"""How long a process waits for others that create documents in the same collection."""


@record
class Folder:
    """A folder that is held open (`descriptor`), or only named where the system has no such thing.

    `exclusive`: nobody else creates documents in it meanwhile.
    """

    path: str
    descriptor: int | None
    exclusive: bool = False

    def at(self, name: str, key: str = "dir_fd") -> tuple[str, dict[str, Any]]:
        """Return how a name in this folder is passed to a function of `os`."""
        if self.descriptor is None:
            return os.path.join(self.path, name), {}
        return name, {key: self.descriptor}

    def names(self) -> list[str]:
        """Return the names in the folder."""
        return os.listdir(self.path if self.descriptor is None else self.descriptor)


@contextmanager
def locked(root: str) -> Iterator[Folder]:
    """Hold a folder open and be the only one that creates documents below it. IndexBusy where others take too long.

    The lock is on the folder itself: it leaves no file behind and ends with the process that holds it. Where the
    system or the file system has no such lock, files still never replace each other.
    """
    folder = _opened(root)
    try:
        yield replace(folder, exclusive=folder.descriptor is not None and _lock(folder.descriptor))
    finally:
        _close(folder)


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return False
    end = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                raise IndexBusy("another process is creating documents in this collection; try again in a moment") from None
            time.sleep(0.002)
        except OSError:
            return False


def names_below(root: Folder, folders: tuple[str, ...]) -> list[str]:
    """Return the names in a folder below the root; empty where it is not there."""
    try:
        with _entered(root, folders, create=False) as folder:
            return folder.names()
    except FileNotFoundError:
        return []


def publish(root: Folder, folders: tuple[str, ...], name: str, data: bytes) -> None:
    """Write a file below the root, in folders that are made where they are missing.

    The file is whole and on the disk before it gets its name, and the name is on the disk before this returns.
    FileExistsError where the name is taken; OSError where it can't be done, and then nothing new is left.
    """
    with _entered(root, folders, create=True) as folder:
        if folder.exclusive:
            _sweep(folder)
        if not (folder.descriptor is not None and _unnamed(folder, name, data)):
            _named(folder, name, data)
        if folder.descriptor is not None:
            os.fsync(folder.descriptor)


@contextmanager
def _entered(root: Folder, folders: tuple[str, ...], *, create: bool) -> Iterator[Folder]:
    chain = [root]
    made: list[tuple[Folder, str]] = []
    try:
        for name in folders:
            above = chain[-1]
            if create:
                with suppress(FileExistsError):
                    path, where = above.at(name)
                    os.mkdir(path, **where)
                    made.append((above, name))
                    if above.descriptor is not None:
                        os.fsync(above.descriptor)
            chain.append(_inside(above, name))
        yield chain[-1]
    except BaseException:
        for above, name in reversed(made):
            with suppress(OSError):
                path, where = above.at(name)
                os.rmdir(path, **where)
        raise
    finally:
        for folder in chain[1:]:
            _close(folder)


def _inside(above: Folder, name: str) -> Folder:
    """Open a folder by its name in another; a link or a file in its place is refused."""
    path = os.path.join(above.path, name)
    given, where = above.at(name)
    if not stat.S_ISDIR(os.stat(given, follow_symlinks=False, **where).st_mode):
        raise BaseUnusable(f"{path} is a symbolic link or no folder; documents are created in real folders only")
    descriptor = None if above.descriptor is None else os.open(name, _OPEN, dir_fd=above.descriptor)
    return Folder(path, descriptor, above.exclusive)


def _opened(path: str) -> Folder:
    real = os.path.realpath(path)
    return Folder(real, os.open(real, _OPEN) if _RELATIVE else None)


def _close(folder: Folder) -> None:
    if folder.descriptor is not None:
        os.close(folder.descriptor)


def _unnamed(folder: Folder, name: str, data: bytes) -> bool:
    """Write a file that has no name until it is whole; false where the system can't do that."""
    if _UNNAMED is None:
        return False
    try:
        descriptor = os.open(".", _WRITE | _UNNAMED, 0o666, dir_fd=folder.descriptor)
    except OSError:
        return False
    try:
        _write(descriptor, data)
        os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=folder.descriptor, follow_symlinks=True)
        return True
    except FileExistsError:
        raise
    except FileNotFoundError:
        return False  # no /proc here
    finally:
        os.close(descriptor)


def _named(folder: Folder, name: str, data: bytes) -> None:
    temporary = f"{_TEMPORARY[0]}{os.urandom(8).hex()}{_TEMPORARY[1]}"
    path, where = folder.at(temporary)
    descriptor = os.open(path, _WRITE | os.O_CREAT | os.O_EXCL, 0o666, **where)
    try:
        try:
            _write(descriptor, data)
        finally:
            os.close(descriptor)
        final, _ = folder.at(name)
        os.link(path, final, **folder.at(temporary, "src_dir_fd")[1], **folder.at(name, "dst_dir_fd")[1])
    finally:
        os.unlink(path, **where)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def _sweep(folder: Folder) -> None:
    """Remove what a process left that died while it wrote; those alive wait for the lock meanwhile."""
    for name in folder.names():
        if name.startswith(_TEMPORARY[0]) and name.endswith(_TEMPORARY[1]):
            with suppress(OSError):
                path, where = folder.at(name)
                os.unlink(path, **where)
