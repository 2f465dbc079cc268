"""Strings to numbers in mapped arrays: sorted by hash, so a look-up is a binary search and one comparison."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kb.index.arrays import ArrayFile

if TYPE_CHECKING:
    from numpy.typing import NDArray


Arrays: TypeAlias = "dict[str, NDArray[np.generic]]"


def pack(name: str, strings: Sequence[str]) -> tuple[Arrays, NDArray[np.int64]]:
    """Return the arrays of a vocabulary and the order its strings were put in (new position -> old position)."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    hashes = np.fromiter(map(zlib.crc32, encoded), dtype=np.uint32, count=len(encoded))
    order = np.argsort(hashes, kind="stable")
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))[order]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    blob = np.frombuffer(b"".join([encoded[i] for i in order.tolist()]), dtype=np.uint8)
    return {f"{name}_hash": hashes[order], f"{name}_offset": offsets, f"{name}_blob": blob}, order


class Vocabulary:
    """The strings of one file; numbers are positions in hash order."""

    def __init__(self, arrays: ArrayFile, name: str) -> None:
        self._hashes = arrays[f"{name}_hash"]
        self._offsets = arrays[f"{name}_offset"]
        self._blob = arrays[f"{name}_blob"]

    def __len__(self) -> int:
        return len(self._hashes)

    def __getitem__(self, number: int) -> str:
        return self._blob[self._offsets[number] : self._offsets[number + 1]].tobytes().decode("utf-8", "surrogatepass")

    def find(self, string: str) -> int | None:
        """Return a string's number, or None where it is not held."""
        encoded = string.encode("utf-8", "surrogatepass")
        wanted = np.uint32(zlib.crc32(encoded))
        number = int(self._hashes.searchsorted(wanted))
        while number < len(self._hashes) and self._hashes[number] == wanted:
            if self._blob[self._offsets[number] : self._offsets[number + 1]].tobytes() == encoded:
                return number
            number += 1
        return None

    def strings(self) -> list[str]:
        """Return every string, in the order of their numbers."""
        blob = self._blob.tobytes()
        bounds = self._offsets.tolist()
        return [blob[start:end].decode("utf-8", "surrogatepass") for start, end in zip(bounds, bounds[1:], strict=False)]
