"""Answers and errors as HTTP responses."""

from __future__ import annotations

import json
from hashlib import blake2b

from starlette.requests import Request
from starlette.responses import Response

from kb.errors import ArgumentError, ConfigError, IndexBusy, KBError, NotFound
from kb.surfaces.operations.model import Body


def status_of(error: KBError) -> int:
    """Return the HTTP status that says what an error of the base means."""
    if isinstance(error, NotFound):
        return 404
    if isinstance(error, IndexBusy):
        return 409
    return 400 if isinstance(error, ArgumentError) and not isinstance(error, ConfigError) else 503


def answer(request: Request, body: Body) -> Response:
    """Return an answer as JSON with an entity tag; 304 where the caller holds it already."""
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
    headers = {"cache-control": "private, no-cache", "vary": "Accept-Encoding, Authorization"}
    if request.method in ("GET", "HEAD"):
        headers["etag"] = f'W/"{blake2b(data, digest_size=12).hexdigest()}"'
        held = {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}
        if headers["etag"] in held:
            return Response(status_code=304, headers=headers)
    return Response(data, media_type="application/json", headers=headers)
