"""`tracewh serve`: the report over a whole warehouse, live in a browser.

Child processes read the warehouse: they are closed to everything but its files and can write nothing.
The server answers to the host it was told and to no other name, so that no page elsewhere can
ask it; beyond loopback it wants the token that it printed.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import secrets
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import OK
from tracewh.cli.report.live import PANELS
from tracewh.cli.report.messages import Answer, Question, Setup
from tracewh.cli.report.worker_pool import LineFullError, Pool
from tracewh.storage.remote import is_url
from tracewh.views.warehouse import find, listed

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: Name of the cookie that remembers the token.
COOKIE = "tracewh_token"
LAST_PORT = 65535
LONGEST_SECONDS = 24 * 3600
#: A query may take so long, and so much memory, unless the command line says otherwise.
SECONDS, MEMORY_MB = 10, 1000
#: A page or a panel, whose SQL is ours, may take so long.
PANEL_SECONDS = 60
#: So many queries run at a time, and so many wait; so many requests for pages, or for panels, wait.
QUERIES, WAITING, VISITORS = 4, 20, 1000
#: The largest body of a request.
MOST_BODY_BYTES = 1_000_000
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Token:
    """Lets through who has the token; once in the address, from then on in a cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if self._is_token(request.query_params.get("token", "")):
            response: ASGIApp = RedirectResponse("/", headers=HEADERS)
            assert isinstance(response, Response)
            response.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
        elif self._is_token(request.cookies.get(COOKIE, "")):
            response = self._app
        else:
            text = {"error": "open the address that `tracewh serve` printed: it holds a token"}
            response = _answer(text, 403)
        await response(scope, receive, send)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


class Site:
    """The child processes of a server: pages, panels and queries do not wait for each other.

    Args:
        warehouse: Folder or URL of the warehouse.
        seconds: A query may take so long.
        memory_mb: And so much memory.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """

    def __init__(self, warehouse: str, seconds: float, memory_mb: int) -> None:
        place = listed(warehouse) if is_url(warehouse) else str(find(warehouse))
        longer = max(seconds, PANEL_SECONDS)
        said = "the {} took more than {:g} seconds and was stopped; `tracewh serve --time-limit SECONDS` raises the limit"
        self.pages = Pool(Setup(place), 2, VISITORS, longer, said.format("page", longer))
        self.panels = Pool(Setup(place), 4, VISITORS, longer, said.format("panel", longer))
        self.queries = Pool(
            Setup(place, memory_mb, is_nice=True),
            QUERIES,
            WAITING,
            seconds,
            said.format("query", seconds),
        )

    async def answer(self, pool: Pool, question: Question, request: Request) -> Response:
        """The answer to a question, which is given up where its client leaves."""
        try:
            asked = pool.submit(question)
        except LineFullError as error:
            return _answer({"error": str(error)}, 503)
        left = asyncio.ensure_future(_left(request))
        answered: asyncio.Future[Answer] = asyncio.wrap_future(asked.answer)
        either: set[asyncio.Future[Any]] = {left, answered}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not answered.done():
                return _answer({"error": "the client left"}, 499)
            answer = answered.result()
        finally:
            left.cancel()
            asked.stop()
        if answer.is_page:
            return HTMLResponse(answer.body, answer.status, headers=HEADERS)
        return Response(answer.body, answer.status, headers=HEADERS, media_type="application/json")

    def close(self) -> None:
        """End all child processes."""
        for pool in (self.pages, self.panels, self.queries):
            pool.close()


async def _left(request: Request) -> None:
    """Wait until the client leaves."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request) -> bytes | None:
    """What a request carries; None where that is too large, which is known before all is read."""
    said = request.headers.get("content-length", "")
    if said.isdecimal() and int(said) > MOST_BODY_BYTES:
        return None
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY_BYTES:
            return None
    return bytes(body)


def application(
    warehouse: str,
    hosts: list[str],
    token: str | None = None,
    seconds: float = SECONDS,
    memory_mb: int = MEMORY_MB,
) -> Starlette:
    """The server as an ASGI application; `state.site` has to be closed.

    Args:
        warehouse: Folder or URL of the warehouse.
        hosts: Names that it answers to.
        token: What a visitor has to know; None where everyone may look.
        seconds: A query may take so long.
        memory_mb: And so much memory.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """
    site = Site(warehouse, seconds, memory_mb)

    async def page(request: Request) -> Response:
        question = Question("page", {"given": dict(request.query_params)})
        return await site.answer(site.pages, question, request)

    async def panel(request: Request) -> Response:
        name = request.path_params["id"]
        if name not in PANELS:
            return _answer({"error": "there is no such panel"}, 404)
        question = Question("panel", {"id": name, "given": dict(request.query_params)})
        return await site.answer(site.panels, question, request)

    async def sql(request: Request) -> Response:
        # A form of another site cannot send this type without being asked back first.
        if request.headers.get("content-type") != "application/json":
            return _answer({"error": "send application/json"}, 415)
        body = await _body(request)
        if body is None:
            return _answer({"error": "a query has at most 1 MB"}, 413)
        try:
            text = orjson.loads(body)["sql"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            text = None
        if not isinstance(text, str):
            return _answer({"error": 'send {"sql": "..."}'}, 400)
        return await site.answer(site.queries, Question("query", {"sql": text}), request)

    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)]
    if token is not None:
        middleware.append(Middleware(Token, token=token))
    app = Starlette(
        routes=[
            Route("/", page),
            Route("/api/panel/{id}", panel),
            Route("/api/sql", sql, methods=["POST"]),
        ],
        middleware=middleware,
    )
    app.state.site = site
    return app


def _answer(content: dict[str, Any], status: int = 200) -> Response:
    return Response(orjson.dumps(content), status, headers=HEADERS, media_type="application/json")


class _Server(uvicorn.Server):
    """Ends its child processes before it waits for the answers that they would give."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self._site.close()
        await super().shutdown(sockets)


def serve(
    warehouse: str, host: str, port: int, seconds: int = SECONDS, memory_mb: int = MEMORY_MB
) -> int:
    """Serve a warehouse until Ctrl-C, which is exit status 0."""
    if port > LAST_PORT:
        diagnostics.refuse(f"--port takes a number from 0 to {LAST_PORT}, not {port}")
    if seconds > LONGEST_SECONDS:
        diagnostics.refuse(f"--time-limit takes at most {LONGEST_SECONDS} seconds, a day")
    is_loopback = host in ("localhost", "::1") or _is_loopback(host)
    token = None if is_loopback else secrets.token_urlsafe(24)
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        # The message of Python repeats the address; an unknown name has a number of its own.
        is_known = error.errno is not None and not isinstance(error, socket.gaierror)
        reason = os.strerror(error.errno or 0) if is_known else error.strerror
        diagnostics.refuse(f"cannot listen on {host} port {port}: {reason}; try --port 0")
    hosts = [*LOOPBACK, host] if is_loopback else ["*"]
    with listening:
        app = application(warehouse, hosts, token, seconds, memory_mb)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/"
        secret = f"?{urlencode({'token': token}, quote_via=quote)}" if token else ""
        diagnostics.line(f"{address}{secret}  (Ctrl-C ends it)")
        config = uvicorn.Config(app, log_level="warning", lifespan="off")
        server = _Server(config, app.state.site)
        with contextlib.closing(app.state.site), contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    return OK


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
