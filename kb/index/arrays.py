"""Named arrays in one immutable file, mapped into memory.

Layout: magic (8 bytes), header length (uint32), header checksum (uint32), header (JSON: format
version, file size, and for each array its dtype, count, offset and CRC-32), then the arrays, each
aligned to 64 bytes. All numbers are little-endian. A file is written aside, synced and renamed, and
never changed afterwards.

Checksums of large files are not compared whenever one is opened, for a query must not pay for that. The header says which
time of change the file was given; one that has another has been written to or copied since, and is compared.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kb.errors import IndexDamaged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray


MAGIC = b"kbarrays"
FORMAT = 2
_PREFIX = struct.Struct("<8sII")
_ALIGN = 64
_HEADER_BYTES = 128
"""Room in the header for each array; what is left over is filled with spaces."""
_PIECE_BYTES = 1 << 18
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
        import numpy as np  # not needed for a look at whether a file is sound

        dtype, count, offset, _ = self._table[key]
        return np.frombuffer(self._buffer, dtype=dtype, count=count, offset=offset)

    def verify(self) -> None:
        """Compare every array with its checksum; raise IndexDamaged at the first that differs."""
        view = memoryview(self._buffer)
        for key, (dtype, count, offset, checksum) in self._table.items():
            if zlib.crc32(view[offset : offset + count * int(dtype[2:])]) != checksum:
                raise _damaged(self.name, f"the part {key} does not match its checksum")


class Writer:
    """A file of arrays in the making, array after array, or piece by piece where they are too large to be in memory."""

    def __init__(self, file: IO[bytes], arrays: int) -> None:
        """Begin a file that will hold at most so many arrays."""
        self._file = file
        self._end = self._first = _PREFIX.size + _HEADER_BYTES * (arrays + 1)
        self._parts: dict[str, Part] = {}

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Write a whole array."""
        self.part(name, array.dtype, array.size).add(array)

    def part(self, name: str, dtype: DTypeLike, count: int = 0) -> Part:
        """Begin an array with room for `count` numbers; it may become longer only while no other is begun after it."""
        import numpy as np

        start = -(-self._end // _ALIGN) * _ALIGN
        made = self._parts[name] = Part(self, start, np.dtype(dtype))
        self._end = start + count * made.dtype.itemsize
        return made

    def write(self, at: int, data: memoryview) -> None:
        """Write bytes at a place in the file."""
        self._file.seek(at)
        self._file.write(data)
        self._end = max(self._end, at + len(data))

    def finish(self, stamp: int) -> int:
        """Write the header; return the size of the file."""
        self._file.seek(0, os.SEEK_END)
        self._file.write(bytes(self._end - self._file.tell()))
        table = {name: [part.dtype.str, part.count, part.start, part.checksum] for name, part in self._parts.items()}
        header = json.dumps({"format": FORMAT, "stamp": stamp, "size": self._end, "arrays": table}).encode()
        room = self._first - _PREFIX.size
        assert len(header) <= room
        header = header.ljust(room)
        self._file.seek(0)
        self._file.write(_PREFIX.pack(MAGIC, len(header), zlib.crc32(header)) + header)
        return self._end


class Part:
    """One array of a file in the making."""

    def __init__(self, file: Writer, start: int, dtype: np.dtype[Any]) -> None:
        self._file = file
        self.start = start
        self.dtype = dtype
        self.count = 0
        self.checksum = zlib.crc32(b"")

    def add(self, array: NDArray[Any]) -> None:
        """Write the next numbers."""
        import numpy as np

        assert array.dtype == self.dtype
        if not array.size:
            return
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        at = self.start + self.count * self.dtype.itemsize
        # In pieces that the processor's cache still holds when they are copied.
        for first in range(0, len(data), _PIECE_BYTES):
            piece = data[first : first + _PIECE_BYTES]
            self.checksum = zlib.crc32(piece, self.checksum)
            self._file.write(at + first, piece)
        self.count += array.size


def dump(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of a file that holds the arrays."""
    file = io.BytesIO()
    writer = Writer(file, len(arrays))
    for name, array in arrays.items():
        writer.put(name, array)
    writer.finish(0)
    return file.getvalue()


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file so that it is there whole or not at all."""
    with writing(path, len(arrays)) as file:
        for name, array in arrays.items():
            file.put(name, array)


@contextmanager
def writing(path: Path, arrays: int) -> Iterator[Writer]:
    """Write a file of at most so many arrays in the block; it is there whole once the block has ended well, or not at all."""
    partial = path.with_suffix(".part")
    stamp = time.time_ns() // _STAMP_NS * _STAMP_NS
    try:
        with partial.open("wb") as file:
            writer = Writer(file, arrays)
            yield writer
            writer.finish(stamp)
            file.flush()
            os.utime(partial, ns=(stamp, stamp))
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


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


def _damaged(name: str, why: str) -> IndexDamaged:
    return IndexDamaged(f"index file {name} is damaged: {why}; run: kb index --rebuild")
