"""Reading TOML, and remembering what was read: a file that has not changed is not parsed again.

Parsing is a noticeable part of the time a search takes to start; the remembered copy is a small JSON file in the cache.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

from kb.errors import ConfigError

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


def remembered(path: Path, folder: Path, make: Callable[[Path], dict[str, Any]] = read, kind: str = "toml") -> dict[str, Any]:
    """Return what a TOML file says, from `folder` where the file is as it was when that was written there.

    `make` reads the file, and may work something out of it; `kind` tells what was made by one function from the rest.
    """
    try:
        status = path.stat()
    except OSError:
        return make(path)
    name = str(path)
    stamp = [name, status.st_size, status.st_mtime_ns, status.st_ino]
    kept = folder / f"{kind}-{crc32(os.fsencode(name)):08x}.json"
    try:
        found = json.loads(kept.read_bytes())
        if found["of"] == stamp and isinstance(found["data"], dict):
            return dict(found["data"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    data = make(path)
    if time.time_ns() - status.st_mtime_ns > _DOUBT_NS and folder.is_dir():
        _keep(kept, {"of": stamp, "data": data})
    return data


def _keep(kept: Path, found: dict[str, Any]) -> None:
    """Write the copy whole or not at all; what can't be written, or holds dates, is parsed again the next time."""
    partial = kept.with_name(f"{kept.name}.{os.getpid()}")
    try:
        partial.write_text(json.dumps(found), encoding="utf-8")
        partial.replace(kept)
    except (OSError, TypeError, ValueError):
        partial.unlink(missing_ok=True)
