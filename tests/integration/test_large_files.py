"""A text file beyond memory: one document, in one transaction, known again, resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.ingest import windows

from .doubles import CountingEmbedder, contents

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    Database = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "LARGE", 20_000)
    monkeypatch.setattr(windows, "WINDOW", 10_000)


def test_a_large_file_is_stored_in_parts_and_known_again(
    database: str, db: Database, tmp_path: Path
) -> None:
    path = tmp_path / "big.log"
    path.write_text("".join(f"line {n}: the pump number {n * 7} runs\n" for n in range(4000)))
    (tmp_path / "small.md").write_text("small")
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        plan = rag.ingest(tmp_path, dry_run=True)
        report = rag.ingest(tmp_path, metadata={"team": "dock"})
        [big, small] = report.files
        assert (big.status, small.status) == ("stored", "stored")
        assert big.chunks == big.new_chunks == big.embedded == plan.files[0].chunks > 100
        assert "were read in parts" in big.notes[0]
        assert "".join(contents(db)["big.log"][-1]).endswith("runs")
        [hit, *_] = rag.search("pump 27993", filter={"team": "dock"}).hits
        assert "line 3999: the pump number 27993" in hit.content
        assert hit.end_line == 4000
        assert rag.ingest(tmp_path, metadata={"team": "dock"}).count("unchanged") == 2
        asked = len(embedder.texts)
        with path.open("a") as file:
            file.write("one more line\n")
        [big, _] = rag.ingest(tmp_path, metadata={"team": "dock"}).files
        assert (big.status, big.new_chunks) == ("stored", 1)
        assert len(embedder.texts) == asked + 1


def test_a_failed_service_leaves_the_old_text_and_what_was_paid_for(
    database: str, db: Database, tmp_path: Path
) -> None:
    path = tmp_path / "big.txt"
    path.write_text("First text. " * 4000)
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        rag.ingest(tmp_path)
        before = contents(db)
        path.write_text("".join(f"Second text {n}. " for n in range(4000)))
        embedder.down = True
        [file] = rag.ingest(tmp_path).files
        assert (file.status, file.chunks) == ("failed", len(before["big.txt"]))
        assert contents(db) == before
        embedder.down = False
        [file] = rag.ingest(tmp_path).files
        assert file.status == "stored"
        assert contents(db) != before
