"""The result cache against a database: what is served, what makes it old, and whose it is."""

from __future__ import annotations

import multiprocessing
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg import Cache
from ragpg.config.values import Config
from ragpg.errors import DatabaseError, NamespaceNotFound, ProviderError
from ragpg.feedback.feedback import Feedback
from ragpg.judges.options import LexicalOptions
from ragpg.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ragpg import Client
    from ragpg.types import SearchResult

#: Three texts that nothing takes for duplicates.
SAID = ("Refunds of paper.", "Shoes go back within days, refunds follow.", "No refunds on sales!")
TEXTS = [("a.md", "Refunds take 14 days."), ("b.md", "Returns of shoes, see [a](a.md).")]


class Counting(HashEmbedder):
    """Records the queries; fails while `down`."""

    def __init__(self) -> None:
        super().__init__(32)
        self.queries: list[str] = []
        self.down = False

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        if self.down:
            raise ProviderError("the service answered 500", scope="service")
        return super().embed_query(text)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def shop(database: str, embedder: Counting) -> Iterator[Client]:
    with ragpg.connect(database, embedder=embedder, cache=True) as rag:
        rag.ingest(texts=TEXTS)
        yield rag


def mode(result: SearchResult) -> str | None:
    return result.report["cache"].mode


def test_the_second_search_is_a_hit_that_asks_no_embedder(shop: Client, embedder: Counting) -> None:
    first, second = (shop.search("refunds") for _ in range(2))
    assert [mode(first), mode(second)] == ["miss", "hit"]
    assert second.report["cache"].signals == {"hits": 1.0, "misses": 1.0, "rate": 0.5}
    assert (second.hits, second.context, second.notes) == (first.hits, first.context, first.notes)
    assert [text for text in embedder.queries if "\n" not in text] == ["refunds"]
    assert shop.cache is not None
    assert (shop.cache.stats.entries, shop.cache.stats.rate) == (1, 0.5)


def test_without_a_cache_nothing_is_said_of_one(rag: Client) -> None:
    rag.ingest(texts=TEXTS)
    assert "cache" not in rag.search("refunds").report


def test_other_arguments_are_another_search(shop: Client) -> None:
    others: list[dict[str, Any]] = [
        {"k": 1}, {"filter": {"source": "a.md"}}, {"arms": ["keyword"]}, {"rerank": False},
        {"profile": "fast"}, {"history": ["shoes"]}, {"embedding": [0.5] * 32},
        {"context_tokens": 50}, {"answer": "Refunds take 14 days."}, {"candidates": 3},
        {"filter": {"n": 1}}, {"filter": {"n": True}}, {"filter": {"n": 1.0}}, {},
    ]  # fmt: skip
    for wanted in ("miss", "hit"):
        for other in others:
            assert mode(shop.search("refunds", **other)) == wanted, other


def _sql(statement: str) -> Callable[[Client, psycopg.Connection[Any]], object]:
    return lambda _, db: db.execute(statement.encode())


def _follow(rag: Client) -> None:
    rag.feedback(rag.search("refunds"), used=["b.md"])
    rag.flush_feedback()


WRITES: dict[str, Callable[[Client, psycopg.Connection[Any]], object]] = {
    "ingest": lambda rag, _: rag.ingest(texts=[("c.md", "New.")]),
    "update": lambda rag, _: rag.ingest(texts=[("a.md", "Refunds take 30 days.")]),
    "metadata": lambda rag, _: rag.ingest(texts=TEXTS, metadata={"year": 2024}),
    "delete": lambda rag, _: rag.delete("a.md"),
    "feedback": lambda rag, _: _follow(rag),
    "feedback off": lambda rag, _: Feedback(rag).switch("default", enabled=False),
    "graph": _sql("delete from ragpg.link"),
    "fusion": _sql("""select ragpg.set_fusion('default', '{"method": "rrf"}')"""),
    "settings": _sql("update ragpg.namespace set settings = settings || '{\"x\": 1}'"),
    "title": _sql("update ragpg.document set title = 'Refunds'"),
    "chunk": _sql("update ragpg.chunk set content = content || '!' where ordinal = 0"),
    "vectors": _sql("delete from ragpg.embedding_1"),
    "keywords": _sql("delete from ragpg.chunk_keyword"),
    "memory": _sql("select ragpg.note_memory('default', 'c.md', 'k', null)"),
    "sentences": lambda rag, _: rag.fill_sentences(),
    "truncate": _sql("truncate ragpg.edge"),
    "grant": _sql("select ragpg.grant_namespace('default', current_user)"),
}


