"""Reading TOML, and remembering what was read: a file that has not changed is not parsed again.

Parsing is a noticeable part of the time a search takes to start. The remembered copy is a small file in the cache: a line that
says which state of which file it was made of, with a checksum, then what was made.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from kb.errors import ConfigError
from kb.stamps import changed_ns

_DOUBT_NS = 2_000_000_000


def read(path: Path) -> dict[str, Any]:
    """Return what a TOML file says. ConfigError where it can't be read or is not TOML."""
    import tomllib  # on first use: most bases have no kb.toml

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors begin a file with a byte-order mark
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deeply") from error


def remembered(path: Path, folder: Path) -> dict[str, Any]:
    """Return what a TOML file says, from `folder` where the file is as it was when that was written there."""
    try:
        found: dict[str, Any] = json.loads(kept(path, folder, "toml", lambda path: json.dumps(read(path))))
    except TypeError:  # JSON has no dates
        return read(path)
    return found


def kept(path: Path, folder: Path, kind: str, make: Callable[[Path], str]) -> str:
    """Return the text that `make` works out of a file, from `folder` where the file is as it was when that was written there.

    `kind` tells what was made by one function, of one version, from the rest; it begins with the name of the function and `-`.
    """
    try:
        status = path.stat()
    except OSError:
        return make(path)
    name = str(path)
    stamp: list[str | int] = [name, status.st_size, changed_ns(status), status.st_ino]
    copy = folder / f"{kind}-{crc32(os.fsencode(name)):08x}.kept"
    try:
        head, _, held = copy.read_bytes().partition(b"\n")
        if json.loads(head) == [*stamp, crc32(held)]:
            return held.decode("utf-8")
    except (OSError, ValueError):
        pass
    made = make(path)
    if time.time_ns() - changed_ns(status) > _DOUBT_NS and folder.is_dir():
        _keep(copy, stamp, made)
        _sweep(folder, kind)
    return made


def _keep(copy: Path, stamp: list[str | int], made: str) -> None:
    """Write the copy whole or not at all; what can't be written is worked out again the next time."""
    partial = copy.with_name(f"{copy.name}.{os.getpid()}")
    try:
        held = made.encode("utf-8")
        partial.write_bytes(json.dumps([*stamp, crc32(held)]).encode() + b"\n" + held)
        partial.replace(copy)
    except (OSError, ValueError):
        partial.unlink(missing_ok=True)


def _sweep(folder: Path, kind: str) -> None:
    """Remove copies that other versions made: nothing reads them any more."""
    family = re.escape(kind.partition("-")[0])
    former = re.compile(rf"({family}(?:-\w+)*)-[0-9a-f]{{8}}\.(json|kept)")
    try:
        held = list(folder.iterdir())
    except OSError:  # a folder may let files be written and not be listed
        return
    for path in held:
        found = former.fullmatch(path.name)
        if found is not None and (found[1] != kind or found[2] != "kept"):
            with suppress(OSError):  # a folder, or of somebody else
                path.unlink()
