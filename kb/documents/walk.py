"""The files of a collection as they stand on disk, without opening any.

This runs before every search, so it costs one directory listing a folder and one stat a file, and imports nothing
that reading needs.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import BaseUnusable
from kb.records import record
from kb.stamps import changed_ns

if TYPE_CHECKING:
    from kb.documents.ignore import Rules

_READ = (".md", ".markdown", ".html", ".htm", ".txt", ".text")
IGNORE_FILES = (".gitignore", ".kbignore")
_FOLDERS = frozenset({"node_modules", "__pycache__"})
_EDITOR = ("~", ".swp", ".swo", ".tmp")


@record
class FileStat:
    """One file: `source` relative to the root (posix, NFC), size in bytes, time of change in ns, `path` on disk."""

    source: str
    size: int
    changed_ns: int
    path: str


@record
class Walk:
    """`files` ordered by source; `skipped` counts files of kinds that are not read, by suffix (`"pdf": 3`).

    `folders`: paths of all that was listed. `plain`: no symbolic link was met, and no file with a second name. `unread`: folders
    that could not be listed or entered, as they are written in `warnings`.
    """

    files: tuple[FileStat, ...]
    skipped: Mapping[str, int]
    warnings: tuple[str, ...]
    folders: tuple[str, ...] = ()
    plain: bool = True
    unread: tuple[str, ...] = ()


def walk(root: Path, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Walk:
    """The files below `root`, or `root` itself where it is a file.

    Left out: hidden and editor files, `node_modules`, `__pycache__`, what `.gitignore` and `.kbignore` name, and links
    that leave the root or lead to what is listed anyway. `include` and `exclude` are patterns in git's syntax over the
    source. Raises BaseUnusable when the root is not there or can't be listed.
    """
    base = os.path.abspath(root)
    try:
        status = os.stat(base)
        if _special(status.st_mode):
            raise BaseUnusable(f"{root} is {_special(status.st_mode)}, no folder and no file; name one with --base")
        if not stat.S_ISDIR(status.st_mode):
            source = unicodedata.normalize("NFC", os.path.basename(base))
            return Walk((FileStat(source, status.st_size, changed_ns(status), base),), {}, ())
        walker = _Walker(base, _wanted(include, exclude))
        with os.scandir(base):
            walker.folder("", None, base)
    except OSError as error:
        raise BaseUnusable(f"can't read {root}: {error.strerror or error}; name a folder or file with --base") from None
    walker.links()
    return walker.result()


def takes(root: Path, source: str, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> bool:
    """Whether a file with this source, should there be one, is among those that `walk` lists."""
    rules: Rules | None = None
    prefix, path = "", os.path.abspath(root)
    parts = source.split("/")
    for part in parts:
        ignore_files = [os.path.join(path, name) for name in IGNORE_FILES if os.path.isfile(os.path.join(path, name))]
        if ignore_files:
            from kb.documents.ignore import rules_of

            rules, _ = rules_of(prefix, ignore_files, rules)
        folder = prefix + part != source
        if _hidden(part) or part in _FOLDERS or (rules and rules.ignores(prefix + part, folder)):
            return False
        prefix, path = f"{prefix}{part}/", os.path.join(path, part)
    wanted = _wanted(include, exclude)
    return source.lower().endswith(_READ) and (wanted is None or wanted(source))


def _hidden(name: str) -> bool:
    return name[0] == "." or name.endswith(_EDITOR) or (name[0] == "#" and name[-1] == "#")


def _wanted(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool] | None:
    if not include and not exclude:
        return None
    from kb.documents.ignore import patterns

    included, bad_include = patterns([unicodedata.normalize("NFC", pattern) for pattern in include])
    excluded, bad_exclude = patterns([unicodedata.normalize("NFC", pattern) for pattern in exclude])
    for pattern in bad_include + bad_exclude:
        raise BaseUnusable(f"pattern {pattern!r} in include or exclude is not valid")

    def wanted(source: str) -> bool:
        return (not include or included.match_file(source)) and not (exclude and excluded.match_file(source))

    return wanted


class _Walker:
    def __init__(self, base: str, wanted: Callable[[str], bool] | None) -> None:
        self._base = base
        self._wanted = wanted
        self._files: dict[str, FileStat] = {}
        self._skipped: Counter[str] = Counter()
        self._warnings: list[str] = []
        self._unread: list[str] = []
        self._links: list[tuple[str, str, Rules | None]] = []
        self._folders: set[str] = set()
        self._plain = True
        # Real paths, known once links are followed: a file has one place then, whatever leads to it.
        self._listed: set[str] | None = None

    def result(self) -> Walk:
        files = tuple([self._files[source] for source in sorted(self._files)])
        skipped = dict(sorted(self._skipped.items()))
        return Walk(files, skipped, tuple(self._warnings), tuple(self._folders), self._plain, tuple(self._unread))

    def folder(self, prefix: str, rules: Rules | None, path: str) -> None:
        """List `path` and everything below it; `prefix` is its path relative to the root with a final `/`, or empty."""
        waiting = [(prefix, rules, path)]
        while waiting:
            prefix, rules, path = waiting.pop()
            self._folders.add(path)
            try:
                with os.scandir(path) as listing:
                    entries = list(listing)
            except OSError as error:
                self._unread.append(_shown(prefix or "."))
                self._warnings.append(f"{self._unread[-1]}: folder can't be read ({error.strerror}), left out")
                continue
            ignore_files = sorted(entry.path for entry in entries if entry.name in IGNORE_FILES)
            if ignore_files:
                from kb.documents.ignore import rules_of

                # .gitignore sorts before .kbignore, so the latter has the last word.
                rules, problems = rules_of(prefix, ignore_files, rules)
                self._warnings += [f"{_shown(prefix)}{IGNORE_FILES[0]}: {problem}" for problem in problems]
            for entry in entries:
                if not _hidden(entry.name):
                    self._entry(entry, prefix, rules, waiting)

    def _entry(
        self, entry: os.DirEntry[str], prefix: str, rules: Rules | None, waiting: list[tuple[str, Rules | None, str]]
    ) -> None:
        name = entry.name
        relative = prefix + name
        try:
            if entry.is_file(follow_symlinks=False):
                if self._of_interest(relative, rules):
                    self._add(relative, entry.path, entry.stat(follow_symlinks=False))
            elif entry.is_symlink():
                self._plain = False
                self._links.append((relative, entry.path, rules))
            elif entry.is_dir(follow_symlinks=False):
                if name not in _FOLDERS and not (rules and rules.ignores(relative, True)):
                    waiting.append((relative + "/", rules, entry.path))
            elif not (rules and rules.ignores(relative, False)):
                self._leave_out(relative, entry.stat(follow_symlinks=False).st_mode)
        except OSError as error:
            # What may be listed but not entered hides its files one by one.
            folder = _shown(prefix or ".")
            self._unread += [folder] if folder not in self._unread else []
            self._warnings.append(f"{_shown(relative)}: can't be read ({error.strerror}), left out")

    def _leave_out(self, relative: str, mode: int) -> None:
        """Say that what is neither file nor folder is not read: opening it could wait for ever."""
        if _special(mode):
            self._warnings.append(f"{_shown(relative)}: is {_special(mode)}, left out")

    def _of_interest(self, relative: str, rules: Rules | None) -> bool:
        if rules and rules.ignores(relative, False):
            return False
        if relative.lower().endswith(_READ):
            return True
        suffix = os.path.splitext(relative)[1]
        self._skipped[suffix[1:].lower() if suffix else "no suffix"] += 1
        return False

    def _add(self, relative: str, path: str, status: os.stat_result) -> None:
        source = relative
        if not relative.isascii():
            try:
                relative.encode("utf-8")
            except UnicodeEncodeError:
                self._warnings.append(f"{_shown(relative)}: file name is not UTF-8, left out")
                return
            source = unicodedata.normalize("NFC", relative)
        if self._wanted is not None and not self._wanted(source):
            return
        if self._listed is not None:
            real = os.path.realpath(path)
            if real in self._listed:
                return
            self._listed.add(real)
        other = self._files.get(source)
        if other is not None:
            self._warnings.append(f"{source}: two files whose names differ only in Unicode form, the first is read")
            if other.path < path:
                return
        self._plain = self._plain and status.st_nlink <= 1
        self._files[source] = FileStat(source, status.st_size, changed_ns(status), path)

    def links(self) -> None:
        """Take in what symbolic links inside the root add to the rest, once the rest is known."""
        if self._links:
            self._listed = {os.path.realpath(file.path) for file in self._files.values()}
            self._folders = {os.path.realpath(path) for path in self._folders}
        while self._links:
            links, self._links = sorted(self._links, key=lambda link: link[0]), []
            for relative, path, rules in links:
                self._link(relative, path, rules)

    def _link(self, relative: str, path: str, rules: Rules | None) -> None:
        try:
            real = os.path.realpath(path, strict=True)
            status = os.stat(real)
        except OSError as error:
            looping = "a loop" if error.errno == errno.ELOOP else "broken"
            self._warnings.append(f"{_shown(relative)}: symbolic link is {looping}, left out")
            return
        base = os.path.realpath(self._base)
        if os.path.commonpath([base, real]) != base:
            if stat.S_ISDIR(status.st_mode) or relative.lower().endswith(_READ):
                self._warnings.append(f"{_shown(relative)}: symbolic link leaves the folder, left out")
            return
        if stat.S_ISDIR(status.st_mode):
            if (os.path.realpath(os.path.dirname(path)) + os.sep).startswith(real.rstrip(os.sep) + os.sep):
                self._warnings.append(f"{_shown(relative)}: symbolic link loops back, not followed")
            elif real not in self._folders and not (rules and rules.ignores(relative, True)):
                self._folders.add(real)
                self.folder(relative + "/", rules, path)
        elif stat.S_ISREG(status.st_mode) and relative.lower().endswith(_READ) and self._of_interest(relative, rules):
            self._add(relative, path, status)
        elif not (rules and rules.ignores(relative, False)):
            self._leave_out(relative, status.st_mode)


def _special(mode: int) -> str:
    """Return what a thing is that is neither file nor folder; empty for others."""
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device" if stat.S_ISBLK(mode) or stat.S_ISCHR(mode) else ""


def _shown(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode("utf-8")
