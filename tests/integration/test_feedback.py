"""The learning loop against a database: what is counted, what comes of it, what is forgotten."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import ragpg
from ragpg.errors import NamespaceNotFound
from ragpg.feedback.feedback import AsyncFeedback, Feedback
from ragpg.query.profile import Profile

if TYPE_CHECKING:
    from ragpg import Client

    Database = psycopg.Connection[Any]

TEXTS = [
    (f"{name}.md", f"Refunds of {name} orders are paid back within {days} days.")
    for name, days in (("paper", 14), ("online", 15), ("phone", 16))
]


@pytest.fixture
def shop(rag: Client) -> Client:
    rag.ingest(texts=TEXTS)
    return rag


def teach(rag: Client, source: str, times: int = 30) -> None:
    """Show the refund passages, and follow one of them."""
    for _ in range(times):
        rag.feedback(rag.search("refunds of orders", profile=Profile(prior=False)), used=[source])
    rag.flush_feedback()


def test_a_followed_passage_rises_and_the_report_says_so(shop: Client) -> None:
    before = shop.search("refunds of orders")
    assert "prior" not in before.report
    assert all(hit.prior is None for hit in before.hits)
    last = before.hits[-1].source
    teach(shop, last)
    after = shop.search("refunds of orders")
    assert after.hits[0].source == last
    assert after.report["prior"].rows == 3
    assert 1 < (after.hits[0].prior or 0) <= 1.15
    assert [hit.rank for hit in after.hits] == [1, 2, 3]
    off = shop.search("refunds of orders", profile=Profile(prior=False))
    assert [hit.source for hit in off.hits] == [hit.source for hit in before.hits]


def test_history_is_kept_with_unchanged_chunks_and_goes_with_deleted_ones(
    shop: Client, db: Database
) -> None:
    teach(shop, "phone.md", 5)
    shop.ingest(texts=[("phone.md", TEXTS[2][1])], metadata={"checked": True})
    [row] = [one for one in Feedback(shop).summary() if one.source == "phone.md"]
    assert (row.shown, row.followed) == (5, 5)
    shop.ingest(texts=[("phone.md", "Something else.")])
    assert {one.source for one in Feedback(shop).summary()} == {"paper.md", "online.md"}
    shop.delete("paper.md")
    assert {one.source for one in Feedback(shop).summary()} == {"online.md"}
    shop.drop_namespace("default")
    for table in ("feedback", "feedback_rank"):
        assert db.execute(f"select count(*) from ragpg.{table}".encode()).fetchone() == (0,)


def test_it_can_be_forgotten_and_switched_off(shop: Client) -> None:
    teach(shop, "phone.md")
    loop = Feedback(shop)
    assert loop.reset(sources="phone.md") == 1
    assert {one.source for one in loop.summary()} == {"paper.md", "online.md"}
    teach(shop, "phone.md")
    loop.switch("default", enabled=False)
    teach(shop, "online.md")
    assert all(hit.prior is None for hit in shop.search("refunds of orders").hits)
    rows = {one.source: one for one in loop.summary()}
    assert rows["online.md"].followed == 0
    assert not rows["online.md"].enabled
    loop.switch("default", enabled=True)
    assert shop.search("refunds of orders").report["prior"].rows == 3
    assert loop.reset() == 3
    assert loop.summary() == []
    assert "prior" not in shop.search("refunds of orders").report
    with pytest.raises(NamespaceNotFound):
        loop.switch("nowhere", enabled=False)


def test_what_is_gone_or_nonsense_is_left_out(shop: Client, db: Database) -> None:
    [(chunk,)] = db.execute("select min(id) from ragpg.chunk").fetchall()
    events = [
        {"namespace": "nowhere", "chunk_id": chunk, "rank": 1, "shown": 1, "followed": 1},
        {"namespace": "default", "chunk_id": 999_999, "rank": 1, "shown": 1, "followed": 1},
        {"namespace": "default", "chunk_id": chunk, "rank": 900, "shown": 1, "followed": 7},
        {"namespace": "default", "chunk_id": chunk, "rank": 1, "shown": 0, "followed": 0},
    ]
    [(rows,)] = db.execute("select ragpg.record_feedback(%s)", [json.dumps(events)]).fetchall()
    assert rows == 1
    assert db.execute("select rank, shown, followed from ragpg.feedback").fetchall() == [(20, 1, 1)]
    assert db.execute("select rank, shown from ragpg.feedback_rank").fetchall() == [(20, 1)]


def test_a_database_that_fails_fails_no_caller(shop: Client, db: Database) -> None:
    result = shop.search("refunds")
    db.execute("alter table ragpg.feedback rename to feedback_away")
    shop.feedback(result, used=[result.hits[0]])
    shop.flush_feedback()
    db.execute("alter table ragpg.feedback_away rename to feedback")
    shop.flush_feedback()
    assert db.execute("select sum(shown), sum(followed) from ragpg.feedback").fetchone() == (3, 1)


def test_closing_writes_what_waits_and_a_joined_transaction_stays_the_callers(
    shop: Client, db: Database
) -> None:
    result = shop.search("refunds")
    with psycopg.connect(db.info.dsn) as connection:
        with ragpg.connect(connection) as joined:
            joined.feedback(result)
        connection.rollback()
    assert db.execute("select count(*) from ragpg.feedback").fetchone() == (0,)
    with ragpg.connect(db.info.dsn) as own:
        own.feedback(result)
    assert db.execute("select count(*) from ragpg.feedback").fetchone() == (3,)


def test_many_writers_lose_nothing(shop: Client, db: Database) -> None:
    result = shop.search("refunds")

    def work(seed: int) -> None:
        with ragpg.connect(db.info.dsn) as rag:
            for _ in range(20):
                rag.feedback(result, used=[result.hits[seed % 3]])
                rag.flush_feedback()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert db.execute("select sum(shown), sum(followed) from ragpg.feedback").fetchone() == (
        240,
        80,
    )
    assert db.execute("select sum(shown), sum(followed) from ragpg.feedback_rank").fetchone() == (
        240, 80,
    )  # fmt: skip


async def _async_loop(dsn: str) -> tuple[int, float]:
    async with ragpg.aconnect(dsn) as rag:
        result = await rag.search("refunds")
        await rag.feedback(result, used=[result.hits[0]])
        loop = AsyncFeedback(rag)
        [first, *_] = await loop.summary()
        await loop.switch("default", enabled=False)
        await loop.switch("default", enabled=True)
        return await loop.reset(), first.shown


def test_the_async_client_does_the_same(shop: Client, database: str) -> None:
    import asyncio

    assert asyncio.run(_async_loop(database)) == (3, 1.0)


class World:
    """Readers of forty passages. A reader looks at rank r with probability r**-0.8, follows a good
    passage that was looked at with probability 0.6 and any other with 0.2, and once in ten times
    follows something by mistake, wherever it stands."""

    def __init__(self, db: Database, *, good: int, seed: int) -> None:
        self.db, self.random = db, random.Random(seed)
        rows = db.execute("select id from ragpg.chunk order by id").fetchall()
        self.chunks = [chunk for (chunk,) in rows]
        self.good = set(self.random.sample(self.chunks, good))
        self.topics = [
            {chunk: self.random.gauss(1.0, 0.1) for chunk in self.random.sample(self.chunks, 10)}
            for _ in range(60)
        ]

    def priors(self) -> dict[int, float]:
        query = "select * from ragpg.feedback_priors('{default}', %s)"
        return dict(self.db.execute(query, [self.chunks]).fetchall())

    def ranking(self, topic: dict[int, float], priors: dict[int, float]) -> list[int]:
        return sorted(topic, key=lambda chunk: -topic[chunk] * priors.get(chunk, 1))

    def quality(self, priors: dict[int, float]) -> float:
        """Mean reciprocal rank of the first good passage, over the topics that have one."""
        found = [
            [
                rank
                for rank, chunk in enumerate(self.ranking(topic, priors), 1)
                if chunk in self.good
            ]
            for topic in self.topics
        ]
        return sum(1 / ranks[0] for ranks in found if ranks) / sum(map(bool, found))

    def live(self, rounds: int, mob: int | None = None) -> None:
        """Rounds of 300 searches; what a round taught orders the next one. A mob follows its
        passage wherever it is shown."""
        for _ in range(rounds):
            priors = self.priors()
            counts: dict[tuple[int, int], list[int]] = {}
            for _ in range(300):
                order = self.ranking(self.random.choice(self.topics), priors)
                slip = self.random.choice(order) if self.random.random() < 0.1 else None
                for rank, chunk in enumerate(order, 1):
                    looked = self.random.random() < rank**-0.8
                    likes = self.random.random() < (0.6 if chunk in self.good else 0.2)
                    count = counts.setdefault((chunk, rank), [0, 0])
                    count[0] += 1
                    count[1] += (looked and likes) or chunk in (slip, mob)
            events = [
                {
                    "namespace": "default",
                    "chunk_id": chunk,
                    "rank": rank,
                    "shown": shown,
                    "followed": won,
                }
                for (chunk, rank), (shown, won) in counts.items()
            ]
            self.db.execute("select ragpg.record_feedback(%s)", [json.dumps(events)])


def world(rag: Client, db: Database, *, good: int, seed: int) -> World:
    rag.ingest(texts=[(f"{n}.md", f"Passage number {n}.") for n in range(40)])
    return World(db, good=good, seed=seed)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_noisy_clicks_teach_what_is_good(rag: Client, db: Database, seed: int) -> None:
    readers = world(rag, db, good=10, seed=seed)
    before = readers.quality({})
    readers.live(10)
    priors = readers.priors()
    assert readers.quality(priors) >= before + 0.1
    good = [priors[chunk] for chunk in readers.good]
    rest = [prior for chunk, prior in priors.items() if chunk not in readers.good]
    assert min(good) > max(rest)
    assert all(0.85 <= prior <= 1.15 for prior in priors.values())


def test_being_shown_first_earns_nothing(rag: Client, db: Database) -> None:
    """Where no passage is better than another, those that stand first stay where they are: their
    priors do not grow with what they are shown and followed."""
    readers = world(rag, db, good=0, seed=4)
    spread = []
    for _ in range(4):
        readers.live(5)
        spread.append(max(abs(prior - 1) for prior in readers.priors().values()))
    assert spread[-1] < 0.03
    assert spread[-1] <= spread[0]
    clicks = db.execute(
        "select max(followed), min(followed), max(prior), min(prior) from ragpg.feedback_summary"
    ).fetchone()
    assert clicks is not None
    # The naive count differs by far, the prior does not.
    assert clicks[0] > 3 * clicks[1]


def test_a_mob_is_bounded_and_forgotten(rag: Client, db: Database) -> None:
    readers = world(rag, db, good=10, seed=5)
    mob = next(chunk for chunk in readers.chunks if chunk not in readers.good)
    readers.live(6, mob=mob)
    height = readers.priors()[mob]
    assert 1 < height <= 1.15
    readers.live(18)
    assert readers.priors()[mob] - 1 < 0.6 * (height - 1)
