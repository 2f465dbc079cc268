"""Configurations of a ranking by name, so that two can be compared and each part turned off.

Keys are those of `[search]` in kb.toml, then those of `kb.ranking.ranker.Weights`, dotted where they are nested (`text.b`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from kb.base import ranking_weights
from kb.config import SCORINGS, SearchSettings
from kb.errors import ArgumentError
from kb.ranking.ranker import Weights


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings and weights a ranking is run with, and what was changed to get there, as it was written."""

    search: SearchSettings
    weights: Weights
    changed: Mapping[str, Any]


def defaults(search: SearchSettings) -> dict[str, Any]:
    """Return every key that can be changed with the value it has."""
    out: dict[str, Any] = {entry.name: getattr(search, entry.name) for entry in fields(search)}
    return out | {key: value for key, value in flat(ranking_weights(search)).items() if key not in out}


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


def configure(search: SearchSettings, changes: Mapping[str, Any]) -> Configuration:
    """Return the configuration that differs from the settings of a base by the changes (their types checked already)."""
    own = {entry.name for entry in fields(search)}
    settings = replace(search, **{key: value for key, value in changes.items() if key in own})
    weights = ranking_weights(settings)
    for key, value in changes.items():
        if key not in own:
            weights = _replaced(weights, key.split("."), value)
    return Configuration(settings, weights, dict(changes))


def _replaced(weights: Any, path: list[str], value: Any) -> Any:
    if len(path) > 1:
        value = _replaced(getattr(weights, path[0]), path[1:], value)
    return replace(weights, **{path[0]: value})


def parse(text: str, search: SearchSettings) -> dict[str, Any]:
    """Read `KEY=VALUE,KEY=VALUE`. Raises ArgumentError that lists the keys, or says what a value must be."""
    known = defaults(search)
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
        if key == "scoring" and text not in SCORINGS:
            raise ArgumentError(f"--compare: scoring is {text!r}; valid: {', '.join(SCORINGS)}")
        return text
    try:
        value = int(text) if isinstance(held, int) else float(text)
    except ValueError as error:
        raise ArgumentError(f"--compare: {key} must be a number, got {text!r}") from error
    most = 1 if key == "b" or key.endswith(".b") else 1000
    if not 0 <= value <= most:  # false for NaN too
        raise ArgumentError(f"--compare: {key} must be from 0 to {most}, got {text}")
    return value
