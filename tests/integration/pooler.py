"""A transaction pooler in a page: clients share server connections, handed out a transaction at a
time and never reset, as PgBouncer does in transaction mode. Trust authentication only."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psycopg.conninfo import conninfo_to_dict

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_CANCEL, _SSL, _GSS = 80877102, 80877103, 80877104


@dataclass
class _Server:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    greeting: bytes = b""
    key: bytes = b""


@dataclass
class Pooler:
    """Listens on 127.0.0.1; `dsn` is its address. `leases` counts transactions handed out."""

    target: str
    size: int = 2
    leases: int = 0
    port: int = 0
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    @property
    def dsn(self) -> str:
        place = f"host=127.0.0.1 port={self.port} dbname={self._place['dbname']}"
        return f"{place} user=postgres sslmode=disable gssencmode=disable"

    def __enter__(self) -> Self:
        self._place = {key: str(value) for key, value in conninfo_to_dict(self.target).items()}
        started = threading.Event()

        def work() -> None:
            self._loop.run_until_complete(self._start())
            started.set()
            self._loop.run_forever()

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._servers: asyncio.Queue[_Server] = asyncio.Queue()
        self._all: list[_Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        for _ in range(self.size):
            self._servers.put_nowait(await self._connect())
        self._listener = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for server in self._all:
            server.writer.close()
            with contextlib.suppress(OSError):
                await server.writer.wait_closed()

    async def _connect(self) -> _Server:
        host, port = self._place.get("host", "localhost"), self._place.get("port", "5432")
        if host.startswith("/"):
            streams = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            streams = await asyncio.open_connection(host, int(port))
        server = _Server(*streams)
        words = ["user", self._place.get("user", "postgres"), "database", self._place["dbname"]]
        body = struct.pack("!i", 196608) + b"".join(word.encode() + b"\0" for word in words) + b"\0"
        server.writer.write(struct.pack("!i", len(body) + 4) + body)
        while True:
            kind, message = await _message(server.reader)
            if kind == b"R" and message[5:9] != b"\0\0\0\0":
                raise RuntimeError("the pooler of the tests knows trust authentication only")
            if kind == b"K":
                server.key = message[5:]
                # Clients are shown a process of the pooler's own making.
                message = message[:5] + struct.pack("!ii", 1, 1)
            server.greeting += message
            if kind == b"Z":
                self._all.append(server)
                return server

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
            await self._serve(reader, writer)
        writer.close()
        self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            [length] = struct.unpack("!i", await reader.readexactly(4))
            body = await reader.readexactly(length - 4)
            [code] = struct.unpack("!i", body[:4])
            if code not in (_SSL, _GSS):
                break
            writer.write(b"N")
        if code == _CANCEL:
            return
        writer.write(self._all[0].greeting)
        inbox: asyncio.Queue[tuple[bytes, bytes]] = asyncio.Queue()

        async def read() -> None:
            with contextlib.suppress(asyncio.IncompleteReadError, OSError):
                while True:
                    inbox.put_nowait(await _message(reader))
            inbox.put_nowait((b"X", b""))

        reading = asyncio.create_task(read())
        try:
            await self._lease(inbox, writer)
        finally:
            reading.cancel()

    async def _lease(
        self, inbox: asyncio.Queue[tuple[bytes, bytes]], writer: asyncio.StreamWriter
    ) -> None:
        while True:
            kind, message = await inbox.get()
            if kind == b"X":
                return
            server = await self._servers.get()
            self.leases += 1
            try:
                await self._transaction(server, kind, message, inbox, writer)
            except BaseException:
                # The client went away in a transaction: its connection is of no use any more.
                server.writer.close()
                server = await asyncio.shield(self._connect())
                raise
            finally:
                self._servers.put_nowait(server)

    async def _transaction(
        self,
        server: _Server,
        kind: bytes,
        message: bytes,
        inbox: asyncio.Queue[tuple[bytes, bytes]],
        writer: asyncio.StreamWriter,
    ) -> None:
        """Pass messages both ways until the server is idle outside of a transaction."""
        waiting = 0
        upward: asyncio.Task[tuple[bytes, bytes]] | None = None
        downward: asyncio.Task[tuple[bytes, bytes]] | None = None
        try:
            while True:
                if message:
                    server.writer.write(message)
                    waiting += kind in (b"Q", b"S", b"F")
                    message = b""
                upward = upward or asyncio.create_task(inbox.get())
                downward = downward or asyncio.create_task(_message(server.reader))
                await asyncio.wait({upward, downward}, return_when=asyncio.FIRST_COMPLETED)
                if downward.done():
                    came, body = downward.result()
                    downward = None
                    writer.write(body)
                    waiting -= came == b"Z"
                    if came == b"Z" and body[5:6] == b"I" and not waiting:
                        await writer.drain()
                        if upward is None or not upward.done():
                            return
                if upward is not None and upward.done():
                    kind, message = upward.result()
                    upward = None
                    if kind == b"X":
                        raise ConnectionResetError
        finally:
            for task in (upward, downward):
                if task is not None:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    [length] = struct.unpack("!i", head[1:])
    return head[:1], head + await reader.readexactly(length - 4)
