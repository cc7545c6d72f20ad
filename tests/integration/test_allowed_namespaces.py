"""A client that is limited to namespaces: the database refuses the others, whatever is asked of it,
and whoever uses the connection next is not limited. For all methods of it see
test_limited_methods.py."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import psycopg
import psycopg_pool
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session

import ragpg
from ragpg.errors import ConfigError, NamespaceNotFound
from ragpg.testing import HashEmbedder
from ragpg.tools.knowledge import RagKnowledge
from ragpg.tools.proactive import Proactive
from ragpg.tools.search_tool import SearchTool, Wanted
from ragpg.tools.toolbox import Toolbox

from .pooler import Pooler

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragpg import Client

    Database = psycopg.Connection[Any]

SETTING = "select coalesce(current_setting('ragpg.allowed_namespaces', true), '')"
#: Names that mean something in an array, in SQL and in a client's placeholders.
ODD = "a\"b'c,{d}\\ %s 💡"
EVERYTHING = [ODD, "board", "handbook"]


@pytest.fixture
def filled(rag: Client) -> Client:
    for name in EVERYTHING:
        rag.ingest(texts=[("refunds.md", f"Refunds of {name} take 5 days.")], namespace=name)
    return rag


def setting(connection: Any) -> str:
    statement = text(SETTING) if hasattr(connection, "scalar") else SETTING.encode()
    return str(connection.execute(statement).fetchone()[0])


def check(rag: Client) -> None:
    """`rag` may use ODD and nothing else."""
    assert len(rag.search("refunds", namespace=ODD).hits) == 1
    for names in ("board", [ODD, "board"]):
        with pytest.raises(NamespaceNotFound, match="board"):
            rag.search("refunds", namespace=names)
    assert rag.ingest(texts=[("new.md", "Returns are free.")], namespace=ODD).ok
    assert [one.name for one in rag.namespaces()] == [ODD]


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("kind", ["dsn", "pool", "engine", "autocommit", "pooler"])
def test_every_handle_is_limited_and_not_the_next_user_of_it(database: str, kind: str) -> None:
    def use(target: Any, after: Callable[[], Any]) -> None:
        with ragpg.connect(target, embedder=HashEmbedder(32), allowed_namespaces=[ODD]) as rag:
            check(rag)
            assert after() == ""
        with ragpg.connect(target, embedder=HashEmbedder(32)) as rag:
            assert [one.name for one in rag.namespaces()] == EVERYTHING

    if kind == "dsn":
        use(database, lambda: "")
    elif kind == "pool":
        with psycopg_pool.ConnectionPool(database, min_size=1, max_size=1) as pool:

            def in_the_pool() -> str:
                with pool.connection() as connection:
                    return setting(connection)

            use(pool, in_the_pool)
    elif kind == "engine":
        engine = create_engine(
            "postgresql+psycopg://", creator=lambda: psycopg.connect(database), pool_size=1
        )

        def in_the_engine() -> str:
            with engine.connect() as connection:
                return setting(connection)

        use(engine, in_the_engine)
        engine.dispose()
    elif kind == "autocommit":
        with psycopg.connect(database, autocommit=True) as connection:
            use(connection, lambda: setting(connection))
    else:
        with Pooler(database, size=1) as pooler:

            def beside() -> str:
                with psycopg.connect(pooler.dsn, autocommit=True) as other:
                    return setting(other)

            use(pooler.dsn, beside)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("kind", ["psycopg", "session"])
def test_a_callers_transaction_goes_on_with_what_it_had(database: str, kind: str) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database))
    target: Any = psycopg.connect(database) if kind == "psycopg" else Session(engine)
    with target:
        with ragpg.connect(target, embedder=HashEmbedder(32), allowed_namespaces=[ODD]) as rag:
            check(rag)
            assert setting(target) == ""
        with ragpg.connect(target, embedder=HashEmbedder(32)) as rag:
            assert len(rag.search("refunds", namespace="board").hits) == 1
        # Where the caller has narrowed its transaction, a list only narrows it further.
        narrowed = "set local ragpg.allowed_namespaces = '{board,handbook}'"
        target.execute(text(narrowed) if kind == "session" else narrowed.encode())
        with ragpg.connect(target, allowed_namespaces=["board", ODD]) as rag:
            assert [one.name for one in rag.namespaces()] == ["board"]
            with pytest.raises(NamespaceNotFound):
                rag.search("refunds", namespace=ODD)
        assert setting(target) == "{board,handbook}"
    engine.dispose()


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("kind", ["dsn", "pool", "connection", "engine"])
def test_the_async_client_is_limited_too(database: str, kind: str) -> None:
    async def use(target: Any) -> None:
        async with ragpg.aconnect(
            target, embedder=HashEmbedder(32), allowed_namespaces=[ODD]
        ) as rag:
            assert len((await rag.search("refunds", namespace=ODD)).hits) == 1
            assert (await rag.ingest(texts=[("new.md", "Returns.")], namespace=ODD)).ok
            with pytest.raises(NamespaceNotFound):
                await rag.search("refunds", namespace="board")
            with pytest.raises(NamespaceNotFound):
                await rag.limited_to(["board"]).search("refunds", namespace=ODD)
            assert [one.name for one in await rag.namespaces()] == [ODD]
        async with ragpg.aconnect(target) as rag:
            assert [one.name for one in await rag.namespaces()] == EVERYTHING

    async def main() -> None:
        if kind == "dsn":
            await use(database)
        elif kind == "pool":
            async with psycopg_pool.AsyncConnectionPool(database, min_size=1, max_size=1) as pool:
                await use(pool)
        elif kind == "connection":
            async with await psycopg.AsyncConnection.connect(database) as connection:
                await use(connection)
        else:

            async def connect() -> psycopg.AsyncConnection[Any]:
                return await psycopg.AsyncConnection.connect(database)

            engine = create_async_engine("postgresql+psycopg://", async_creator=connect)
            await use(engine)
            await engine.dispose()

    asyncio.run(main())


def test_a_limited_client_shares_and_closes_nothing(filled: Client) -> None:
    with filled.limited_to(["handbook", "board"]) as rag:
        found = rag.search("refunds", namespace="handbook")
        rag.feedback(found, used=[found.hits[0]])
        assert [one.name for one in rag.limited_to(["board", ODD]).namespaces()] == ["board"]
        assert rag.limited_to([]).namespaces() == []
    assert filled.search("refunds", namespace=ODD).hits
    filled.flush_feedback()
    for wrong in ("handbook", None, [1], ["a\0b"]):
        with pytest.raises(ConfigError):
            filled.limited_to(wrong)  # type: ignore[arg-type]


def test_the_cache_of_results_tells_limited_clients_apart(database: str, filled: Client) -> None:
    with ragpg.connect(database, embedder=HashEmbedder(32), cache=True) as rag:
        assert rag.search("refunds", namespace=["board", "handbook"]).hits
        with pytest.raises(NamespaceNotFound):
            rag.limited_to(["board"]).search("refunds", namespace=["board", "handbook"])


def test_what_slips_through_a_tools_check_is_refused_by_the_database(
    filled: Client, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        SearchTool, "read", lambda *_: Wanted(query="refunds", namespaces=["board"], k=5)
    )
    tool = SearchTool(["handbook"])
    said = json.loads(Toolbox(filled, [tool]).call(tool.name, {"query": "x"}))
    assert said["error"] == 'namespace "board" does not exist'

    async def call() -> str:
        async with ragpg.aconnect(database, embedder=HashEmbedder(32)) as rag:
            return await Toolbox(rag, [tool]).acall(tool.name, {"query": "x"})

    assert json.loads(asyncio.run(call())) == said


def test_knowledge_bases_and_proactive_retrieval_are_limited(filled: Client) -> None:
    base = RagKnowledge(filled, "x", "", ["handbook"])
    with pytest.raises(NamespaceNotFound):
        base.rag.search("refunds", namespace="board")
    with pytest.raises(NamespaceNotFound):
        Proactive(filled, ["handbook"])._rag.search("refunds", namespace="board")
