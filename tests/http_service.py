"""A service on the loopback that answers POST requests as a test says."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

#: Status, headers and body: bytes as they are, anything else as JSON.
Reply = tuple[int, dict[str, str], Any]


class HttpService:
    """Records the bodies of requests; `reply` decides what comes back."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, headers, reply = service.reply(
                    body, {key.lower(): value for key, value in self.headers.items()}
                )
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                try:
                    self.send_response(status)
                    for name, value in {"content-type": "application/json", **headers}.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                # Who asked was killed, or has given up.
                except OSError:
                    pass

            def log_request(self, code: Any = None, size: Any = None) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def reply(self, body: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """What a request is answered with."""
        raise NotImplementedError

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
