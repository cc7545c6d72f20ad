"""Many writers, one truth: statistics are exact, and no writer waits for the folder."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
from psycopg.rows import dict_row

from .engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable


def test_statistics_survive_writers_and_a_folder(database: str) -> None:
    words = [f"word{number}" for number in range(60)]

    def with_engine(work: Callable[[Engine], None]) -> None:
        with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
            work(Engine(connection))

    def writer(seed: int) -> Callable[[Engine], None]:
        def work(engine: Engine) -> None:
            rng = random.Random(seed)
            for _ in range(12):
                sources = [f"d{rng.randrange(40)}" for _ in range(5)]
                match rng.randrange(4):
                    case 0:
                        engine.value("select ragpg.delete_documents('default', %s)", sources)
                    case 1:
                        engine.connection.execute(
                            "update ragpg.chunk set content = content || ' more' where id in"
                            " (select id from ragpg.chunk where id %% 7 = %s order by id for update skip locked)",
                            (rng.randrange(7),),
                        )
                    case _:
                        # A changed fingerprint each time: the document is rewritten.
                        texts = {source: " ".join(rng.choices(words, k=20)) for source in sources}
                        engine.add(texts, fingerprint=f"{seed}-{rng.random()}")

        return work

    def folder(engine: Engine) -> None:
        for _ in range(40):
            engine.value("select ragpg.fold_statistics()")

    with_engine(lambda engine: engine.add({"seed": "word1"}))
    with ThreadPoolExecutor() as pool:
        for job in [
            *(pool.submit(with_engine, writer(seed)) for seed in range(3)),
            pool.submit(with_engine, folder),
        ]:
            job.result()

    def check(engine: Engine) -> None:
        while engine.value("select ragpg.fold_statistics()") != 0:
            pass
        assert engine.wrong_statistics() == []
        assert engine.value("select count(*) from ragpg.chunk") == engine.value(
            "select count(*) from ragpg.chunk_keyword"
        )

    with_engine(check)


def test_one_rebuild_at_a_time_and_nobody_waits_for_it(database: str) -> None:
    with psycopg.connect(database, row_factory=dict_row) as first:
        engine = Engine(first)
        engine.add({"one": "a text", "two": "another text"})
        first.commit()
        assert engine.value("select ragpg.rebuild_keywords('default')") is True
        with psycopg.connect(database, row_factory=dict_row) as second:
            second.execute("set local statement_timeout = '10 s'")
            assert Engine(second).value("select ragpg.rebuild_keywords('default')") is False
