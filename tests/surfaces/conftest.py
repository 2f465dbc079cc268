from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .served import Served, serving, write


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base of three collections, one of them writable, and its cache."""
    folder = tmp_path_factory.mktemp("served")
    write(folder)
    return folder


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Served]:
    with serving(place) as running:
        yield running
