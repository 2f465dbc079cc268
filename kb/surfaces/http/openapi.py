"""The OpenAPI description of the HTTP API, made from the operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kb.surfaces.operations.model import Argument, Operation

LONGEST_IN_QUERY = 8192
_STATUSES = {
    "400": "an argument is not valid",
    "401": "a bearer token is needed",
    "403": "the host or the origin is not allowed",
    "409": "another process is writing",
    "503": "the base, or what the question needs, can't be used",
}


def route(asked: Operation) -> str:
    """Return the path of an operation's route, in OpenAPI's notation."""
    return f"/api/{asked.name}/{{{asked.key}}}" if asked.key and _required(asked, asked.key) else f"/api/{asked.name}"


def describe(operations: Sequence[Operation], version: str, token: bool) -> dict[str, Any]:
    """Return the whole description as JSON-ready values."""
    paths: dict[str, Any] = {}
    for asked in operations:
        if not asked.writes:
            paths.setdefault(route(asked), {})["get"] = _get(asked)
        paths.setdefault(f"/api/{asked.name}", {})["post"] = _post(asked)
    paths["/health"] = {
        "get": {
            "operationId": "health",
            "summary": "Whether the server answers",
            "security": [],
            "responses": {
                "200": _response(
                    "it does", {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
                )
            },
        }
    }
    out: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "kb",
            "version": version,
            "description": "Find the right section of a knowledge base. The answers are those of the command.",
        },
        "paths": paths,
        "components": {
            "schemas": {
                "Error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": {"type": "string"},
                        "suggestions": {"type": "array", "items": {"type": "string"}},
                    },
                }
            }
        },
    }
    if token:
        out["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        out["security"] = [{"token": []}]
    return out


def _get(asked: Operation) -> dict[str, Any]:
    return {
        "operationId": asked.name,
        "summary": asked.title,
        "description": asked.purpose,
        "parameters": [_parameter(argument, asked) for argument in asked.arguments if argument.kind != "numbers"],
        "responses": _responses(asked),
    }


def _post(asked: Operation) -> dict[str, Any]:
    return {
        "operationId": f"{asked.name}_json",
        "summary": asked.title,
        "description": asked.purpose,
        "requestBody": {
            "required": any(argument.required for argument in asked.arguments),
            "content": {"application/json": {"schema": asked.input_schema()}},
        },
        "responses": {**_responses(asked), "413": _error("the body is too large"), "415": _error("the body is not JSON")},
    }


def _parameter(argument: Argument, asked: Operation) -> dict[str, Any]:
    schema = argument.schema()
    description = schema.pop("description")
    in_path = argument.name == asked.key and argument.required
    if in_path:
        schema["minLength"] = 1
    if schema.get("maxLength", 0) > LONGEST_IN_QUERY:
        schema["maxLength"] = LONGEST_IN_QUERY  # an address holds no more; longer texts go into a body
    return {
        "name": argument.name,
        "in": "path" if in_path else "query",
        "required": argument.required,
        "description": description,
        "schema": schema,
    }


def _required(asked: Operation, name: str) -> bool:
    argument = asked.argument(name)
    return argument is not None and argument.required


def _responses(asked: Operation) -> dict[str, Any]:
    out = {"200": _response("the answer", dict(asked.output))}
    out.update({status: _error(meaning) for status, meaning in _STATUSES.items()})
    if asked.key or asked.name in ("ground", "new"):
        out["404"] = _error("there is no such section; the nearest ids stand in suggestions")
    return out


def _error(meaning: str) -> dict[str, Any]:
    return _response(meaning, {"$ref": "#/components/schemas/Error"})


def _response(meaning: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}