def test_every_write_makes_it_old(shop: Client, db: psycopg.Connection[Any]) -> None:
    for name, write in WRITES.items():
        shop.search("refunds")
        assert mode(shop.search("refunds")) == "hit", name
        write(shop, db)
        assert mode(shop.search("refunds")) == "miss", name


def test_a_write_elsewhere_or_undone_leaves_it(shop: Client, db: psycopg.Connection[Any]) -> None:
    shop.search("refunds")
    shop.ingest(texts=TEXTS, namespace="other")
    with db.transaction(force_rollback=True):
        db.execute("delete from ragpg.chunk")
        assert mode(shop.search("refunds")) == "hit"
    assert mode(shop.search("refunds")) == "hit"
    assert mode(shop.search("refunds", namespace=["default", "other"])) == "miss"


def test_a_namespace_that_comes_back_under_its_name_is_another(shop: Client) -> None:
    assert shop.search("refunds").hits
    shop.drop_namespace("default")
    with pytest.raises(NamespaceNotFound):
        shop.search("refunds")
    shop.create_namespace("default")
    assert not shop.search("refunds").hits


def test_many_writes_leave_few_rows_and_never_the_same_version(
    shop: Client, db: psycopg.Connection[Any]
) -> None:
    seen = set()
    for _ in range(300):
        db.execute("update ragpg.namespace set settings = settings")
        [version] = db.execute(
            "select version from ragpg.search_version('{default}')"
        ).fetchone() or [0]
        seen.add(version)
    assert len(seen) == 300
    [rows] = db.execute("select count(*) from ragpg.namespace_write").fetchone() or [0]
    assert rows < 290


def test_a_number_that_came_with_a_dump_hides_no_write(
    database: str, shop: Client, db: psycopg.Connection[Any]
) -> None:
    with psycopg.connect(database) as writer:
        [number] = writer.execute("select pg_current_xact_id()::text::bigint").fetchone() or [0]
        db.execute(
            "insert into ragpg.namespace_write select id, %s, 5 from ragpg.namespace", [number]
        )
        shop.search("refunds")
        assert mode(shop.search("refunds")) == "hit"
        writer.execute("update ragpg.document set title = 'Refunds'")
        writer.execute("update ragpg.document set title = 'Returns'")
    assert mode(shop.search("refunds")) == "miss"


def test_what_callers_do_to_a_result_reaches_nobody(shop: Client) -> None:
    shop.ingest(texts=[("c.md", "Refunds of gold.")], metadata={"tags": ["x"]})
    for result in (shop.search("refunds"), shop.search("refunds")):
        for hit in result.hits:
            hit.metadata.get("tags", []).append("spoilt")
        result.hits.clear()  # type: ignore[attr-defined]
        result.report.clear()  # type: ignore[attr-defined]
    kept = shop.search("refunds")
    assert mode(kept) == "hit"
    assert len(kept.hits) == 3
    assert {"x"} == {tag for hit in kept.hits for tag in hit.metadata.get("tags", [])}


