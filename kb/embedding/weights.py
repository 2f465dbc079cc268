"""Where the weights of a model lie, and whether a folder holds all of them. Looks at files only; imports nothing heavy."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kb.errors import SemanticUnavailable

BGE_M3 = "BAAI/bge-m3"
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json", "pytorch_model.bin.index.json")
_TOKENIZERS = ("tokenizer.json", "sentencepiece.bpe.model")
_HEADS = ("colbert_linear.pt", "sparse_linear.pt")
_SAMPLE = 1 << 16


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with the weights of a model of BGE-M3's kind: its numbers as its config states them."""

    path: Path
    dimension: int
    max_tokens: int
    digest: str  # of its files' names, sizes and samples


def models_folder() -> Path:
    """Return where `kb model fetch` puts weights: KB_MODELS, else the user's data folder."""
    named = os.environ.get("KB_MODELS")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_data_path

    return user_data_path("kb-search", appauthor=False) / "models"


def bge_m3_folders() -> list[Path]:
    """Return the folders that may hold BGE-M3, those that exist: kb's own, then what Hugging Face tools have fetched."""
    hub = os.environ.get("HF_HUB_CACHE") or os.path.join(  # noqa: PTH118
        os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface", "hub"
    )
    fetched = Path(hub) / "models--BAAI--bge-m3" / "snapshots"
    candidates = [models_folder() / "bge-m3"]
    if fetched.is_dir():
        candidates += sorted(fetched.iterdir(), reverse=True)
    return [path for path in candidates if path.is_dir()]


def missing(path: Path) -> list[str]:
    """Return the files a folder lacks to be a model of BGE-M3's kind; both heads count, for without them they are random."""
    out = [] if (path / "config.json").is_file() else ["config.json"]
    for names in (_WEIGHTS, _TOKENIZERS):
        if not any((path / name).is_file() for name in names):
            out.append(" or ".join(names[:2]))
    out += [name for name in _HEADS if not (path / name).is_file()]
    for index in _WEIGHTS[2:]:
        if (path / index).is_file() and not any((path / name).is_file() for name in _WEIGHTS[:2]):
            out += _missing_parts(path / index)
    return out


def check(path: Path) -> Folder:
    """Return what a folder holds; SemanticUnavailable where it can't be loaded as a model of BGE-M3's kind."""
    if not path.is_dir():
        raise SemanticUnavailable(f"the model folder {path} is not there", "run: kb model fetch, or name another folder")
    lacking = missing(path)
    if lacking:
        raise SemanticUnavailable(f"the model folder {path} lacks {', '.join(lacking)}", "run: kb model fetch")
    return Folder(path, _config(path, "hidden_size", None), positions(path), _digest(path))


def positions(path: Path) -> int:
    """Return how many tokens the model in a folder reads at once, as its config states it."""
    # XLM-R counts positions from the padding index on: two of them are not for tokens.
    return max(_config(path, "max_position_embeddings", 514) - 2, 1)


def _config(path: Path, key: str, default: int | None) -> int:
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        return int(config[key] if default is None else config.get(key, default))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SemanticUnavailable(
            f"the model folder {path} has a config.json that can't be read ({type(error).__name__}: {error})", "fetch it again"
        ) from error


def find_bge_m3() -> Folder:
    """Return where BGE-M3 lies; SemanticUnavailable where no folder holds all of it."""
    lacking = ""
    for path in bge_m3_folders():
        names = missing(path)
        if not names:
            return check(path)
        lacking = lacking or f" ({path} lacks {', '.join(names)})"
    raise SemanticUnavailable(f"the weights of bge-m3 are not here{lacking}", "run: kb model fetch")


def fetch(download: Callable[[str, Path], None] | None = None) -> Folder:
    """Download BGE-M3 (2.3 GB) into `models_folder()`; the only place where kb asks a model hub for anything."""
    target = models_folder() / "bge-m3"
    (download or _from_hub)(BGE_M3, target)
    return check(target)


def _from_hub(repository: str, target: Path) -> None:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise SemanticUnavailable("fetching weights needs the extra bge-m3", "run: pip install 'kb-search[bge-m3]'") from error
    target.mkdir(parents=True, exist_ok=True)
    patterns = ["config.json", "tokenizer*", "sentencepiece*", "special_tokens_map.json", "*.safetensors*", "pytorch_model*.bin*"]
    try:
        snapshot_download(repository, local_dir=str(target), allow_patterns=[*patterns, *_HEADS])
    except Exception as error:
        raise SemanticUnavailable(
            f"{repository} could not be fetched ({type(error).__name__}: {error})",
            f"check the network, or copy its files into {target}",
        ) from error


def _missing_parts(index: Path) -> list[str]:
    try:
        parts = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, KeyError, AttributeError):
        return [f"a readable {index.name}"]
    return sorted(name for name in parts if not (index.parent / name).is_file())


def _digest(path: Path) -> str:
    """Return a digest of what the folder holds: names, sizes, and the beginning and end of every file."""
    digest = hashlib.blake2b(digest_size=6)
    for file in sorted(path.iterdir()):
        if file.name in ("config.json", *_WEIGHTS, *_TOKENIZERS, *_HEADS) or file.suffix == ".safetensors":
            size = file.stat().st_size
            digest.update(f"{file.name}\0{size}\0".encode())
            with file.open("rb") as opened:
                digest.update(opened.read(_SAMPLE))
                opened.seek(max(size - _SAMPLE, 0))
                digest.update(opened.read(_SAMPLE))
    return digest.hexdigest()
