"""The routes of the page: its files, its addresses, and sections rendered for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from kb.surfaces.calls import Calls
from kb.surfaces.http.arguments import from_query
from kb.surfaces.http.responses import answer
from kb.surfaces.operations.model import Body
from kb.surfaces.operations.registry import operation
from kb.surfaces.operations.run import run

STATIC = Path(__file__).resolve().parents[1] / "static"
_RENDERED = 300_000
"""Characters of a body that are rendered at once; more is fetched when asked for."""


class _Files(StaticFiles):
    """The page's files; browsers ask again whether they have changed, so that an update is seen at once."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


def page_routes(calls: Calls) -> list[BaseRoute]:
    """Return the routes of the page."""

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html", headers={"cache-control": "no-cache"})

    async def rendered(request: Request) -> Response:
        asked = operation("section")
        given = from_query(asked, ((n, v) for n, v in request.query_params.multi_items() if n != "whole"))
        given["id"] = request.path_params["id"]
        whole = "whole" in request.query_params

        def work() -> Body:
            body = run(calls.base, asked, given)
            trail = calls.base.trail(given["id"], language=given.get("language")) if body.get("id") else ()
            return {**with_html(body, whole), "trail": [node.as_json() for node in trail]}

        return answer(request, await calls.do(work))

    return [
        Route("/", page, methods=["GET"]),
        Route("/tree", page, methods=["GET"]),
        Route("/section/{id:path}", page, methods=["GET"]),
        Route("/render/{id:path}", rendered, methods=["GET"]),
        Mount("/static", _Files(directory=STATIC)),
    ]


def with_html(body: Body, whole: bool) -> Body:
    """Return a section with its body as HTML under `html`; a very long one is cut at a line unless it is wanted whole."""
    from kb.surfaces.web.render import html

    text = body.get("body", "")
    cut = len(text) if whole else _RENDERED
    shown = text if len(text) <= cut else text[:cut].rpartition("\n")[0] or text[:cut]
    out = {key: value for key, value in body.items() if key != "body"}
    out["html"] = html(shown, body.get("source"), body.get("collection", ""))
    out["characters"], out["shown"] = len(text), len(shown)
    return out
