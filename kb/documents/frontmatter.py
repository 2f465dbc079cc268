"""The front matter of a file: YAML between a first line `---` and the next `---` or `...`.

What can't be read as YAML is read line by line as `key: value`, literally, with one warning. What is no mapping is
no front matter: it stays in the text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kb.documents.model import Name

_LONGEST = 64 * 1024
_LONGEST_ID = 512
_LONGEST_KEY = 80
_MOST_KEY_WORDS = 5
_DEEPEST = 20
_MOST_VALUES = 10_000
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_PAIR = re.compile(r"([^\s#:\[\]{},\"'-][^:\n]*?)[ \t]*:(?:[ \t]+(.*))?")
_CONTINUED = re.compile(r"\s|#|- |-$|[\]}]")
_NESTED = re.compile(r"(?:[-?:][ \t]+){20}|(?:[\[{]\s*){20}")
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{2,8})*")
_SENTENCE = re.compile(r"[.!?,;](?:\s|$)")
_SURROGATES = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class _Refused(Exception):
    """The front matter is too large or too deep to be worth reading; the text says which."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before the text: `values` as plain JSON-able data, and the fields that the product reads.

    `body_line` is the 1-based line where the text begins. The fields are the same values, checked: text is text as it
    was written (`id: 1.10` stays `1.10`), and what is not valid is `None` with a warning.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    body_line: int = 1
    warnings: tuple[str, ...] = ()
    id: str | None = None
    title: str | None = None
    type: str | None = None
    status: str | None = None
    language: str | None = None
    parent: str | None = None
    aliases: tuple[Name, ...] = ()
    sort_order: float | None = None


def split(source: str, text: str) -> FrontMatter:
    """Read the front matter that opens `text`; a file without any gives an empty one whose body begins at line 1."""
    opening = text[:64].partition("\n")[0] if text.startswith("---") else ""
    if opening.rstrip(" \t") != "---":
        return FrontMatter()
    start = len(opening) + 1
    close = _CLOSE.search(text, start)
    if close is None:
        return FrontMatter(warnings=(f"{source}:1: the opening --- is never closed, read as text",))
    inner = text[start : close.start()]
    body_line = 2 + inner.count("\n") + 1
    if len(inner) > _LONGEST:
        if not _looks_like_pairs(inner):
            return _no_front_matter(source)
        return FrontMatter({}, body_line, (f"{source}:1: front matter over 64 KiB, ignored",))
    try:
        values, raw, twice = _yaml(inner)
    except _Refused as refused:
        return FrontMatter({}, body_line, (f"{source}:1: front matter {refused}, ignored",))
    except _BadYaml as bad:
        if not _looks_like_pairs(inner):
            return _no_front_matter(source)
        raw, twice = _literal(inner)
        warning = f"{source}:{bad.line + 1}: front matter is not valid YAML ({bad.problem}), read line by line"
        front = _checked(source, inner, dict(raw), raw, body_line)
        return replace(front, warnings=(warning, *_repeated(source, twice), *front.warnings))
    if values is None or not all(_is_name(key) for key in values):
        return _no_front_matter(source)
    front = _checked(source, inner, values, raw, body_line)
    return replace(front, warnings=(*_repeated(source, twice), *front.warnings))


def _repeated(source: str, twice: Mapping[str, int]) -> Iterator[str]:
    """Yield a warning for each key that stands again at a line: of its values only the last is kept."""
    for key, line in twice.items():
        yield f"{source}:{line}: {_whole(key)[:_LONGEST_KEY]} stands twice in the front matter, the last counts"


def _no_front_matter(source: str) -> FrontMatter:
    return FrontMatter(warnings=(f"{source}:1: what follows --- is not front matter, read as text",))


def language_tag(text: str) -> str | None:
    """The lower-case primary tag of a language code (`de-AT` gives `de`), or None where it is none."""
    match = _LANGUAGE.fullmatch(text.strip())
    return match.group(1).lower() if match else None