def test_it_ends_with_its_time_and_its_size(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ragpg.query.cache._clock", lambda: now[0])
    cache = Cache(ttl=60, max_bytes=20_000)
    with ragpg.connect(database, cache=cache) as rag:
        rag.ingest(texts=TEXTS)
        rag.search("refunds")
        now[0] += 59
        assert mode(rag.search("refunds")) == "hit"
        now[0] += 2
        assert mode(rag.search("refunds")) == "miss"
        for number in range(40):
            rag.search(f"refunds {number}")
            assert cache.stats.bytes <= 20_000
        assert cache.stats.evicted > 0
        assert mode(rag.search("refunds 39")) == "hit"
        assert mode(rag.search("refunds 0")) == "miss"
        cache.clear()
        assert (cache.stats.entries, cache.stats.bytes) == (0, 0)


def test_long_questions_count_for_little_and_odd_ones_are_searched(shop: Client) -> None:
    assert shop.cache is not None
    for _ in range(2):
        found = shop.search("refunds " * 100_000, arms=["keyword"])
    assert mode(found) == "hit"
    deep: Any = {"year": 1}
    for _ in range(5_000):
        deep = {"and": [deep]}
    with pytest.raises(ragpg.RagpgError):
        shop.search("refunds", filter=deep)


def test_a_search_that_failed_in_part_is_not_kept(shop: Client, embedder: Counting) -> None:
    embedder.down = True
    assert mode(shop.search("refunds")) == "miss"
    embedder.down = False
    healed = shop.search("refunds")
    assert mode(healed) == "miss"
    assert healed.report["vector"].rows > 0


def test_retrievers_of_others_are_asked_each_time(database: str) -> None:
    class Other:
        name = "other"
        asked = 0

        def retrieve(self, query: str, k: int, filter: object) -> list[Any]:
            self.asked += 1
            return []

    other = Other()
    with ragpg.connect(database, retrievers=[other], cache=True) as rag:
        rag.ingest(texts=TEXTS)
        for _ in range(2):
            assert "external" in (rag.search("refunds").report["cache"].skipped or "")
        assert other.asked == 2
        assert mode(rag.search("refunds", arms={"other": False})) == "miss"


def test_a_transaction_that_has_written_keeps_nothing(
    shop: Client, database: str, embedder: Counting
) -> None:
    assert shop.cache is not None
    with (
        psycopg.connect(database) as connection,
        ragpg.connect(connection, embedder=embedder, cache=shop.cache) as inside,
    ):
        assert mode(inside.search("refunds")) == "miss"
        assert mode(shop.search("refunds")) == "hit"
        inside.delete("a.md")
        seen = inside.search("refunds")
        assert (mode(seen), {hit.source for hit in seen.hits}) == (None, {"b.md"})
        assert {hit.source for hit in shop.search("refunds").hits} == {"a.md", "b.md"}
        connection.rollback()
        assert mode(inside.search("refunds")) == "hit"


@pytest.mark.parametrize(("bar", "wanted"), [(0.5, "hit"), (0.9, "miss")])
def test_clients_share_checked_results_where_their_bars_are_equal(
    shop: Client, database: str, embedder: Counting, bar: float, wanted: str
) -> None:
    config = Config(lexical_judge=LexicalOptions(supported=bar))
    with ragpg.connect(database, embedder=embedder, cache=shop.cache, config=config) as other:
        for answer, expected in ((None, "hit"), ("Refunds take 14 days.", wanted)):
            assert mode(shop.search("refunds", answer=answer)) == "miss"
            assert mode(other.search("refunds", answer=answer)) == expected


@pytest.fixture
def roles(database: str) -> Iterator[tuple[str, str]]:
    names = tuple(f"cache_{word}_{secrets.token_hex(4)}" for word in ("red", "blue"))
    with psycopg.connect(database, autocommit=True) as db:
        for name in names:
            db.execute(f"create role {name}".encode())
            db.execute(f"grant usage on schema ragpg to {name}".encode())
            db.execute(f"grant select on all tables in schema ragpg to {name}".encode())
        yield names[0], names[1]
        for name in names:
            db.execute(f"drop owned by {name}; drop role {name}".encode())


def test_nobody_is_served_what_another_may_see(
    database: str, db: psycopg.Connection[Any], roles: tuple[str, str]
) -> None:
    cache = Cache()
    with ragpg.connect(database) as owner:
        owner.ingest(texts=TEXTS, namespace="red")
    db.execute("select ragpg.grant_namespace('red', %s)", [roles[0]])
    with (
        psycopg.connect(database, autocommit=True, options=f"-c role={roles[0]}") as reds,
        psycopg.connect(database, autocommit=True, options=f"-c role={roles[1]}") as blues,
        ragpg.connect(reds, cache=cache) as red,
        ragpg.connect(blues, cache=cache) as blue,
    ):
        red.search("refunds", namespace="red")
        assert mode(red.search("refunds", namespace="red")) == "hit"
        with pytest.raises(NamespaceNotFound):
            blue.search("refunds", namespace="red")
        db.execute("select ragpg.grant_namespace('red', %s)", [roles[1]])
        red.search("refunds", namespace="red")
        assert mode(blue.search("refunds", namespace="red")) == "miss"
        reds.execute("set ragpg.allowed_namespaces = '{other}'")
        with pytest.raises(NamespaceNotFound):
            red.search("refunds", namespace="red")
        reds.execute("set ragpg.allowed_namespaces = '{red}'")
        assert mode(red.search("refunds", namespace="red")) == "miss"
        reds.execute("reset ragpg.allowed_namespaces")
        db.execute("select ragpg.revoke_namespace('red', %s)", [roles[0]])
        with pytest.raises(NamespaceNotFound):
            red.search("refunds", namespace="red")
        # What a policy of somebody else lets through is not ours to know.
        db.execute("create policy own on ragpg.chunk as restrictive using (true)")
        assert blue.search("refunds", namespace="red").report["cache"].skipped


def test_rights_on_tables_that_were_taken_back_end_the_hits(
    database: str, db: psycopg.Connection[Any], roles: tuple[str, str]
) -> None:
    with ragpg.connect(database) as owner:
        owner.ingest(texts=TEXTS, namespace="open")
    with (
        psycopg.connect(database, autocommit=True, options=f"-c role={roles[0]}") as reds,
        ragpg.connect(reds, cache=Cache()) as red,
    ):
        red.search("refunds", namespace="open")
        assert mode(red.search("refunds", namespace="open")) == "hit"
        db.execute(f"revoke select on ragpg.chunk from {roles[0]}".encode())
        with pytest.raises(DatabaseError, match="permission denied"):
            red.search("refunds", namespace="open")


def _write_on(dsn: str, number: int, stop: Any, floor: Any) -> None:
    """Write versions of a document from a process of its own, by ingest and by plain SQL."""
    with (
        ragpg.connect(dsn, embedder=HashEmbedder(32)) as rag,
        psycopg.connect(dsn, autocommit=True) as db,
    ):
        version = 0
        while not stop.is_set():
            version += 1
            if version % 2:
                rag.ingest(texts=[(f"{number}.md", SAID[number])], metadata={"version": version})
            else:
                db.execute(
                    "update ragpg.chunk set metadata = jsonb_set(chunk.metadata, '{version}', %s)"
                    " from ragpg.document where document.id = document_id and source = %s",
                    [str(version), f"{number}.md"],
                )
            # Only now may nobody be told of an older one.
            floor[number] = version
            time.sleep(0.002 * number)


def test_under_writers_no_search_is_told_of_yesterday(database: str) -> None:
    context = multiprocessing.get_context("spawn")
    stop, floor = context.Event(), context.Array("q", 3)
    cache = Cache()
    old: list[str] = []
    with ragpg.connect(database, embedder=HashEmbedder(32), cache=cache) as rag:
        rag.ingest(
            texts=[(f"{number}.md", SAID[number]) for number in range(3)], metadata={"version": 0}
        )
        writers = [
            context.Process(target=_write_on, args=(database, number, stop, floor), daemon=True)
            for number in range(3)
        ]

        def read(seconds: float) -> None:
            until = time.monotonic() + seconds
            while time.monotonic() < until and not old:
                least = [floor[number] for number in range(3)]
                result = rag.search("refunds", rerank=False, arms=["keyword"])
                found = {hit.source: hit.metadata["version"] for hit in result.hits}
                for number, version in enumerate(least):
                    if found[f"{number}.md"] < version:
                        old.append(f"{mode(result)}: {found} where {least} was committed")

        for one in writers:
            one.start()
        try:
            while not all(floor[number] for number in range(3)):
                assert all(one.is_alive() for one in writers), "a writer ended before it wrote"
                time.sleep(0.05)
            with ThreadPoolExecutor(4) as readers:
                list(readers.map(read, [3.0] * 4))
        finally:
            stop.set()
            for one in writers:
                one.join(20)
        assert not old
        assert cache.stats.hits > 10, "writers were too quick for the test to say anything"
        assert cache.stats.stale > 10
        assert mode(rag.search("refunds")) == "miss"


def test_one_slow_search_keeps_nothing_that_was_written_over(
    database: str, db: psycopg.Connection[Any]
) -> None:
    """A write that commits while a search runs: what it found belongs to no version of later."""
    arrived, go_on = threading.Event(), threading.Event()

    class Slow(HashEmbedder):
        def embed_query(self, text: str) -> list[float]:
            if text != "refunds":
                return super().embed_query(text)
            arrived.set()
            assert go_on.wait(20)
            return super().embed_query(text)

    with (
        ragpg.connect(database, embedder=Slow(32), cache=True) as rag,
        ThreadPoolExecutor(1) as other,
    ):
        rag.ingest(texts=TEXTS)
        slow = other.submit(rag.search, "refunds")
        assert arrived.wait(20)
        db.execute("update ragpg.document set title = 'New' where source = 'a.md'")
        go_on.set()
        assert mode(slow.result()) == "miss"
        assert mode(rag.search("refunds")) == "miss"


async def _searched(database: str) -> list[str | None]:
    async with ragpg.aconnect(database, cache=True) as rag:
        await rag.ingest(texts=TEXTS)
        return [mode(await rag.search("refunds")) for _ in range(2)]


def test_the_async_client_has_it_too(database: str) -> None:
    import asyncio

    assert asyncio.run(_searched(database)) == ["miss", "hit"]
