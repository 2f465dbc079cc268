"""Which base is meant, and what its `kb.toml` says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kb import toml
from kb.errors import ConfigError
from kb.records import names_of, record, replace

T = TypeVar("T")
CONFIG_NAME = "kb.toml"
ReadToml = Callable[[Path], dict[str, Any]]
FUSIONS = ("min-max", "rrf")
MODELS = ("auto", "bge-m3", "e5")
RERANKERS = ("auto", "heads", "none")
ENGINES = ("embedded", "qdrant")
SCORINGS = ("lucene", "okapi", "plus", "l")


@record
class Collection:
    """One collection: a root folder (or file) and how its documents are read.

    `languages` names the two-letter folders below the root that hold language variants. `hit_level`: headings up to
    this level answer on their own. `include` and `exclude` are patterns as in .gitignore, relative to the root.
    `writable`: documents may be created in it. `glossary`: the file that says what its terms are called in other languages.
    `schema`: the file that says what documents of its types must have.
    """

    name: str
    root: Path
    type: str | None = None
    language: str | None = None
    languages: tuple[str, ...] = ()
    hit_level: int = 2
    writable: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    glossary: Path | None = None
    schema: Path | None = None


@record
class IndexSettings:
    """How the index is made and kept: `refresh_ms` a search may spend on it, `passage_words` a passage aims at."""

    refresh_ms: int = 300
    passage_words: int = 200


@record
class SearchSettings:
    """How sections are ranked. The weights and where they come from stand in `kb.ranking.weights`."""

    scoring: str = "lucene"
    k1: float = 1.2
    b: float = 0.75
    fuzzy: bool = True  # correct words that the index has never seen


@record
class SemanticSettings:
    """Which embedding model semantic mode uses, and how its ranking is joined with that by keywords.

    `model`: auto, bge-m3, e5, or a folder (relative to the kb.toml). `fusion`: min-max or rrf. `weight`: the share of the
    embeddings, 0 to 1. `rerank`: auto (the model's own heads where a graphics card runs it), heads, none, or the folder of a
    cross-encoder.
    """

    model: str = "auto"
    fusion: str = "min-max"
    weight: float = 0.32
    """Chosen on dev sets, one for all (small model, MRR@10): XQuAD en .9699 at .3, .9701 at .32, .9711 at .33, keywords .960;
    FPF, where sections are long, with vectors of leads .849 at .25, .852 from .3 to .33, .847 at .35, keywords .826, and R@5 .916
    up to .32, .907 above. Steps of one question: .25 to .35 is a plateau."""
    rerank: str = "auto"


@record
class ServeSettings:
    """Where `kb serve` listens, and which names and origins may ask beside its own. The token comes from KB_TOKEN only."""

    host: str = "127.0.0.1"
    port: int = 8321
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()


@record
class EngineSettings:
    """What finds candidates for the ranking: the index of this machine, or a Qdrant server.

    `url`: of the server, http or https. `prefix`: what the names of its collections begin with. The key comes from
    KB_QDRANT_KEY only.
    """

    kind: str = "embedded"
    url: str = ""
    prefix: str = "kb"


@record
class Config:
    """A base: where it is, its collections and settings. `named` is false where nobody said which base to use."""

    path: Path
    collections: tuple[Collection, ...]
    index: IndexSettings = IndexSettings()
    search: SearchSettings = SearchSettings()
    semantic: SemanticSettings = SemanticSettings()
    serve: ServeSettings = ServeSettings()
    engine: EngineSettings = EngineSettings()
    named: bool = True


def shipped() -> Path:
    """Return the folder of the knowledge base that comes with kb."""
    beside = Path(__file__).resolve().parent / "knowledge"
    return beside if beside.is_dir() else Path(__file__).resolve().parents[1] / "knowledge"


def locate(base: str | Path | None, start: Path | None = None, read: ReadToml = toml.read) -> Config:
    """Return the configuration of the base that is meant.

    `base` (an argument) comes before KB_BASE, then the nearest kb.toml upwards from `start`, then the shipped base.
    `read` parses a TOML file. Raises ConfigError where the base is missing or its kb.toml is not valid.
    """
    named = base if base not in (None, "") else os.environ.get("KB_BASE")
    if named:
        return load(Path(named).expanduser(), read)
    folder = (start or Path.cwd()).resolve()
    for candidate in (folder, *folder.parents):
        if (candidate / CONFIG_NAME).is_file():
            return replace(_from_toml(candidate / CONFIG_NAME, read, trusted=False), named=False)
    return replace(load(shipped(), read), named=False)


def load(path: Path, read: ReadToml = toml.read) -> Config:
    """Return the configuration of a named base: a folder, a file, or a kb.toml."""
    try:
        path = path.resolve(strict=True)
    except FileNotFoundError as error:
        raise ConfigError(f"base not found: {path}; name a folder, a file or a kb.toml with --base") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(f"base can't be used: {path}: {error}") from error
    if path.is_dir():
        if (path / CONFIG_NAME).is_file():
            return _from_toml(path / CONFIG_NAME, read, trusted=True)
        if not os.access(path, os.R_OK | os.X_OK):
            raise ConfigError(f"base can't be read: {path}; check its permissions")
        return Config(path, (Collection(path.name or "base", path),))
    if path.name.endswith(".toml"):
        return _from_toml(path, read, trusted=True)
    if not os.access(path, os.R_OK):
        raise ConfigError(f"base can't be read: {path}; check its permissions")
    return Config(path, (Collection(path.stem, path),))


def _from_toml(path: Path, read: ReadToml, *, trusted: bool) -> Config:
    data = read(path)
    _known(path, "", data, ("collections", "index", "search", "semantic", "engine", "serve"))
    entries = data.get("collections", [])
    if not isinstance(entries, list) or not entries:
        raise ConfigError(f"{path}: it needs at least one [[collections]] with a name and a root")
    collections = tuple(_collection(path, entry, trusted) for entry in entries)
    names = [collection.name for collection in collections]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{path}: two collections are named {name!r}; give each its own name")
    index = _section(path, "index", data.get("index", {}), IndexSettings)
    search = _section(path, "search", data.get("search", {}), SearchSettings)
    _positive(path, "index.refresh_ms", index.refresh_ms, 0, 600_000)
    _positive(path, "index.passage_words", index.passage_words, 20, 2000)
    if search.scoring not in SCORINGS:
        raise ConfigError(f"{path}: search.scoring is {search.scoring!r}; valid: {', '.join(SCORINGS)}")
    _positive(path, "search.k1", search.k1, 0, 10)
    _positive(path, "search.b", search.b, 0, 1)
    semantic = _semantic(path, data.get("semantic", {}), trusted)
    serve = _serve(path, data.get("serve", {}), trusted)
    return Config(path, collections, index, search, semantic, serve, _engine(path, data.get("engine", {}), trusted))


def _engine(path: Path, data: object, trusted: bool) -> EngineSettings:
    """Return the engine; a kb.toml that nobody named may not send what it reads to a server."""
    found = _section(path, "engine", data, EngineSettings)
    if found.kind not in ENGINES:
        raise ConfigError(f"{path}: engine.kind is {found.kind!r}; valid: {', '.join(ENGINES)}")
    if found.kind == "embedded":
        return found
    if not trusted:
        raise ConfigError(f"{path}: engine.kind is {found.kind!r}; name this kb.toml with --base to allow that")
    from urllib.parse import urlsplit

    try:
        url = urlsplit(found.url)
        bad = url.scheme not in ("http", "https") or not url.hostname or (url.port == 0)
    except ValueError:
        bad = True
    if bad or url.username is not None or url.query or url.fragment:
        raise ConfigError(f"{path}: engine.url is {found.url!r}; write the server's address, such as http://localhost:6333")
    if not found.prefix or not all(char.isascii() and (char.isalnum() or char in "-_") for char in found.prefix):
        raise ConfigError(f"{path}: engine.prefix is {found.prefix!r}; write letters, digits, '-' and '_'")
    return found


def _serve(path: Path, data: object, trusted: bool) -> ServeSettings:
    """Return where to listen; a kb.toml that nobody named may not open the base to other machines, names or origins."""
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: serve must be a table: [serve]")
    _known(path, "serve.", data, names_of(ServeSettings))
    opening = [key for key in ("host", "allowed_hosts", "allowed_origins") if key in data]
    if opening and not trusted:
        raise ConfigError(f"{path}: serve.{opening[0]} is set; name this kb.toml with --base to allow that")
    values: dict[str, Any] = {}
    if "host" in data:
        values["host"] = _typed(path, "serve.host", data["host"], str, "a text")
    if "port" in data:
        values["port"] = _typed(path, "serve.port", data["port"], int, "a whole number")
        _positive(path, "serve.port", values["port"], 0, 65535)
    for key in ("allowed_hosts", "allowed_origins"):
        if key in data:
            values[key] = tuple(text.lower().rstrip("/") for text in _texts(path, f"serve.{key}", data[key]))
    for origin in values.get("allowed_origins", ()):
        if not origin.startswith(("http://", "https://")) or "*" in origin:
            raise ConfigError(
                f"{path}: serve.allowed_origins holds {origin!r}; write whole origins, such as https://wiki.example"
            )
    return ServeSettings(**values)


def _semantic(path: Path, data: object, trusted: bool) -> SemanticSettings:
    found = _section(path, "semantic", data, SemanticSettings)
    if found.fusion not in FUSIONS:
        raise ConfigError(f"{path}: semantic.fusion is {found.fusion!r}; valid: {', '.join(FUSIONS)}")
    _positive(path, "semantic.weight", found.weight, 0, 1)
    return replace(
        found,
        model=_model(path, "semantic.model", found.model, MODELS, trusted),
        rerank=_model(path, "semantic.rerank", found.rerank, RERANKERS, trusted),
    )


def _model(path: Path, key: str, value: str, names: tuple[str, ...], trusted: bool) -> str:
    """Return a known name as it is, a folder as an absolute path."""
    if value in names:
        return value
    folder = Path(value).expanduser()
    folder = (folder if folder.is_absolute() else path.parent / folder).resolve()
    if not folder.is_dir():
        raise ConfigError(f"{path}: {key} is {value!r}; valid: {', '.join(names)}, or a folder that exists")
    if not trusted and not folder.is_relative_to(path.parent.resolve()):
        raise ConfigError(f"{path}: {key} lies outside its folder; name this kb.toml with --base to allow that")
    return str(folder)


def _collection(path: Path, entry: object, trusted: bool) -> Collection:
    if not isinstance(entry, dict):
        raise ConfigError(f"{path}: [[collections]] must be tables with a name and a root")
    _known(path, "collections.", entry, names_of(Collection))
    for key in ("name", "root"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise ConfigError(f"{path}: every [[collections]] needs {key} as a text")
    name = entry["name"]
    if "@" in name or "/" in name or any(ord(char) < 32 for char in name):
        raise ConfigError(f"{path}: collection name {name!r} may not hold '@', '/' or control characters")
    resolved = _root(path, name, entry["root"], trusted)
    values: dict[str, Any] = {"name": name, "root": resolved}
    for key in ("type", "language"):
        if key in entry:
            values[key] = _typed(path, f"collections.{key}", entry[key], str, "a text")
    for key in ("languages", "include", "exclude"):
        if key in entry:
            values[key] = _texts(path, f"collections.{key}", entry[key])
    _codes(path, [*values.get("languages", ()), *([values["language"]] if "language" in values else [])])
    if "hit_level" in entry:
        values["hit_level"] = _typed(path, "collections.hit_level", entry["hit_level"], int, "a number from 1 to 6")
        _positive(path, "collections.hit_level", values["hit_level"], 1, 6)
    if "writable" in entry:
        values["writable"] = _typed(path, "collections.writable", entry["writable"], bool, "true or false")
        if values["writable"] and not resolved.is_dir():
            raise ConfigError(f"{path}: collection {name!r} can't be writable: its root is not a folder")
    for key in ("glossary", "schema"):
        if key in entry:
            values[key] = _file(path, name, key, entry[key], trusted)
    return Collection(**values)


def _root(path: Path, name: str, value: str, trusted: bool) -> Path:
    """Return the root of a collection, which may not lie outside an untrusted kb.toml's folder."""
    root = Path(_storable(path, "collections.root", value)).expanduser()
    root = root if root.is_absolute() else path.parent / root
    resolved = root.resolve()
    if not resolved.exists():
        raise ConfigError(f"{path}: root of collection {name!r} not found: {root}")
    if not trusted and not resolved.is_relative_to(path.parent.resolve()):
        raise ConfigError(
            f"{path}: root of collection {name!r} lies outside its folder; name this kb.toml with --base to allow that"
        )
    return resolved


def _storable(path: Path, key: str, value: str) -> str:
    if "\0" in value:
        raise ConfigError(f"{path}: {key} may not hold NUL")
    return value


def _codes(path: Path, codes: Sequence[str]) -> None:
    for code in codes:
        if not (code.isascii() and code.isalpha() and code.islower() and len(code) in (2, 3)):
            raise ConfigError(f"{path}: {code!r} is not a language code; write two lower-case letters, such as 'de'")


def _file(path: Path, name: str, key: str, value: object, trusted: bool) -> Path:
    """Return a file that a collection names, which like its root may not lie outside an untrusted kb.toml's folder."""
    text: str = _typed(path, f"collections.{key}", value, str, "the path of a TOML file")
    given = Path(_storable(path, f"collections.{key}", text)).expanduser()
    resolved = (given if given.is_absolute() else path.parent / given).resolve()
    if not resolved.is_file():
        raise ConfigError(f"{path}: {key} of collection {name!r} not found: {given}")
    if not trusted and not resolved.is_relative_to(path.parent.resolve()):
        raise ConfigError(
            f"{path}: {key} of collection {name!r} lies outside its folder; name this kb.toml with --base to allow that"
        )
    return resolved


def _section(path: Path, name: str, data: object, kind: Callable[[], T]) -> T:
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: {name} must be a table: [{name}]")
    usual = kind()
    _known(path, f"{name}.", data, names_of(usual))
    values: dict[str, Any] = {}
    for key, value in data.items():
        wanted = type(getattr(usual, key))
        if wanted is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        values[key] = _typed(
            path,
            f"{name}.{key}",
            value,
            wanted,
            {int: "a whole number", float: "a number", bool: "true or false"}.get(wanted, "a text"),
        )
    return replace(usual, **values)


def _known(path: Path, prefix: str, data: Mapping[str, object], valid: tuple[str, ...]) -> None:
    for key in data:
        if key not in valid:
            raise ConfigError(f"{path}: unknown key {prefix}{key}; valid: {', '.join(valid)}")


def _typed(path: Path, name: str, value: object, kind: type, words: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{path}: {name} must be {words}, got {value!r}")
    return value


def _texts(path: Path, name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{path}: {name} must be a list of texts, got {value!r}")
    return tuple(value)


def _positive(path: Path, name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ConfigError(f"{path}: {name} must be from {low:g} to {high:g}, got {value:g}")