class _BadYaml(Exception):
    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def _yaml(inner: str) -> tuple[dict[str, object] | None, dict[str, str], dict[str, int]]:
    """The mapping, for its plain values the text as written, and the line where a key stands again.

    `None` where the YAML is no mapping.
    """
    import yaml

    # The C parser recurses without a limit of its own; the Python one raises.
    deep = _NESTED.search(inner) or inner.count("[") + inner.count("{") > 500
    loader_class = yaml.SafeLoader if deep else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = None
    try:
        loader = loader_class(_SURROGATES.sub(_joined, inner))
        node = loader.get_single_node()
        if node is None:
            return {}, {}, {}
        if not isinstance(node, yaml.MappingNode):
            return None, {}, {}
        twice = _twice(node)
        raw = {
            name: value.value
            for name, value in {str(key.value): value for key, value in node.value}.items()
            if isinstance(value, yaml.ScalarNode) and value.tag != "tag:yaml.org,2002:null"
        }
        data = loader.construct_document(node)
    except RecursionError:
        raise _Refused("is nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _BadYaml(error.problem or "error", mark.line + 1 if mark else 1) from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, AttributeError) as error:
        raise _BadYaml(str(error).split("\n", 1)[0] or type(error).__name__, 1) from None
    finally:
        if loader is not None:
            loader.dispose()
    plain = _Plain()
    return {plain.text(key): plain.value(value, 1) for key, value in data.items()}, raw, twice


def _twice(top: Any) -> dict[str, int]:
    """Return the line of each key that stands again in its mapping; a key of an inner mapping after those above it."""
    import yaml

    twice: dict[str, int] = {}
    waiting: list[tuple[str, Any]] = [("", top)]
    seen: set[int] = set()  # an alias leads to the same node again
    while waiting:
        above, node = waiting.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += ((above, value) for value in node.value)
            continue
        held: set[str] = set()
        for key, value in node.value:
            name = f"{above}{key.value}" if isinstance(key, yaml.ScalarNode) else ""
            if name in held:
                twice[name] = key.start_mark.line + 2
            held.add(name)
            waiting.append((f"{name}."[:_LONGEST_KEY], value))
    return dict(sorted(twice.items(), key=lambda one: one[1]))


class _Plain:
    """Turns what YAML made into JSON-able data; refuses what aliases or nesting blow up."""

    def __init__(self) -> None:
        self._values = 0

    def value(self, value: object, depth: int) -> object:
        self._values += 1
        if self._values > _MOST_VALUES:
            raise _Refused("holds too many values")
        if depth > _DEEPEST:
            raise _Refused("is nested too deeply")
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, set)):
            return [self.value(item, depth + 1) for item in value]
        return self.text(value)

    def text(self, value: object) -> str:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        isoformat = getattr(value, "isoformat", None)
        text = str(isoformat() if isoformat else value)
        return _whole(text)


def _joined(pair: re.Match[str]) -> str:
    """The character that JSON writes as two escapes and YAML takes for two broken ones."""
    return bytes.fromhex(pair.group(1) + pair.group(2)).decode("utf-16-be")


def _is_name(key: str) -> bool:
    """Whether a key is a name: a sentence with a colon between two rules is text, and text must not disappear."""
    return len(key) <= _LONGEST_KEY and len(key.split()) <= _MOST_KEY_WORDS and not _SENTENCE.search(key)


def _looks_like_pairs(inner: str) -> bool:
    lines = [line for line in inner.split("\n") if line.strip()]
    pairs = [(pair := _PAIR.fullmatch(line)) is not None and _is_name(pair.group(1)) for line in lines]
    opens = next((pair for pair, line in zip(pairs, lines, strict=True) if not line.startswith("#")), False)
    return opens and all(pair or _CONTINUED.match(line) for pair, line in zip(pairs, lines, strict=True))


