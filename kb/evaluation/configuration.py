"""Configurations of a ranking by name, so that two can be compared and each part turned off.

Keys are those of `[search]` in kb.toml, those of `kb.ranking.ranker.Weights` (dotted where they are nested: `text.b`), the
numbers of `kb.ranking.weights` in capitals, `semantic`, and `semantic.` with the keys of `[semantic]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from kb.base import ranking_weights
from kb.config import FUSIONS, SCORINGS, Config, SearchSettings, SemanticSettings
from kb.errors import ArgumentError
from kb.ranking import weights as numbers
from kb.ranking.ranker import Weights

SEMANTIC = "semantic"
_INTO_WEIGHTS = frozenset({"K1", "B", "HEAD_B", "PASSAGE_WEIGHT", "LEAD_WEIGHT", "HEAD_WEIGHT"})
"""Defaults of `Weights`: they are changed there."""
_NOT_RANKING = frozenset({"SNIPPET_CHARACTERS"})
_OF_FUSION = ("fusion", "weight")
"""Keys of `[semantic]` that change how rankings are joined, and need no other model."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a ranking is run with: settings, weights, numbers that stand in for those of `kb.ranking.weights`.

    `changed` is what differs from the base, as it was written.
    """

    search: SearchSettings
    weights: Weights
    numbers: Mapping[str, float]
    semantic: bool
    fusion: SemanticSettings
    changed: Mapping[str, Any]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Let the numbers stand in for those of `kb.ranking.weights` while it lasts, in the whole process."""
        held = {name: getattr(numbers, name) for name in self.numbers}
        try:
            for name, value in self.numbers.items():
                setattr(numbers, name, value)
            yield
        finally:
            for name, value in held.items():
                setattr(numbers, name, value)


def defaults(config: Config, *, semantic: bool = False) -> dict[str, Any]:
    """Return every key that can be changed with the value it has."""
    out: dict[str, Any] = {entry.name: getattr(config.search, entry.name) for entry in fields(config.search)}
    out |= {key: value for key, value in flat(ranking_weights(config.search)).items() if key not in out}
    out |= constants()
    out |= {f"{SEMANTIC}.{key}": getattr(config.semantic, key) for key in _OF_FUSION}
    return out | {SEMANTIC: semantic}


def constants() -> dict[str, float]:
    """Return the numbers of `kb.ranking.weights` by name."""
    left_out = _INTO_WEIGHTS | _NOT_RANKING
    return {
        name: value
        for name, value in vars(numbers).items()
        if name.isupper() and not name.startswith("_") and name not in left_out and isinstance(value, int | float)
    }


def flat(weights: Any, prefix: str = "") -> dict[str, Any]:
    """Return the numbers and switches of nested dataclasses by their dotted names."""
    out: dict[str, Any] = {}
    for entry in fields(weights):
        value = getattr(weights, entry.name)
        if is_dataclass(value):
            out |= flat(value, f"{prefix}{entry.name}.")
        elif isinstance(value, bool | int | float):
            out[prefix + entry.name] = value
    return out


def configure(config: Config, changes: Mapping[str, Any], *, semantic: bool = False) -> Configuration:
    """Return the configuration that differs from that of a base by the changes (their types checked already)."""
    own = {entry.name for entry in fields(config.search)}
    settings = replace(config.search, **{key: value for key, value in changes.items() if key in own})
    weights, set_, fusion = ranking_weights(settings), {}, {}
    for key, value in changes.items():
        if key in own or key == SEMANTIC:
            continue
        if key in constants():
            set_[key] = value
        elif key.startswith(f"{SEMANTIC}."):
            fusion[key.removeprefix(f"{SEMANTIC}.")] = value
        else:
            weights = _replaced(weights, key.split("."), value)
    return Configuration(
        settings, weights, set_, changes.get(SEMANTIC, semantic), replace(config.semantic, **fusion), dict(changes)
    )


def _replaced(weights: Any, path: list[str], value: Any) -> Any:
    if len(path) > 1:
        value = _replaced(getattr(weights, path[0]), path[1:], value)
    return replace(weights, **{path[0]: value})


def parse(text: str, config: Config) -> dict[str, Any]:
    """Read `KEY=VALUE,KEY=VALUE`. Raises ArgumentError that lists the keys, or says what a value must be."""
    known = defaults(config)
    out: dict[str, Any] = {}
    for item in text.split(","):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key or not value:
            raise ArgumentError(f"--compare needs KEY=VALUE,KEY=VALUE, got {item!r}")
        if key not in known:
            raise ArgumentError(f"--compare: unknown key {key!r}; valid: {', '.join(known)}")
        if key in out:
            raise ArgumentError(f"--compare: {key} is given twice")
        out[key] = _value(key, value, known[key])
    return out


def written(changes: Mapping[str, Any]) -> str:
    """Return changes as they are written in kb.toml: `k1=1.5, fuzzy=false`."""
    return ", ".join(f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in changes.items())


def _value(key: str, text: str, held: Any) -> Any:
    if isinstance(held, bool):
        if text not in ("true", "false"):
            raise ArgumentError(f"--compare: {key} must be true or false, got {text!r}")
        return text == "true"
    if isinstance(held, str):
        valid = {"scoring": SCORINGS, "semantic.fusion": FUSIONS}.get(key, (text,))
        if text not in valid:
            raise ArgumentError(f"--compare: {key} is {text!r}; valid: {', '.join(valid)}")
        return text
    try:
        value = int(text) if isinstance(held, int) else float(text)
    except ValueError as error:
        raise ArgumentError(f"--compare: {key} must be a number, got {text!r}") from error
    most = 1 if key in ("b", "semantic.weight") or key.endswith(".b") else 1_000_000
    if not 0 <= value <= most:  # false for NaN too
        raise ArgumentError(f"--compare: {key} must be from 0 to {most}, got {text}")
    return value
