"""Changes the model of a namespace while clients search it: no search may fail, none may mix.

    python benchmarks/model_switch.py DSN --chunks 20000

Needs an empty database with the schema (ragpg migrate). Two hash embedders of different lengths
stand for two models. While the new space is built, switched to, rolled back and dropped, clients
search without a pause, and one ingests. Hits are of the wrong space when their scores are not the
cosines that one of the models gives; a search has failed when it raises, or when its vector arm does,
and has missed when the text it asked for is not the first, which is the recall of the index.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time
from typing import Any

import ragpg
from ragpg import reembed
from ragpg.embedders import Embedders
from ragpg.testing import HashEmbedder

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "r", "s", "lo", "ti")]


def texts(count: int, first: int = 0) -> list[tuple[str, str]]:
    """Short texts of random words, each with a number of its own."""
    found = []
    for number in range(first, first + count):
        chance = random.Random(number)
        words = " ".join(chance.choices(WORDS, k=30))
        found.append((f"{number}.txt", f"Item number {number}: {words}."))
    return found


def cosine(one: list[float], other: list[float]) -> float:
    """Of unit vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True))


class Searching(threading.Thread):
    """A client that searches until it is told to stop, and checks every hit."""

    def __init__(self, dsn: str, models: tuple[HashEmbedder, HashEmbedder], chunks: int) -> None:
        super().__init__(daemon=True)
        self.dsn, self.models, self.chunks = dsn, models, chunks
        self.stop = threading.Event()
        self.searches = self.failed = self.wrong = self.empty = self.missed = 0
        self.times: list[float] = []
        self.used = {one.dimensions: 0 for one in models}
        self.errors: list[str] = []

    def run(self) -> None:
        chance = random.Random(self.ident or 1)
        with ragpg.connect(self.dsn, embedder=Embedders(*self.models), profile="seed") as rag:
            while not self.stop.is_set():
                [(source, text)] = texts(1, chance.randrange(self.chunks))
                began = time.perf_counter()
                try:
                    result = rag.search(text, arms=["vector"], k=3, rerank=False)
                except ragpg.RagpgError as error:
                    self.failed += 1
                    self.errors.append(str(error))
                    continue
                self.times.append(time.perf_counter() - began)
                self.searches += 1
                if result.report["vector"].error:
                    self.failed += 1
                    self.errors.append(result.report["vector"].error)
                    continue
                self.check(source, text, result)

    def check(self, source: str, text: str, result: ragpg.SearchResult) -> None:
        if not result.hits:
            self.empty += 1
            return
        for model in self.models:
            query = model.embed_query(text)
            fits = [
                abs(cosine(query, model.embed_query(_embedded(hit))) - hit.arms["vector"].score)
                < 0.002
                for hit in result.hits
            ]
            if all(fits):
                self.used[model.dimensions] += 1
                self.missed += result.hits[0].source != source
                return
        self.errors.append(f"{source}: {[hit.source for hit in result.hits]}")
        self.wrong += 1


def _embedded(hit: ragpg.Hit) -> str:
    return f"{hit.breadcrumb}\n{hit.content}" if hit.breadcrumb.strip() else hit.content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dsn")
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=2)
    arguments = parser.parse_args()
    old, new = HashEmbedder(256), HashEmbedder(384)
    figures: dict[str, Any] = {"chunks": arguments.chunks}
    with ragpg.connect(arguments.dsn, embedder=old) as rag:
        began = time.perf_counter()
        report = rag.ingest(texts=texts(arguments.chunks))
        figures["ingest_s"] = round(time.perf_counter() - began, 1)
        assert report.ok, report.notes
        clients = [
            Searching(arguments.dsn, (old, new), arguments.chunks) for _ in range(arguments.clients)
        ]
        for one in clients:
            one.start()
        writes = _Writing(arguments.dsn, (old, new), arguments.chunks)
        writes.start()
        began = time.perf_counter()
        built = reembed.build(rag, "default", new)
        figures["build_s"] = round(time.perf_counter() - began, 1)
        figures["built"] = {"stored": built.stored, "missing": built.missing,
                            "indexed": built.indexed}  # fmt: skip
        figures["switch_ms"] = []
        for back in (False, True, True):
            time.sleep(3)
            began = time.perf_counter()
            reembed.switch(rag, "default", back=back)
            figures["switch_ms"].append(round((time.perf_counter() - began) * 1000, 1))
        time.sleep(3)
        writes.stop.set()
        writes.join()
        figures["spaces"] = [
            [one.dimensions, one.state, one.vectors, one.missing]
            for one in reembed.spaces(rag, "default")
        ]
        reembed.drop(rag, "default")
        time.sleep(3)
        for one in clients:
            one.stop.set()
        for one in clients:
            one.join()
    times = sorted(time for one in clients for time in one.times)
    figures |= {
        "searches": sum(one.searches for one in clients),
        "failed": sum(one.failed for one in clients),
        "wrong_space": sum(one.wrong for one in clients),
        "missed": sum(one.missed for one in clients),
        "empty": sum(one.empty for one in clients),
        "by_space": {size: sum(one.used[size] for one in clients) for size in clients[0].used},
        "p50_ms": round(1000 * times[len(times) // 2], 1),
        "p99_ms": round(1000 * times[int(len(times) * 0.99)], 1),
        "ingested_meanwhile": writes.written,
        "errors": [error for one in clients for error in one.errors][:5],
    }
    print(json.dumps(figures, indent=1))


class _Writing(threading.Thread):
    """A client with both models that ingests a few documents a second."""

    def __init__(self, dsn: str, models: tuple[HashEmbedder, HashEmbedder], first: int) -> None:
        super().__init__(daemon=True)
        self.dsn, self.models, self.first = dsn, models, first
        self.stop = threading.Event()
        self.written = 0

    def run(self) -> None:
        with ragpg.connect(self.dsn, embedder=Embedders(*self.models)) as rag:
            while not self.stop.wait(0.5):
                rag.ingest(texts=texts(3, self.first + self.written))
                self.written += 3


if __name__ == "__main__":
    main()
