"""`tracewh serve`: the report over a whole warehouse, asked for as one looks at it.

What it reads is closed to everything but the warehouse's files, and nothing can be written. It answers
to the host it was told and to no other name, so that no page elsewhere can ask it; beyond loopback it
wants the token that it printed.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import ipaddress
import os
import secrets
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import duckdb
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

import tracewh
from tracewh.cli import diagnostics
from tracewh.cli.query import check
from tracewh.cli.report.page import asked, document
from tracewh.cli.report.panels import COMPARED, MOST_ROWS, SECTIONS
from tracewh.cli.report.rows import by_column
from tracewh.cli.report.write import chosen
from tracewh.views import Registry, ViewError
from tracewh.views.warehouse import WarehouseError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tracewh.views.warehouse import Warehouse

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: Name of the cookie that remembers the token.
COOKIE = "tracewh_token"
LAST_PORT = 65535
#: A query may take this long.
SECONDS = 60
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
PANELS = {panel.id: panel for section in (COMPARED, *SECTIONS) for panel in section.panels}


class Asker:
    """A warehouse on a thread of its own: one question at a time, each within a limit of time."""

    def __init__(self, path: str) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._warehouse: Warehouse = self._pool.submit(self._open, path).result()

    @staticmethod
    def _open(path: str) -> Warehouse:
        warehouse = tracewh.open(path)
        warehouse.confine()
        return warehouse

    async def ask(self, question: Callable[[Warehouse], dict[str, Any] | str]) -> Response:
        """What a question gives: a page, or an object; its error as an object."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._pool, self._within_limit, question)
        except (diagnostics.CliError, ViewError, WarehouseError) as error:
            return _answer({"error": str(error)}, 400)
        except duckdb.InterruptException:
            return _answer({"error": f"it took more than {SECONDS} seconds: ask for less"}, 400)
        except duckdb.Error as error:
            return _answer({"error": str(error)}, 400)
        return HTMLResponse(found, headers=HEADERS) if isinstance(found, str) else _answer(found)

    def _within_limit(
        self, question: Callable[[Warehouse], dict[str, Any] | str]
    ) -> dict[str, Any] | str:
        timer = threading.Timer(SECONDS, self._warehouse.interrupt)
        timer.start()
        try:
            return question(self._warehouse)
        finally:
            timer.cancel()


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


def application(warehouse: str, hosts: list[str], token: str | None = None) -> Starlette:
    """The server as an ASGI application.

    Args:
        warehouse: Folder or URL of the warehouse.
        hosts: Names that it answers to.
        token: What a visitor has to know; None where everyone may look.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """
    asker = Asker(warehouse)

    async def page(request: Request) -> Response:
        return await asker.ask(lambda opened: _page(opened, request))

    async def panel(request: Request) -> Response:
        wanted = PANELS.get(request.path_params["id"])
        if wanted is None:
            return _answer({"error": "there is no such panel"}, 404)
        return await asker.ask(lambda opened: asked(opened, wanted, _trace(opened, request)))

    async def sql(request: Request) -> Response:
        # A form of another site cannot send this type without being asked back first.
        if request.headers.get("content-type") != "application/json":
            return _answer({"error": "send application/json"}, 415)
        try:
            text = orjson.loads(await request.body())["sql"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            text = None
        if not isinstance(text, str):
            return _answer({"error": 'send {"sql": "..."}'}, 400)
        return await asker.ask(lambda opened: _asked(opened, text))

    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)]
    if token is not None:
        middleware.append(Middleware(Token, token=token))
    return Starlette(
        routes=[
            Route("/", page),
            Route("/api/panel/{id}", panel),
            Route("/api/sql", sql, methods=["POST"]),
        ],
        middleware=middleware,
    )


def _answer(content: dict[str, Any], status: int = 200) -> Response:
    text = orjson.dumps(content, default=str)
    return Response(text, status, headers=HEADERS, media_type="application/json")


def _trace(warehouse: Warehouse, request: Request) -> Any:
    given = request.query_params
    run = given.get("run")
    if run is None:
        [(run,)] = warehouse.sql("FROM traces SELECT run ORDER BY start_ns DESC LIMIT 1").fetchall()
    return chosen(warehouse, run, given.get("worker"), given.get("span"), given.get("baseline"))


