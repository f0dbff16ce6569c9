"""`tracewh serve`: a web server for the report of every run in a warehouse.

Child processes read the warehouse. They can open no other files and write nothing. The server accepts
only requests to its own host name, so that a page of another site cannot query it. On other addresses
than loopback it requires the token that it printed.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import ipaddress
import os
import secrets
import socket
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from tracewh.cli import diagnostics
from tracewh.cli.diagnostics.errors import OK
from tracewh.cli.report import libraries
from tracewh.cli.report.home import error_page, home_page
from tracewh.cli.report.live import PANELS
from tracewh.cli.report.messages import OK as HTTP_OK
from tracewh.cli.report.messages import Setup, Task, TaskResult
from tracewh.cli.report.response_cache import ResponseCache, key_of
from tracewh.cli.report.responses import HEADERS, Token, json_response, task_response
from tracewh.cli.report.sql_page import sql_page
from tracewh.cli.report.timeline import QUESTIONS
from tracewh.cli.report.worker_pool import Pool, QueueFullError
from tracewh.storage.remote import is_url
from tracewh.temporary import Temporary
from tracewh.views.warehouse import find, listed

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERY_ADDRESS = ("0.0.0.0", "::")  # what --host may name
LAST_PORT = 65535
LONGEST_SECONDS = 24 * 3600
#: Default limits of a query.
SECONDS, MEMORY_MB = 10, 1000
#: Address of Perfetto.
PERFETTO = "https://ui.perfetto.dev"
#: Time limit of a page or a panel, whose SQL is our own.
PANEL_SECONDS = 60
#: Time limit of the export of a trace. A million events take 10 s, or more on a busy machine.
TRACE_SECONDS = 600
#: Processes for pages, for panels and for timelines.
PROCESSES = 2, 4, 2
#: Queries that run at a time, queries that may wait, and pages or panels that may wait.
QUERIES, WAITING, VISITORS = 4, 60, 1000
#: How long a server that ends waits for clients to read the rest of their answers.
LAST_SECONDS = 5
#: How long a connection may be idle. The home page asks every five seconds, and uvicorn's own limit is five, so that
#: each of its polls would need a new connection.
IDLE_SECONDS = 75
#: Media types of the files that a query can be exported to.
EXPORTS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
#: Maximum size of all responses in the cache.
CACHE_BYTES = 100_000_000
#: The parameters of the page of a trace. Without any of them, `/` is the home page.
NAMES = {"run", "worker", "span", "baseline"}
#: The largest body of a request.
MOST_BODY_BYTES = 1_000_000


class Site:
    """The child processes of a server, in separate pools for pages, panels, timelines and queries.

    Args:
        warehouse: Folder or URL of the warehouse.
        seconds: Time limit of a query.
        memory_mb: Memory limit of a query.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """

    def __init__(self, warehouse: str, seconds: float, memory_mb: int) -> None:
        place = listed(warehouse) if is_url(warehouse) else str(find(warehouse))
        longer = max(seconds, PANEL_SECONDS)
        too_long = "the {} took more than {{:g}} seconds and was stopped; `tracewh serve --time-limit SECONDS` raises the limit"
        own = Setup(place, memory_mb, sum(PROCESSES))
        self.pages = Pool(own, PROCESSES[0], VISITORS, longer, too_long.format("page"))
        self.panels = Pool(own, PROCESSES[1], VISITORS, longer, too_long.format("answer"))
        # A zoom does not wait for panels.
        self.timelines = Pool(own, PROCESSES[2], VISITORS, longer, too_long.format("answer"))
        self.queries = Pool(
            Setup(place, memory_mb, is_nice=True),
            QUERIES,
            WAITING,
            seconds,
            too_long.format("query"),
        )
        self._cache = ResponseCache(CACHE_BYTES)
        self._exports = Temporary()
        self.most_bytes = memory_mb * 10**6
        self.trace_seconds = max(seconds, TRACE_SECONDS)

    async def send_file(
        self, pool: Pool, task: Task, name: str, media_type: str, request: Request
    ) -> Response:
        """Run a task that writes a file, and send that."""
        descriptor, made = tempfile.mkstemp(dir=self._exports.path)
        os.close(descriptor)
        path = Path(made)
        writing = dataclasses.replace(task, arguments={**task.arguments, "path": made})
        response = await self.respond(pool, writing, request)
        if response.status_code != HTTP_OK:
            path.unlink()
            return response
        return FileResponse(
            path,
            headers=HEADERS,
            media_type=media_type,
            filename=name,
            background=BackgroundTask(path.unlink, missing_ok=True),
        )

    async def respond(self, pool: Pool, task: Task, request: Request) -> Response:
        """Run a task and return its response; cancel it if the client disconnects."""
        try:
            return task_response(await self._result(pool, task, request))
        except QueueFullError as error:
            return json_response({"error": str(error)}, 503)

    async def recall(self, pool: Pool, task: Task, request: Request) -> Response:
        """Return the response to the same task as before if no trace has changed since, else run it."""
        needed = {"given": task.arguments["given"], "has_all_runs": task.kind == "page"}
        try:
            state = await self._result(self.pages, Task("state", needed), request)
            if state is None or state.status != HTTP_OK:  # the task finds the same error
                return await self.respond(pool, task, request)
            key = key_of(task, state.body)
            tag = orjson.loads(state.body)["state"]
            if known := self._cache.get(key):
                return task_response(known, tag)
            running = self._cache.join(key, lambda: pool.submit(task))
        except QueueFullError as error:
            return json_response({"error": str(error)}, 503)
        try:
            return task_response(await _finished(running.finished, request), tag)
        finally:
            self._cache.leave(key, running)

    async def _result(self, pool: Pool, task: Task, request: Request) -> TaskResult | None:
        """Run a task; None if the client disconnects, which cancels it."""
        pending = pool.submit(task)
        try:
            return await _finished(asyncio.wrap_future(pending.future), request)
        finally:
            pending.stop()

    def close(self) -> None:
        """End all child processes."""
        for pool in (self.pages, self.panels, self.timelines, self.queries):
            pool.close()
        self._exports.close()


async def _finished(finished: asyncio.Future[TaskResult], request: Request) -> TaskResult | None:
    """Wait for a result; None if the client disconnects before."""
    disconnected = asyncio.ensure_future(_disconnected(request))
    either: set[asyncio.Future[Any]] = {disconnected, finished}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        return finished.result() if finished.done() else None
    finally:
        disconnected.cancel()


async def _disconnected(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request) -> bytes | None:
    """Read the body of a request; return None as soon as it is too large."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > MOST_BODY_BYTES:
        return None
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY_BYTES:
            return None
    return bytes(body)


