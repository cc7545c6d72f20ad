"""A small web server on this machine that inspects the queries one types in.

It listens on 127.0.0.1 alone, answers to that name alone (so no page elsewhere can be led to it by
DNS), and changes nothing.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from ragpg.errors import ConfigError, NamespaceNotFound, RagpgError
from ragpg.inspection.page import as_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ragpg.inspection.inspect import Inspection

    Look = Callable[[Mapping[str, str]], Inspection]

#: What a form holds more than this of is no query.
_LONGEST = 100_000
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


class InspectServer(ThreadingHTTPServer):
    """Answers a form with fields q, n, k and answer by an inspection.

    look      makes an inspection from the fields
    defaults  what the fields are before anybody writes into them
    """

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is nobody's business, nor is what the end of the server breaks
        off; what else fails is told."""
        if not self._ending and not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def __init__(
        self, look: Look, defaults: Mapping[str, str], *, port: int = 0, depth: int = 12
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.look = look
        self.defaults = dict(defaults)
        self.depth = depth
        self._changed = threading.Condition()
        self._running = 0
        self._ending = False

    @contextmanager
    def inspecting(self) -> Iterator[bool]:
        """Counts as an inspection that runs; gives False where none may begin any more."""
        with self._changed:
            begins = not self._ending
            self._running += begins
        try:
            yield begins
        finally:
            with self._changed:
                self._running -= begins
                self._changed.notify_all()

    def settle(self, seconds: float) -> int:
        """Let no inspection begin, and wait for those that run; how many are left after so long."""
        with self._changed:
            self._ending = True
            self._changed.wait_for(lambda: not self._running, seconds)
            return self._running

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: InspectServer
    server_version = "ragpg"
    sys_version = ""

    def do_GET(self) -> None:
        port = self.server.server_port
        if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
            return self._answer(HTTPStatus.FORBIDDEN, self._page({}, "This server is local."))
        elsewhere = self.headers.get("Sec-Fetch-Site") == "cross-site"
        if elsewhere and self.headers.get("Sec-Fetch-Mode") != "navigate":
            return self._answer(HTTPStatus.FORBIDDEN, self._page({}, "This server is local."))
        asked = urlsplit(self.path)
        if asked.path != "/":
            return self._answer(HTTPStatus.NOT_FOUND, self._page({}, "There is only one page."))
        if len(asked.query) > _LONGEST:
            return self._answer(
                HTTPStatus.REQUEST_URI_TOO_LONG, self._page({}, "The query is too long.")
            )
        given = {
            name: values[-1]
            for name, values in parse_qs(asked.query, keep_blank_values=True).items()
        }
        with self.server.inspecting() as begins:
            if not begins:
                stopping = self._page({}, "This server is stopping.")
                return self._answer(HTTPStatus.SERVICE_UNAVAILABLE, stopping)
            return self._answer(*self._inspected(self.server.defaults | given))

    def _inspected(self, fields: Mapping[str, str]) -> tuple[HTTPStatus, str]:
        if not fields.get("q", "").strip():
            return HTTPStatus.OK, self._page(fields)
        try:
            found = self.server.look(fields)
        except NamespaceNotFound as error:
            return HTTPStatus.NOT_FOUND, self._page(fields, str(error))
        except ConfigError as error:
            return HTTPStatus.BAD_REQUEST, self._page(fields, str(error))
        except RagpgError as error:
            return HTTPStatus.SERVICE_UNAVAILABLE, self._page(fields, str(error))
        return HTTPStatus.OK, as_html(found, depth=self.server.depth, form=fields)

    def _page(self, fields: Mapping[str, str], error: str | None = None) -> str:
        return as_html(None, form=self.server.defaults | dict(fields), error=error)

    def _answer(self, status: HTTPStatus, page: str) -> None:
        body = page.encode("utf-8", "backslashreplace")
        try:
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            # The browser did not wait for it.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: queries are nobody's business, not even of a terminal."""
