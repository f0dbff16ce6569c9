"""The responses of `tracewh serve`, and the token that a request needs beyond this machine."""

from __future__ import annotations

import secrets
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tracewh.cli.report.home import error_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from tracewh.cli.report.messages import TaskResult

#: Name of the cookie that holds the token, before the port.
COOKIE = "tracewh_token"
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def json_response(content: dict[str, Any], status: int = 200) -> Response:
    """Return JSON."""
    return Response(orjson.dumps(content), status, headers=HEADERS, media_type="application/json")


def task_response(result: TaskResult | None, state: str | None = None) -> Response:
    """Return the result of a task.

    Args:
        result: The result; None if the client disconnected before.
        state: What changes with each trace that the result depends on, if that is known.
    """
    if result is None:
        return json_response({"error": "the client disconnected"}, 499)
    headers = HEADERS if state is None else {**HEADERS, "ETag": f'"{state}"'}
    if result.is_page:
        return HTMLResponse(result.body, result.status, headers=headers)
    return Response(result.body, result.status, headers=headers, media_type="application/json")


class Token:
    """Middleware that requires the token: first in the URL, later in a cookie."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        cookie = _cookie_name(request)
        if self._is_token(request.query_params.get("token", "")):
            # No redirect: after a link on another site, a browser keeps the cookie of SameSite=Strict back until a page
            # of this server leads on.
            place = escape(_without_token(request))
            page = HTMLResponse(
                f'<!doctype html><meta http-equiv="refresh" content="0; url={place}">',
                headers=HEADERS,
            )
            page.set_cookie(cookie, self._token, httponly=True, samesite="strict")
            response: ASGIApp = page
        elif self._is_token(request.cookies.get(cookie, "")):
            response = self._app
        else:
            text = "open the URL that `tracewh serve` printed: it contains a token"
            is_for_script = request.url.path.startswith("/api/")
            response = (
                json_response({"error": text}, 403)
                if is_for_script
                else HTMLResponse(error_page(text), 403, headers=HEADERS)
            )
        await response(scope, receive, send)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _cookie_name(request: Request) -> str:
    """Return the name of the cookie: a browser sends the cookies of a host to all ports, and each server has a token."""
    port = request.headers.get("host", "").rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdecimal() else COOKIE


def _without_token(request: Request) -> str:
    """Return the same address without the token. It is relative, because a proxy may add a path."""
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
    page = quote(request.url.path.rpartition("/")[2])
    return f"./{page}?{urlencode(rest)}" if rest else f"./{page}"
