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
            source = str(body.get("source") or "")
            markup = None
            if body.get("id") and source.lower().endswith((".html", ".htm")):
                markup = calls.base.raw(given["id"], language=given.get("language")).text
            return {**with_html(body, whole, markup), "trail": [node.as_json() for node in trail]}

        return answer(request, await calls.do(work))

    return [
        Route("/", page, methods=["GET"]),
        Route("/tree", page, methods=["GET"]),
        Route("/section/{id:path}", page, methods=["GET"]),
        Route("/render/{id:path}", rendered, methods=["GET"]),
        Mount("/static", _Files(directory=STATIC)),
    ]


def with_html(body: Body, whole: bool, markup: str | None = None) -> Body:
    """Return a section with its body as HTML under `html`; a very long one is cut at a line unless it is wanted whole.

    `markup`: the lines of the file where they are HTML themselves; without it the body is Markdown.
    """
    from kb.surfaces.web.render import html, sanitised

    text = body.get("body", "") if markup is None else markup
    cut = len(text) if whole else _RENDERED
    shown = text if len(text) <= cut else text[:cut].rpartition("\n")[0] or text[:cut]
    out = {key: value for key, value in body.items() if key != "body"}
    as_html = html if markup is None else sanitised
    out["html"] = as_html(shown, body.get("source"), body.get("collection", ""))
    out["characters"], out["shown"] = len(text), len(shown)
    return out