async def _query(request: Request) -> dict[str, Any] | Response:
    """Return the content of a request with SQL, or the response that refuses it."""
    # A form of another site cannot send this content type without a CORS preflight.
    if request.headers.get("content-type") != "application/json":
        return json_response({"error": "the content type must be application/json"}, 415)
    body = await _body(request)
    if body is None:
        return json_response({"error": "the query is larger than 1 MB"}, 413)
    try:
        given = orjson.loads(body)
        text = given["sql"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        text = None
    if not isinstance(text, str):
        return json_response({"error": 'the body must be {"sql": "..."}'}, 400)
    found: dict[str, Any] = given
    return found


def application(
    warehouse: str,
    hosts: list[str],
    token: str | None = None,
    seconds: float = SECONDS,
    memory_mb: int = MEMORY_MB,
    perfetto: str = PERFETTO,
) -> Starlette:
    """Return the server as an ASGI application. The caller must close its `state.site`.

    Args:
        warehouse: Folder or URL of the warehouse.
        hosts: Host names that the server accepts.
        token: Token that each request must carry; None for access without a token.
        seconds: Time limit of a query.
        memory_mb: Memory limit of a query.
        perfetto: Address of the page of Perfetto to which the page of a run can hand over a trace.

    Raises:
        WarehouseError: There is no warehouse, or it holds no traces.
    """
    site = Site(warehouse, seconds, memory_mb)

    async def page(request: Request) -> Response:
        if not NAMES & request.query_params.keys():
            return HTMLResponse(home_page(), headers=HEADERS)
        task = Task("page", {"given": dict(request.query_params), "perfetto": perfetto})
        found = await site.recall(site.pages, task, request)
        if found.status_code == HTTP_OK:
            return found
        said = orjson.loads(found.body)["error"]
        return HTMLResponse(error_page(said), found.status_code, headers=HEADERS)

    async def queries(request: Request) -> Response:
        return HTMLResponse(sql_page(), headers=HEADERS)

    async def runs(request: Request) -> Response:
        task = Task("runs", {"known": request.query_params.get("known", "")})
        return await site.respond(site.pages, task, request)

    async def figures(request: Request) -> Response:
        task = Task("figures", {"runs": request.query_params.getlist("run")})
        return await site.respond(site.pages, task, request)

    async def panel(request: Request) -> Response:
        name = request.path_params["id"]
        if name not in PANELS:
            return json_response({"error": "unknown panel"}, 404)
        task = Task("panel", {"id": name, "given": dict(request.query_params)})
        return await site.recall(site.panels, task, request)

    async def timeline(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in QUESTIONS:
            return json_response({"error": "unknown question"}, 404)
        task = Task("timeline", {"kind": kind, "given": dict(request.query_params)})
        return await site.recall(site.timelines, task, request)

    async def sql(request: Request) -> Response:
        given = await _query(request)
        if isinstance(given, Response):
            return given
        return await site.respond(site.queries, Task("query", {"sql": given["sql"]}), request)

    async def export(request: Request) -> Response:
        given = await _query(request)
        if isinstance(given, Response):
            return given
        kind = given.get("format")
        if not isinstance(kind, str) or kind not in EXPORTS:
            return json_response({"error": f"the format must be {' or '.join(EXPORTS)}"}, 400)
        arguments = {"sql": given["sql"], "format": kind, "most_bytes": site.most_bytes}
        task = Task("export", arguments)
        return await site.send_file(site.queries, task, f"tracewh.{kind}", EXPORTS[kind], request)

    async def trace_file(request: Request) -> Response:
        given = {"given": dict(request.query_params)}
        task = Task("trace_file", given, seconds=site.trace_seconds)
        return await site.send_file(
            site.panels, task, "tracewh.json.gz", "application/gzip", request
        )

    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)]
    if token is not None:
        middleware.append(Middleware(Token, token=token))
    app = Starlette(
        routes=[
            Route("/", page),
            Route("/api/runs", runs),
            Route("/api/figures", figures),
            Route("/api/panel/{id}", panel),
            Route("/api/timeline/{kind}", timeline),
            Route("/sql", queries),
            Route("/api/sql", sql, methods=["POST"]),
            Route("/api/export", export, methods=["POST"]),
            Route("/api/trace", trace_file),
        ],
        middleware=middleware,
    )
    app.state.site = site
    return app


