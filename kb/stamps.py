"""When a file was last changed, as a stamp that a look at it can be compared with."""

from __future__ import annotations

import os

_KEPT_BY_THE_SYSTEM = os.name == "posix"  # elsewhere the third time of a file is that of its making


def changed_ns(status: os.stat_result) -> int:
    """Return the time of a file's last change in ns, as the system keeps it.

    The time of modification can be set: two files of one size unpacked from archives with fixed times look alike by it. No
    program can set the time at which a file's record was changed.
    """
    return status.st_ctime_ns if _KEPT_BY_THE_SYSTEM else status.st_mtime_ns
