from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from bases import Base
from hypothesis import HealthCheck, settings

# The machines that run this differ in speed: nothing here is timed.
# On a build server the same examples come every time, so that a change is judged by what it changes.
settings.register_profile(
    "kb", deadline=None, derandomize=bool(os.environ.get("CI")), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kb")

MakeBase = Callable[..., Base]
MEMORY = Path("/dev/shm")
ROOM = 4 << 30


def pytest_configure() -> None:
    """Let tests write into memory where the system has a folder for that: each write of an index waits for the disk.

    What passed is removed at once, see `tmp_path_retention_policy`; a folder chosen by `--basetemp` or the variable stays.
    """
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-slow"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="slow; run with --run-slow"))


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment of whoever runs the tests must not choose the base; no index outside the test's folder."""
    monkeypatch.delenv("KB_BASE", raising=False)
    monkeypatch.setenv("KB_CACHE", str(tmp_path / "cache-of-the-environment"))


@pytest.fixture
def make_base(tmp_path: Path) -> Iterator[MakeBase]:
    """Write files into a folder of their own and return the base over them; closed at the end."""
    made: list[Base] = []

    def make(files: Mapping[str, str | bytes] | None = None, toml: str | None = None) -> Base:
        base = Base(tmp_path / f"base-{len(made)}", files, toml)
        made.append(base)
        return base

    yield make
    for base in made:
        base.close()
