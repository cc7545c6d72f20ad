"""A reranking service on the loopback that answers as a test says."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Service:
    """Gives its replies (status, headers, body) in order, the last one again and again."""

    def __init__(self, *replies: tuple[int, dict[str, str], Any]) -> None:
        self.replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.gate = threading.Event()
        self.gate.set()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                place = min(len(service.requests), len(service.replies) - 1)
                service.requests.append(body)
                service.headers.append({k.lower(): v for k, v in self.headers.items()})
                service.gate.wait(5)
                status, headers, reply = service.replies[place]
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_request(self, code: Any = None, size: Any = None) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v2/rerank"

    def stop(self) -> None:
        self.gate.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def results(*pairs: tuple[Any, Any]) -> tuple[int, dict[str, str], Any]:
    """A reply in the form of Cohere and Jina, of index and score."""
    return 200, {}, {"results": [{"index": i, "relevance_score": s} for i, s in pairs]}