def _page(warehouse: Warehouse, request: Request) -> str:
    trace = _trace(warehouse, request)
    traces = warehouse.sql("FROM traces SELECT run, worker, span ORDER BY ALL").fetchall()
    runs = dict.fromkeys(row[0] for row in traces)
    workers = dict.fromkeys(row[1] for row in traces if row[0] == trace.run)
    spans = dict.fromkeys(row[2] for row in traces if row[:2] == (trace.run, trace.worker))
    header = (
        '<h1 class="product">tracewh</h1>\n'
        + _choice("run", runs, trace.run)
        + _choice("worker", workers, trace.worker)
        + _choice("span", spans, trace.span)
        + _choice("baseline", {"": None, **runs}, trace.baseline or "")
    )
    return "".join(document(trace, header, before=_ask_box(warehouse, trace)))


def _choice(name: str, values: dict[str, None], current: str) -> str:
    options = "".join(
        f'<option value="{html.escape(value)}"{" selected" if value == current else ""}>'
        f"{html.escape(value)}</option>"
        for value in values
    )
    return (
        f'<label class="picker">{name.capitalize()} <select data-choice="{name}">{options}</select>'
        "</label>\n"
    )


def _ask_box(warehouse: Warehouse, trace: Any) -> str:
    """Where one asks any view or writes SQL."""
    chosen_views = "".join(
        f'<option data-sql="{html.escape(text)}" title="{html.escape(view.summary)}">'
        f"{html.escape(view.name)}</option>"
        for view in warehouse.registry.newest()
        if (text := _example(warehouse.registry, view.name, trace))
    )
    return f"""<section id="sql" aria-labelledby="sql-title">
<h2 id="sql-title">Ask</h2>
<article id="ask" aria-label="SQL">
<div class="controls"><label class="picker">View <select><option data-sql="">…</option>\
{chosen_views}</select></label></div>
<textarea rows="4" spellcheck="false" aria-label="SQL" \
placeholder="FROM operator_stats() LIMIT 10"></textarea>
<div class="controls"><button type="button">Run</button><span class="said" aria-live="polite">\
Ctrl+Enter runs it.</span></div>
<div class="content"></div>
</article>
</section>
"""


def _example(registry: Registry, name: str, trace: Any) -> str | None:
    """How to ask a view about a trace; None where that needs more than the trace."""
    from tracewh.views.values import quoted

    params = registry.get(name).params
    if any(param.required for param in params):
        return None
    known = {"run": trace.run, "worker": trace.worker, "span": trace.span}
    given = ", ".join(
        f"{param.name} := {quoted(known[param.name])}" for param in params if param.name in known
    )
    return f"FROM {name}({given})"


def _asked(warehouse: Warehouse, sql: str) -> dict[str, Any]:
    if check(sql):
        text = warehouse.sql(sql).fetchall()[-1][-1]
        diagnostics.refuse(text)  # a plan is to be read as it is
    found = by_column(warehouse.sql(sql).limit(MOST_ROWS + 1), {})
    is_cut = found["rows"] > MOST_ROWS
    if is_cut:
        found |= {"values": [v[:MOST_ROWS] for v in found["values"]], "rows": MOST_ROWS}
    said = f"The first {MOST_ROWS:,} rows." if is_cut else f"{found['rows']:,} rows."
    return {**found, "chart": None, "said": said}


def serve(warehouse: str, host: str, port: int) -> int:
    """Serve a warehouse until Ctrl-C, which is exit status 0."""
    if port > LAST_PORT:
        diagnostics.refuse(f"--port takes a number from 0 to {LAST_PORT}, not {port}")
    is_loopback = host in ("localhost", "::1") or _is_loopback(host)
    token = None if is_loopback else secrets.token_urlsafe(24)
    app = application(warehouse, [*LOOPBACK, host] if is_loopback else ["*"], token)
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        # The message of Python repeats the address; an unknown name has a number of its own.
        is_known = error.errno is not None and not isinstance(error, socket.gaierror)
        reason = os.strerror(error.errno or 0) if is_known else error.strerror
        diagnostics.refuse(f"cannot listen on {host} port {port}: {reason}; try --port 0")
    with listening:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}/"
        secret = f"?{urlencode({'token': token}, quote_via=quote)}" if token else ""
        diagnostics.line(f"{address}{secret}  (Ctrl-C ends it)")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    return diagnostics.OK


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