class _Server(uvicorn.Server):
    """A server that ends its child processes before it waits for open requests, and does not wait for long."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut the server down."""
        self._site.close()
        asyncio.get_running_loop().call_later(LAST_SECONDS, self._disconnect)
        await super().shutdown(sockets)

    def _disconnect(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def run_server(
    warehouse: str,
    host: str,
    port: int,
    seconds: int = SECONDS,
    memory_mb: int = MEMORY_MB,
    perfetto: str = PERFETTO,
) -> int:
    """Serve a warehouse until Ctrl-C, which is exit status 0."""
    if port > LAST_PORT:
        diagnostics.usage_error(f"--port takes a number from 0 to {LAST_PORT}, not {port}")
    if seconds > LONGEST_SECONDS:
        diagnostics.usage_error(f"--time-limit takes at most {LONGEST_SECONDS} seconds (a day)")
    if not host:  # would be every address of this machine
        diagnostics.usage_error(f"--host takes an address, e.g. {LOOPBACK[0]}, not {host!r}")
    place = urlsplit(perfetto)
    if place.scheme not in ("http", "https") or not place.netloc:
        diagnostics.usage_error(f"--perfetto takes an address like {PERFETTO}, not {perfetto!r}")
    libraries.check()
    is_loopback = host in ("localhost", "::1") or _is_loopback(host)
    token = None if is_loopback else secrets.token_urlsafe(24)
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        # Python's own message repeats the address. It raises another error in the place of that of an unknown name.
        is_unknown = isinstance(error.__context__, socket.gaierror)
        if is_unknown or error.errno == errno.EADDRNOTAVAIL:
            reason = f"it is no address of this machine; try --host {LOOPBACK[0]}"
        else:
            reason = f"{os.strerror(error.errno or 0)}; try --port 0"
        diagnostics.usage_error(f"cannot listen on {host} port {port}: {reason}")
    hosts = [*LOOPBACK, host] if is_loopback else ["*"]
    with listening:
        app = application(warehouse, hosts, token, seconds, memory_mb, perfetto)
        port = listening.getsockname()[1]
        secret = f"?{urlencode({'token': token}, quote_via=quote)}" if token else ""
        # 0.0.0.0 is every address of this machine, and for others none.
        shown = socket.gethostname() if host in EVERY_ADDRESS else host
        address = f"http://[{shown}]" if ":" in shown else f"http://{shown}"
        diagnostics.line(f"{address}:{port}/{secret}  (press Ctrl-C to stop)")
        if host in EVERY_ADDRESS:
            here = LOOPBACK[2] if ":" in host else LOOPBACK[0]
            diagnostics.line(f"http://{here}:{port}/{secret}  (on this machine)")
        config = uvicorn.Config(
            app, log_level="warning", lifespan="off", timeout_keep_alive=IDLE_SECONDS
        )
        server = _Server(config, app.state.site)
        with contextlib.closing(app.state.site), contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    return OK


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