def _literal(inner: str) -> tuple[dict[str, str], dict[str, int]]:
    values: dict[str, str] = {}
    twice: dict[str, int] = {}
    for number, line in enumerate(inner.split("\n"), 2):
        pair = _PAIR.fullmatch(line)
        if pair and pair.group(2):
            text = pair.group(2).strip()
            if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
                text = text[1:-1]
            if pair.group(1) in values:
                twice[pair.group(1)] = number
            values[pair.group(1)] = text
    return values, twice


class _Checker:
    """Takes the fields that the product reads out of front matter and warns of what is not valid, by line."""

    def __init__(self, source: str, inner: str, values: dict[str, object], raw: dict[str, str]) -> None:
        self._source = source
        self._inner = inner
        self._values = values
        self._raw = raw
        self.warnings: list[str] = []

    def _warn(self, key: str, problem: str) -> None:
        place = re.search(rf"^{key}[ \t]*:", self._inner, re.MULTILINE)
        line = 2 + self._inner.count("\n", 0, place.start()) if place else 1
        self.warnings.append(f"{self._source}:{line}: {problem}")

    def text(self, key: str) -> str | None:
        if self._values.get(key) is None:
            return None
        if key not in self._raw:
            self._warn(key, f"{key} is not text, ignored")
            return None
        return " ".join(_CONTROL.sub(" ", _whole(self._raw[key])).split()) or None

    def id(self) -> str | None:
        if self._values.get("id") is None or "id" not in self._raw:
            return self.text("id")
        written = unicodedata.normalize("NFC", _whole(self._raw["id"]).strip())
        if not written or _CONTROL.search(written) or len(written) > _LONGEST_ID:
            self._warn("id", "id is empty, too long or holds control characters, ignored")
            return None
        return written

    def language(self) -> str | None:
        for key in ("lang", "language"):
            written = self.text(key)
            if written:
                tag = language_tag(written)
                if tag is not None:
                    return tag
                self._warn(key, f"{key} {written[:40]} is no language code (like de or de-AT), ignored")
        return None

    def names(self, key: str) -> Iterator[Name]:
        """Yield the names under a key: one, a list, or a mapping from language to either."""
        value = self._values.get(key)
        if not isinstance(value, dict):
            yield from (Name(text) for text in _texts(value))
            return
        for language, names in value.items():
            tag = language_tag(language)
            if tag is None:
                self._warn(key, f"{key}: {language[:40]} is no language code (like de or de-AT), its names are taken without one")
            yield from (Name(text, tag) for text in _texts(names))

    def sort_order(self) -> float | None:
        written = self.text("sort_order")
        if written is None:
            return None
        try:
            order = float(written)
        except ValueError:
            order = math.nan
        if math.isfinite(order):
            return order
        self._warn("sort_order", f"sort_order {written[:40]} is not a number, ignored")
        return None


def _checked(source: str, inner: str, values: dict[str, object], raw: dict[str, str], body_line: int) -> FrontMatter:
    check = _Checker(source, inner, values, raw)
    texts = {key: check.text(key) for key in ("title", "type", "status", "parent")}
    identifier = check.id()
    for key, text in (*texts.items(), ("id", identifier)):
        if key in raw and key in values:
            values[key] = text
    return FrontMatter(
        values=values,
        body_line=body_line,
        id=identifier,
        language=check.language(),
        aliases=tuple(dict.fromkeys((*check.names("aliases"), *check.names("questions")))),
        sort_order=check.sort_order(),
        warnings=tuple(check.warnings),
        **texts,
    )


def _whole(text: str) -> str:
    """`text` without lone surrogates, which YAML escapes can make and nothing can store."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _texts(value: object) -> list[str]:
    """Return the texts of a list, or those that commas set apart."""
    if value is None:
        return []
    several = value if isinstance(value, list) else str(value).split(",")
    texts = (" ".join(_CONTROL.sub(" ", str(item)).split()) for item in several if item is not None)
    return [text for text in texts if text]
