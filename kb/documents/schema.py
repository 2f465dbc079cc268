"""What the documents of a type must have, written in a TOML file that the collection's `schema` names.

```toml
[types.tsk]
required = ["title", "status", "created", "updated"]   # front matter keys
status = ["draft", "active", "done", "cancelled"]      # values that status may have
dates = ["created", "updated"]                         # keys that hold a day or a moment, ISO 8601
urls = []                                              # keys that hold an http(s) address
id = "{scheme}:{version}:{clause}"                     # the id that other keys make

[[types.tsk.headings]]
name = "Recent Updates"                                # the canonical heading
names = { ru = "Последние изменения", de = "…" }       # what it is called in other languages
kind = "entries"                                       # text, items ([ ] and [x]) or entries (dated, newest first)
required = true
minimum = 1                                            # items or entries at least
```
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from kb.documents import structure
from kb.documents.model import Document, failed
from kb.errors import ConfigError

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:$|[T ])")
_URL = re.compile(r"https?://[^\s/]+\.[^\s/]+(?:/\S*)?")
_FIELD = re.compile(r"\{([^{}]+)\}")
_STRICT = ConfigDict(extra="forbid", frozen=True)


class Heading(BaseModel):
    """A heading of a type: its canonical name, what it is called in other languages, and what stands below it."""

    model_config = _STRICT
    name: str = Field(min_length=1)
    names: Mapping[str, str | list[str]] = {}
    kind: Literal["text", "items", "entries"] = "text"
    required: bool = False
    minimum: int = Field(default=0, ge=0)

    def called(self, language: str) -> tuple[str, ...]:
        """What the heading is called in a language."""
        given = self.names.get(language, ())
        return (given,) if isinstance(given, str) else tuple(given)


class TypeSchema(BaseModel):
    """What a document of one type must have."""

    model_config = _STRICT
    required: list[str] = []
    status: list[str] = []
    dates: list[str] = []
    urls: list[str] = []
    id: str | None = None
    headings: list[Heading] = []

    def heading(self, title: str, language: str | None) -> Heading | None:
        """The heading of the table that a title stands for: by its name in the document's language, else in any."""
        wanted = _folded(title)
        for heading in self.headings:
            if wanted in map(_folded, (heading.name, *heading.called(language or ""))):
                return heading
        for heading in self.headings:
            if any(wanted in map(_folded, heading.called(other)) for other in heading.names):
                return heading
        return None


class Schema(BaseModel):
    """The types that a schema file describes."""

    model_config = _STRICT
    types: Mapping[str, TypeSchema]


