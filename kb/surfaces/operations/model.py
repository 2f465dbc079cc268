"""The shapes of the registry: an operation, its arguments, and how values from outside become values to call with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from kb.errors import ArgumentError

if TYPE_CHECKING:
    from kb.base import KnowledgeBase

Values = Mapping[str, Any]
Body = dict[str, Any]
Kind = Literal["text", "whole", "number", "flag", "texts", "numbers"]

_WORDS = {
    "text": "a text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list of texts",
    "numbers": "a list of numbers",
}
MOST_ITEMS = 100
MOST_NUMBERS = 8192


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `low` and `high` bound a number, `longest` the characters of a text or of each text of a list.

    `default` is what the base does without it; None where it has nothing to do then. `person`: it is of use to a person only,
    and no tool has it.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: Any = None
    low: float | None = None
    high: float | None = None
    longest: int | None = None
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    person: bool = False

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of one value."""
        out: dict[str, Any]
        if self.kind in ("texts", "numbers"):
            item: dict[str, Any] = {"type": "number"} if self.kind == "numbers" else {"type": "string", "minLength": 1}
            if self.longest is not None:
                item["maxLength"] = self.longest
            out = {"type": "array", "items": item, "maxItems": MOST_NUMBERS if self.kind == "numbers" else MOST_ITEMS}
        else:
            out = {"type": {"text": "string", "whole": "integer", "number": "number", "flag": "boolean"}[self.kind]}
            if self.kind == "text":
                out.update({"minLength": 1} if self.required else {})
                out.update({"maxLength": self.longest} if self.longest is not None else {})
            out.update({"pattern": self.pattern} if self.pattern else {})
            out.update({"enum": list(self.choices)} if self.choices else {})
            out.update({"minimum": self.low} if self.low is not None else {})
            out.update({"maximum": self.high} if self.high is not None else {})
        if self.default is not None:
            out["default"] = self.default
        out["description"] = self.description
        return out

    def checked(self, value: object) -> Any:
        """Return a value of the right kind and within its limits; ArgumentError otherwise."""
        if self.kind in ("texts", "numbers"):
            most = MOST_NUMBERS if self.kind == "numbers" else MOST_ITEMS
            if not isinstance(value, (list, tuple)):
                raise self._wrong(value)
            if len(value) > most:
                raise ArgumentError(f"{self.name} has {len(value)} items; {most} at most")
            return [self._one("number" if self.kind == "numbers" else "text", item) for item in value]
        return self._one(self.kind, value)

    def _one(self, kind: str, value: object) -> Any:
        if kind == "text":
            return self._text(value)
        if kind == "flag":
            if not isinstance(value, bool):
                raise self._wrong(value)
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(value)
        if kind == "whole":
            if isinstance(value, float) and not value.is_integer():
                raise self._wrong(value)
            value = int(value)
        elif not math.isfinite(value):
            raise self._wrong(value)
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            bounds = f"from {self.low} to {self.high}" if self.high is not None else f"{self.low} or more"
            raise ArgumentError(f"{self.name} must be {bounds}, got {value}")
        return value

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise self._wrong(value)
        # A lone surrogate can stand in JSON, but in no file and no answer.
        text = value.encode("utf-8", "replace").decode("utf-8")
        if self.longest is not None and len(text.strip()) > self.longest:
            raise ArgumentError(f"{self.name} has {len(text)} characters; {self.longest} at most")
        if self.choices and text not in self.choices:
            raise ArgumentError(f"{self.name} must be one of: {', '.join(self.choices)}; got {text!r}")
        return text

    def _wrong(self, value: object) -> ArgumentError:
        shown = repr(value)
        return ArgumentError(f"{self.name} must be {_WORDS[self.kind]}, got {shown if len(shown) <= 80 else shown[:79] + '…'}")


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be asked: tool `kb_<name>`, route `/api/<name>`.

    `purpose` says in a sentence or two what it is for and when to use which other one. `output` is the JSON schema of
    the answer, an object. `call` asks the base. `key` is the argument that stands in the path of the route. `rows` names the
    list that may be shortened where an answer must stay small, and `size` the argument by which a caller asks for more.
    """

    name: str
    title: str
    purpose: str
    arguments: tuple[Argument, ...]
    output: Mapping[str, Any]
    call: Callable[[KnowledgeBase, Values], Body]
    key: str | None = None
    rows: str | None = None
    size: str | None = None
    writes: bool = False

    def as_tool(self) -> Operation:
        """Return the operation as an agent may call it."""
        return replace(self, arguments=tuple(argument for argument in self.arguments if not argument.person))

    def argument(self, name: str) -> Argument | None:
        """Return an argument by its name."""
        return next((argument for argument in self.arguments if argument.name == name), None)

    def input_schema(self, **defaults: Any) -> dict[str, Any]:
        """Return the JSON schema of the arguments; unknown ones are refused. `defaults` stand in for some defaults."""
        properties = {argument.name: argument.schema() for argument in self.arguments}
        for name, value in defaults.items():
            if name in properties:
                properties[name]["default"] = value
        required = [argument.name for argument in self.arguments if argument.required]
        return {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values to call with; what is None counts as not given. ArgumentError names what is valid."""
        names = [argument.name for argument in self.arguments]
        for name in given:
            if name not in names:
                valid = ", ".join(names) or "none"
                raise ArgumentError(f"unknown argument {str(name)[:80]!r} for {self.name}; valid: {valid}")
        values = {}
        for argument in self.arguments:
            value = given.get(argument.name)
            if value is not None:
                values[argument.name] = argument.checked(value)
            elif argument.required:
                raise ArgumentError(f"{self.name} needs {argument.name}: {argument.description}")
        return values
