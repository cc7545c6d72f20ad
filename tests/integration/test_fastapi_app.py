"""The example application: tenants, events, sources at the line, and users who hang up."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ProviderError
from ragpg.settings import Settings
from ragpg.testing import HashEmbedder
from ragpg.types import Usage

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import httpx
import uvicorn
from fastapi_app.app import create_app
from fastapi_app.sources import lines_of
from fastapi_app.tenants import Tenant, read_tenants

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    import psycopg
    from fastapi import FastAPI

    from ragpg import Client

REFUND = "# Money\n\nAsk the desk.\n\n\n\nRefunds take 5 working days.\n\nThen ring <us>."
KEY = {"X-Api-Key": "key-of-acme"}
TENANTS = {
    "key-of-acme": Tenant("acme", ("acme", "shared")),
    "key-of-zeta": Tenant("zeta", ("zeta",)),
}
QUESTION = {"question": "How long do refunds take?"}
PIECES = ["Refunds ", "take ", "5 working ", "days [1]."]


class Typist:
    """A chat model that types slowly, and counts who began and who ended."""

    model = "typist"

    def __init__(self, pause: float = 0.0, error: Exception | None = None) -> None:
        self.pause = pause
        self.error = error
        self.begun = 0
        self.ended = 0

    async def agenerate(self, messages: Sequence[Mapping[str, str]], **_: Any) -> tuple[str, Usage]:
        raise AssertionError("it can stream")

    async def astream(
        self, messages: Sequence[Mapping[str, str]], **_: Any
    ) -> AsyncIterator[str | Usage]:
        self.begun += 1
        try:
            for piece in PIECES:
                await asyncio.sleep(self.pause)
                yield piece
                if self.error is not None:
                    raise self.error
            yield Usage(10, 4)
        finally:
            self.ended += 1


@pytest.fixture
def filled(rag: Client) -> Client:
    rag.ingest(texts=[("guides/refund policy.md", REFUND)], namespace="acme")
    rag.ingest(texts=[("parcels.md", "Parcels leave at noon.")], namespace="shared")
    rag.ingest(texts=[("secret.md", "Refunds of zeta are secret.")], namespace="zeta")
    return rag


@pytest.fixture
def app_of(filled: Client, database: str) -> Callable[[Any], FastAPI]:
    def make(generator: Any) -> FastAPI:
        settings = Settings(pool_size=4)
        return create_app(
            lambda: ragpg.aconnect(
                database, embedder=HashEmbedder(32), generator=generator, settings=settings
            ),
            TENANTS,
        )

    return make


@asynccontextmanager
async def browser(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client in this process."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://app", headers=KEY) as client,
    ):
        yield client


def events_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in text.strip().split("\n\n"):
        kind, data = block.split("\n")
        found.append((kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_a_search_and_its_source_at_the_line(app_of: Callable[[Any], FastAPI]) -> None:
    async def use() -> None:
        async with browser(app_of(None)) as client:
            found = (await client.post("/search", json={"query": "refund days"})).json()
            best = found["hits"][0]
            assert {one["namespace"] for one in found["hits"]} <= {"acme", "shared"}
            assert best["source"] == "guides/refund policy.md"
            assert best["link"].startswith(
                "/sources/acme/guides/refund%20policy.md?first=1&last=9#L1"
            )
            page = (await client.get(best["link"])).text
            assert '<li id="L7" value="7" aria-current="true"><code>Refunds take 5' in page
            assert "ring &lt;us&gt;." in page
            other = (await client.get("/sources/acme/guides/refund policy.md?first=7&last=7")).text
            assert other.count('aria-current="true"') == 1
            assert "Ask" in (await client.get("/")).text
            assert (await client.get("/namespaces")).json()["tenant"] == "acme"

    asyncio.run(use())


def test_nobody_sees_another_tenant(app_of: Callable[[Any], FastAPI]) -> None:
    async def use() -> list[int]:
        async with browser(app_of(Typist())) as client:
            asked = {"query": "refund", "namespaces": ["zeta"]}
            missing = {"query": "refund", "namespaces": ["nowhere"]}
            replies = [
                await client.post("/search", json=asked),
                await client.post("/search", json=missing),
                await client.post("/ask", json={**QUESTION, "namespaces": ["acme", "zeta"]}),
                await client.get("/sources/zeta/secret.md"),
                await client.get("/sources/acme/secret.md"),
                await client.post("/search", json={"query": "x"}, headers={"X-Api-Key": "wrong"}),
                await client.get("/namespaces", headers={"X-Api-Key": ""}),
                await client.post("/search", json={"query": "x", "filter": {"a": {"near": 1}}}),
            ]
            assert all("secret" not in one.text.replace("secret.md", "") for one in replies)
            own = await client.post(
                "/search", json={"query": "refund"}, headers={"X-Api-Key": "key-of-zeta"}
            )
            assert [one["source"] for one in own.json()["hits"]] == ["secret.md"]
            return [one.status_code for one in replies]

    assert asyncio.run(use()) == [403, 403, 403, 403, 404, 401, 401, 400]


def test_the_database_refuses_another_tenant_where_the_check_is_forgotten(
    app_of: Callable[[Any], FastAPI], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tenant, "choose", lambda _, asked: list(asked))

    async def run() -> None:
        async with browser(app_of(Typist())) as client:
            wanted = {"query": "refunds", "namespaces": ["zeta"]}
            assert (await client.post("/search", json=wanted)).status_code == 404
            said = await client.post("/ask", json=QUESTION | {"namespaces": ["zeta"]})
            assert "does not exist" in said.text
            assert (await client.get("/sources/zeta/secret.md")).status_code == 404
            mine = {"query": "refunds", "namespaces": ["acme"]}
            assert (await client.post("/search", json=mine)).json()["hits"]

    asyncio.run(run())


def test_an_answer_in_events(app_of: Callable[[Any], FastAPI]) -> None:
    async def use(generator: Any) -> list[tuple[str, dict[str, Any]]]:
        async with browser(app_of(generator)) as client:
            reply = await client.post("/ask", json=QUESTION)
            assert reply.headers["content-type"].startswith("text/event-stream")
            return events_of(reply.text)

    events = asyncio.run(use(Typist()))
    assert [kind for kind, _ in events] == ["started", *["delta"] * 4, "done"]
    assert "".join(data["text"] for kind, data in events if kind == "delta") == "".join(PIECES)
    done = events[-1][1]
    [citation] = done["citations"]
    assert (citation["number"], citation["source"]) == (1, "guides/refund policy.md")
    assert citation["link"].endswith("#L1")
    assert done["grounding"]["state"] == "grounded"
    assert done["tokens"] == [10, 4]

    broken = Typist(error=ProviderError("the model is away"))
    events = asyncio.run(use(broken))
    assert [kind for kind, _ in events] == ["started", "delta", "error"]
    assert events[-1][1]["message"] == "the model is away"
    events = asyncio.run(use(Typist(error=RuntimeError("a password in a message"))))
    assert events[-1] == ("error", {"message": "the answer failed", "hint": None})
    [(kind, error)] = asyncio.run(use(None))
    assert (kind, error["message"]) == ("error", "there is no chat model to ask")


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address of a real server in another thread."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


async def crowd(address: str, users: int) -> list[str]:
    """So many users at once: one third reads to the end, one hangs up at the first words, one does
    not even wait for the search."""
    limits = httpx.Limits(max_connections=users)
    async with httpx.AsyncClient(
        base_url=address, headers=KEY, limits=limits, timeout=60
    ) as client:

        async def user(number: int) -> str:
            patience = None if number % 3 < 2 else 0.005 * (number % 10)
            try:
                async with asyncio.timeout(patience):
                    async with client.stream("POST", "/ask", json=QUESTION) as reply:
                        text = ""
                        async for piece in reply.aiter_text():
                            text += piece
                            if number % 3 == 1 and "event: delta" in text:
                                return "hung up"
                        return events_of(text)[-1][0]
            except TimeoutError:
                return "impatient"

        return await asyncio.gather(*(user(number) for number in range(users)))


#: Sessions of this database but our own: state, and whether a transaction is open.
SESSIONS = """
select state, xact_start is not null, count(*)::integer from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
 group by 1, 2