def load(path: Path) -> Schema:
    """Read a schema file. ConfigError where it is missing or not valid; the message names every fault."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"schema {path} can't be read: {error.strerror or error}") from error
    return _parsed(path, data)


@lru_cache(maxsize=32)
def _parsed(path: Path, data: bytes) -> Schema:
    try:
        return Schema.model_validate(tomllib.loads(data.decode("utf-8-sig")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"schema {path} is not valid TOML: {error}") from error
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}" for fault in error.errors()]
        raise ConfigError(f"schema {path} is not valid: {'; '.join(faults)}") from error


def checked(document: Document, schema: Schema, type_: str | None, language: str | None) -> Document:
    """The document itself where it fits the schema of its type, else one with `error` that names all that is wrong."""
    wanted = schema.types.get(type_ or "")
    if wanted is None or document.error is not None:
        return document
    found = problems(document, wanted, language)
    if not found:
        return document
    return failed(document.source, f"does not fit the schema of type {type_}: {'; '.join(found)}", document.text)


def problems(document: Document, schema: TypeSchema, language: str | None) -> list[str]:
    """All that a document lacks or has wrong, a short text each; empty where it fits."""
    found = _front_matter(document.front_matter, schema)
    for heading in schema.headings:
        indexes = [i for i, s in enumerate(document.sections) if schema.heading(s.title, language) is heading]
        if not indexes:
            if heading.required:
                other = heading.called(language or "")
                found.append(f"heading missing: {heading.name}" + (f" (in {language}: {other[0]})" if other else ""))
            continue
        for index in indexes:
            found += _contents(document, heading, below(document, index))
    return found


def below(document: Document, index: int) -> range:
    """A section and its subsections, as indexes."""
    first, last = document.sections[index].lines
    end = index + 1
    while end < len(document.sections) and first <= document.sections[end].lines[0] <= last:
        end += 1
    return range(index, end)


def _contents(document: Document, heading: Heading, sections: range) -> list[str]:
    if heading.kind == "items":
        held, others = structure.items(document, sections)
        found = [f"line {line}: no item, write [ ] or [x]" for line in others]
        return found + _few(heading, len(held), "item")
    if heading.kind == "entries":
        dated = structure.entries(document, sections)
        found = [f"line {entry.line}: entry without a date like 2026-11-30 14:05" for entry in dated if entry.at is None]
        late = structure.disordered(dated)
        if late is not None:
            found.append(f"line {late}: newer than the entry above it, the newest comes first")
        return found + _few(heading, len(dated), "entry")
    return []


def _few(heading: Heading, count: int, what: str) -> list[str]:
    if count >= heading.minimum:
        return []
    return [f"{heading.name}: {count} of at least {heading.minimum} {'entries' if what == 'entry' else 'items'}"]


def _front_matter(values: Mapping[str, object], schema: TypeSchema) -> list[str]:
    model, keys = _model(schema.model_dump_json())
    held = {field: values[key] for field, key in keys.items() if values.get(key) not in (None, "")}
    missing: list[str] = []
    wrong: list[str] = []
    try:
        model.model_validate(held)
    except ValidationError as error:
        for fault in error.errors():
            key = keys[str(fault["loc"][0])]
            if fault["type"] == "missing":
                missing.append(key)
            else:
                wrong.append(f"{key} {fault.get('ctx', {}).get('error', fault['msg'])}")
    found = [f"front matter lacks {', '.join(missing)}"] if missing else []
    return found + wrong + _id(values, schema)


def _id(values: Mapping[str, object], schema: TypeSchema) -> list[str]:
    if schema.id is None or not values.get("id") or any(not values.get(key) for key in _FIELD.findall(schema.id)):
        return []
    wanted = _FIELD.sub(lambda match: str(values[match[1]]), schema.id)
    return [] if str(values["id"]) == wanted else [f"id is {values['id']}, its parts make {wanted}"]


@lru_cache(maxsize=64)
def _model(schema_json: str) -> tuple[type[BaseModel], dict[str, str]]:
    """The pydantic model of a type's front matter, and the key that each of its fields stands for."""
    schema = TypeSchema.model_validate_json(schema_json)
    ordered = dict.fromkeys([*schema.required, *schema.dates, *schema.urls, *(["status"] if schema.status else [])])
    fields: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for number, key in enumerate(ordered):
        kind: Any = Any
        if key in schema.dates:
            kind = Annotated[Any, AfterValidator(_date)]
        elif key in schema.urls:
            kind = Annotated[Any, AfterValidator(_address)]
        elif key == "status" and schema.status:
            kind = Annotated[Any, AfterValidator(_one_of(schema.status))]
        # A key of front matter may be no Python name, or one that a model has for itself.
        field = f"field_{number}"
        keys[field] = key
        fields[field] = (kind, ...) if key in schema.required else (kind, None)
    return create_model("FrontMatter", **fields), keys


def _date(value: object) -> object:
    try:
        if not isinstance(value, str) or not _DAY.match(value):
            raise ValueError
        datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"is {_shown(value)}, write a date like 2026-11-30") from None
    return value


def _address(value: object) -> object:
    if not isinstance(value, str) or not _URL.fullmatch(value):
        raise ValueError(f"is {_shown(value)}, write an address that starts with https://")
    return value


def _one_of(valid: list[str]) -> Callable[[object], object]:
    def check(value: object) -> object:
        if value not in valid:
            raise ValueError(f"is {_shown(value)}, valid: {', '.join(valid)}")
        return value

    return check


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _folded(title: str) -> str:
    return " ".join(title.casefold().split()).rstrip(":")
