"""Named arrays in one immutable file, mapped into memory.

Layout: magic (8 bytes), header length (uint32), header checksum (uint32), header (JSON: format
version, file size, and for each array its dtype, count, offset and CRC-32), then the arrays, each
aligned to 64 bytes. All numbers are little-endian. A file is written aside, synced and renamed, and
never changed afterwards.

Checksums of large files are not compared whenever one is opened, for a query must not pay for that. The header says which
time of change the file was given; one that has another has been written to or copied since, and is compared.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.errors import IndexDamaged

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAGIC = b"kbarrays"
FORMAT = 2
_PREFIX = struct.Struct("<8sII")
_ALIGN = 64
CHECKED_AT_OPEN = 1 << 20
"""Files up to this many bytes are compared with their checksums whenever they are opened, which takes a millisecond at most."""
_STAMP_NS = 2_000_000_000
"""Times of change are given in whole steps of this: no file system keeps them more coarsely."""


class ArrayFile:
    """The arrays of one file, by name, read-only; views into the mapping, nothing copied."""

    def __init__(self, buffer: Any, name: str, changed: int | None = None) -> None:
        """Read the header of a mapped file; `changed` is its time of change in ns, None for one in memory."""
        self.name = name
        self._buffer = buffer
        size = len(buffer)
        if size < _PREFIX.size:
            raise _damaged(name, "it is too short")
        magic, length, checksum = _PREFIX.unpack_from(buffer, 0)
        if magic != MAGIC:
            raise _damaged(name, "it does not begin as an index file does")
        header = bytes(buffer[_PREFIX.size : _PREFIX.size + length])
        if len(header) != length or zlib.crc32(header) != checksum:
            raise _damaged(name, "its header does not match its checksum")
        try:
            table = json.loads(header)
        except ValueError as error:
            raise _damaged(name, "its header can't be read") from error
        if table.get("format") != FORMAT:
            raise _damaged(name, f"it has format {table.get('format')}, this version reads {FORMAT}")
        if table["size"] != size:
            raise _damaged(name, f"it should hold {table['size']} bytes and holds {size}")
        self._table: dict[str, list[Any]] = table["arrays"]
        self.size = size
        if size <= CHECKED_AT_OPEN or changed not in (None, table["stamp"]):
            self.verify()

    @classmethod
    def open(cls, path: Path) -> ArrayFile:
        """Map a file. FileNotFoundError if it is not there; IndexDamaged if it is not what it should be."""
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size == 0:
                raise _damaged(path.name, "it is empty")
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), path.name, status.st_mtime_ns)

    def __getitem__(self, key: str) -> NDArray[Any]:
        dtype, count, offset, _ = self._table[key]
        return np.frombuffer(self._buffer, dtype=dtype, count=count, offset=offset)

    def verify(self) -> None:
        """Compare every array with its checksum; raise IndexDamaged at the first that differs."""
        view = memoryview(self._buffer)
        for key, (dtype, count, offset, checksum) in self._table.items():
            if zlib.crc32(view[offset : offset + count * np.dtype(dtype).itemsize]) != checksum:
                raise _damaged(self.name, f"the part {key} does not match its checksum")


def dump(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of a file that holds the arrays."""
    return b"".join(_pieces(arrays, 0))


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> int:
    """Write a file so that it is there whole or not at all; return its size in bytes."""
    partial = path.with_suffix(".part")
    stamp = time.time_ns() // _STAMP_NS * _STAMP_NS
    try:
        with partial.open("wb") as file:
            for piece in _pieces(arrays, stamp):
                file.write(piece)
            file.flush()
            size = file.tell()
            os.utime(partial, ns=(stamp, stamp))
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return size


def _sync_folder(folder: Path) -> None:
    """Make sure that a renamed file is found after a power failure too, where the system can do that for folders."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(number)
    except OSError:
        pass
    finally:
        os.close(number)


def _pieces(arrays: Mapping[str, NDArray[Any]], stamp: int) -> list[Any]:
    blobs = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    checksums = {name: zlib.crc32(array.view(np.uint8).data if array.size else b"") for name, array in blobs.items()}

    def header(first: int) -> tuple[bytes, int]:
        table, offset = {}, first
        for name, array in blobs.items():
            offset = -(-offset // _ALIGN) * _ALIGN
            table[name] = [array.dtype.str, array.size, offset, checksums[name]]
            offset += array.nbytes
        return json.dumps({"format": FORMAT, "stamp": stamp, "size": offset, "arrays": table}).encode(), offset

    # The header names offsets that depend on its own length: give it room, then pad it with spaces.
    room = len(header(1 << 40)[0]) + 64
    encoded, size = header(_PREFIX.size + room)
    encoded = encoded.ljust(room)
    out: list[Any] = [_PREFIX.pack(MAGIC, len(encoded), zlib.crc32(encoded)), encoded]
    position = _PREFIX.size + room
    for array in blobs.values():
        start = -(-position // _ALIGN) * _ALIGN
        out += [b"\0" * (start - position), array.data if array.size else b""]
        position = start + array.nbytes
    assert position == size
    return out


def _damaged(name: str, why: str) -> IndexDamaged:
    return IndexDamaged(f"index file {name} is damaged: {why}; run: kb index --rebuild")