"""


def settled(db: psycopg.Connection[Any], wanted: Callable[[list[Any]], bool]) -> list[Any]:
    """The sessions, as soon as they are what is wanted, or after a while."""
    deadline = time.monotonic() + 60
    while True:
        found = db.execute(SESSIONS).fetchall()
        if wanted(found) or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def test_fifty_users_who_hang_up_leave_nothing_behind(
    app_of: Callable[[Any], FastAPI], filled: Client, db: psycopg.Connection[Any]
) -> None:
    filled.close()
    typist = Typist(pause=0.1)
    app = app_of(typist)
    with served(app) as address:
        said = asyncio.run(crowd(address, 50))
        assert said.count("done") == 17
        assert said.count("hung up") == 17
        # A search that was quicker than its user is no failure.
        assert said.count("impatient") >= 10
        sessions = settled(db, lambda found: [one[:2] for one in found] == [("idle", False)])
        assert [one[:2] for one in sessions] == [("idle", False)]
        assert sessions[0][2] <= 4
        deadline = time.monotonic() + 60
        while typist.ended < typist.begun and time.monotonic() < deadline:
            time.sleep(0.05)
        assert typist.begun == typist.ended >= 34
        pool = app.state.rag._database.source._pool.get_stats()
        assert pool["pool_available"] == pool["pool_size"] <= 4
        assert pool.get("requests_waiting", 0) == 0
        # And it serves as before.
        assert httpx.post(f"{address}/search", json={"query": "refund"}, headers=KEY).is_success
    assert settled(db, lambda found: not found) == []


def test_lines_are_those_of_the_file_whatever_was_cut(rag: Client) -> None:
    text = "\n".join(f"line {n}" + "\n" * (n % 3) for n in range(1, 200))
    rag.ingest(texts=[("long.txt", text)], chunker=ragpg.HeadingChunker(300, 60))
    chunks = rag.fetch("long.txt")
    assert len(chunks) > 5
    assert lines_of(chunks) == list(enumerate(text.rstrip().split("\n"), 1))
    assert lines_of([]) == []


def test_tenants_are_read_from_the_environment() -> None:
    text = '{"k": {"name": "acme", "namespaces": ["a"]}}'
    assert read_tenants(text) == {"k": Tenant("acme", ("a",))}
    assert read_tenants("") == {}
