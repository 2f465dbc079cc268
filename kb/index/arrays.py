"""Named arrays in one immutable file, mapped into memory.

Layout: magic (8 bytes), header length (uint32), header checksum (uint32), header (JSON: format
version, file size, and for each array its dtype, count, offset and CRC-32), then the arrays, each
aligned to 64 bytes. All numbers are little-endian. A file is written aside, synced and renamed, and
never changed afterwards.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.errors import IndexDamaged

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAGIC = b"kbarrays"
FORMAT = 1
_PREFIX = struct.Struct("<8sII")
_ALIGN = 64
CHECKED_AT_OPEN = 4 << 20
"""Files up to this many bytes are compared with their checksums whenever they are opened; larger ones by `verify`."""


class ArrayFile:
    """The arrays of one file, by name, read-only; views into the mapping, nothing copied."""

    def __init__(self, buffer: Any, name: str) -> None:
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
        if table["format"] != FORMAT:
            raise _damaged(name, f"it has format {table['format']}, this version reads {FORMAT}")
        if table["size"] != size:
            raise _damaged(name, f"it should hold {table['size']} bytes and holds {size}")
        self._table: dict[str, list[Any]] = table["arrays"]
        self.size = size
        if size <= CHECKED_AT_OPEN:
            self.verify()

    @classmethod
    def open(cls, path: Path) -> ArrayFile:
        """Map a file. FileNotFoundError if it is not there; IndexDamaged if it is not what it should be."""
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                raise _damaged(path.name, "it is empty")
            return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), path.name)

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
    return b"".join(_pieces(arrays))


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> int:
    """Write a file so that it is there whole or not at all; return its size in bytes."""
    partial = path.with_suffix(".part")
    try:
        with partial.open("wb") as file:
            for piece in _pieces(arrays):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    return size


def _pieces(arrays: Mapping[str, NDArray[Any]]) -> list[Any]:
    blobs = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    checksums = {name: zlib.crc32(array.view(np.uint8).data if array.size else b"") for name, array in blobs.items()}

    def header(first: int) -> tuple[bytes, int]:
        table, offset = {}, first
        for name, array in blobs.items():
            offset = -(-offset // _ALIGN) * _ALIGN
            table[name] = [array.dtype.str, array.size, offset, checksums[name]]
            offset += array.nbytes
        return json.dumps({"format": FORMAT, "size": offset, "arrays": table}).encode(), offset

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
