"""What of a section is given to an embedding model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray


def clean(text: str) -> str:
    """Return a text that every model can read: NUL cuts a C string short, a lone surrogate is no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def passage_text(title: str, heading: str, text: str, source: str) -> str:
    """Return what is embedded for a passage: the section's title, the headings inside the passage, its text.

    A title that is only the file's name says nothing and is left out.
    """
    named = "" if title == PurePosixPath(source).stem else title
    parts = [named, heading if heading != named else "", text]
    return clean("\n".join(part for part in parts if part))


def keys_of(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a 64-bit BLAKE2b key for each text; two of a million texts share one with a chance of 3 in 100 million."""
    digests = [hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
