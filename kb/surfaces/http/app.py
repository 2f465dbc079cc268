"""The application that `kb serve` runs: the API, MCP at /mcp, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from kb.base import KnowledgeBase
from kb.errors import ArgumentError, KBError
from kb.surfaces.calls import Calls
from kb.surfaces.http import openapi
from kb.surfaces.http.arguments import from_json, from_query
from kb.surfaces.http.guard import App, Guard, Refused, Rules
from kb.surfaces.http.responses import answer, status_of
from kb.surfaces.operations.model import Operation
from kb.surfaces.operations.registry import operations, writable
from kb.surfaces.operations.run import error_body
from kb.surfaces.versions import version

Endpoint = Callable[[Request], Awaitable[Response]]


def application(base: KnowledgeBase, rules: Rules) -> App:
    """Return the ASGI application over a base; `rules` say who may ask."""
    from kb.surfaces.mcp.server import sessions
    from kb.surfaces.web.routes import page_routes

    calls = Calls(base)
    offered = operations(writable=writable(base))
    described = openapi.describe(offered, version(), rules.token is not None)
    manager, mcp = sessions(calls, offered)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(manager.run())
            stack.callback(calls.close)
            yield

    routes: list[BaseRoute] = [route for asked in offered for route in _routes(calls, asked)]
    routes += [
        Route("/health", _health, methods=["GET"]),
        Route("/openapi.json", _fixed(described), methods=["GET"]),
        Route("/mcp", mcp),
        *page_routes(calls),
    ]
    middleware = [Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)]
    if rules.origins:
        middleware.insert(
            0,
            Middleware(
                CORSMiddleware,
                allow_origins=list(rules.origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=[
                    "authorization",
                    "content-type",
                    "mcp-protocol-version",
                    "mcp-session-id",
                    "mcp-method",
                    "mcp-name",
                ],
                expose_headers=["mcp-session-id"],
            ),
        )
    app = Starlette(
        routes=routes,
        middleware=middleware,
        lifespan=lifespan,
        exception_handlers={KBError: _failed, HTTPException: _refused, Refused: _stopped},
    )
    app.router.redirect_slashes = False
    return Guard(app, rules)


def _routes(calls: Calls, asked: Operation) -> list[BaseRoute]:
    path = f"/api/{asked.name}"

    async def get(request: Request) -> Response:
        given = from_query(asked, request.query_params.multi_items())
        if asked.key is not None and asked.key in request.path_params:
            if asked.key in given:
                raise ArgumentError(f"{asked.key} stands in the path and in the query; give it once")
            given[asked.key] = request.path_params[asked.key]
        return answer(request, await calls.run(asked, given))

    async def post(request: Request) -> Response:
        kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise HTTPException(415, "send the arguments as application/json")
        return answer(request, await calls.run(asked, from_json(await request.body())))

    routes: list[BaseRoute] = [Route(path, post, methods=["POST"], name=f"{asked.name}_json")]
    if not asked.writes:
        routes[0] = Route(path, _either(get, post), methods=["GET", "POST"], name=asked.name)
        if asked.key is not None:
            routes.append(Route(f"{path}/{{{asked.key}:path}}", get, methods=["GET"], name=f"{asked.name}_one"))
    return routes


def _either(get: Endpoint, post: Endpoint) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await (post if request.method == "POST" else get)(request)

    return endpoint


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "version": version()}, headers={"cache-control": "no-store"})


def _fixed(body: dict[str, Any]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return answer(request, body)

    return endpoint


async def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, KBError)
    return JSONResponse(error_body(error), status_code=status_of(error))


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "there is no such address; /openapi.json lists them", 405: "this address does not take that method"}
    headers = dict(error.headers or {})
    return JSONResponse({"error": messages.get(error.status_code, error.detail)}, status_code=error.status_code, headers=headers)


async def _stopped(_: Request, error: Exception) -> Response:
    # A body that turned out too large while it was read.
    assert isinstance(error, Refused)
    return JSONResponse({"error": str(error)}, status_code=error.status, headers={"connection": "close"})
