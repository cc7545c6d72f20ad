"""The search of the client: its report, its degradations, its retrievers, asking and grounding."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import ConfigError, DatabaseError, FilterError, NamespaceNotFound, ProviderError
from ragpg.testing import FailingEmbedder, HashEmbedder, ScriptedGenerator
from ragpg.types import Hit

from .doubles import CountingEmbedder, contents

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import psycopg

    Database = psycopg.Connection[Any]

TEXTS = [
    ("refunds.md", "# Refunds\n\nRefunds take 14 days. Gift cards are not refunded."),
    ("shipping.md", "# Shipping\n\nParcels leave on the day of the order."),
]


class Wiki:
    """A retriever that waits, fails, or answers."""

    name = "wiki"

    def __init__(
        self, *, wait: Callable[[], object] = bool, error: Exception | None = None
    ) -> None:
        self.wait = wait
        self.error = error
        self.asked: list[tuple[str, int]] = []

    def retrieve(self, query: str, k: int, filter: Mapping[str, Any] | None) -> Sequence[Hit]:
        self.asked.append((query, k))
        self.wait()
        if self.error:
            raise self.error
        return [Hit(1, 0.9, "wiki", "wiki/Refund", "A refund is money given back.")]


@pytest.fixture
def filled(rag: ragpg.Client) -> ragpg.Client:
    rag.ingest(texts=TEXTS)
    return rag


def test_the_report_names_every_arm_and_stage(filled: ragpg.Client) -> None:
    result = filled.search("how long do refunds take?", answer="Refunds take 14 days [1].")
    assert list(result.report) == [
        "embed", "vector", "keyword", "metadata", "graph", "sentence", "rerank", "diversity",
    ]  # fmt: skip
    assert result.report["metadata"].skipped == "no filter"
    assert result.report["vector"].mode == "exact"
    assert result.notes == []
    assert result.context.startswith("Sources (cite as [n]):\n\n[1] refunds.md (lines 1-3)")
    assert [one.hit.source for one in result.citations] == [hit.source for hit in result.hits]
    assert result.grounding is not None
    assert result.grounding.state == "grounded"


def test_nothing_asked_is_nothing_found(filled: ragpg.Client) -> None:
    assert filled.search("   ").hits == []
    assert filled.search("refunds", k=0).hits == []
    with pytest.raises(ConfigError):
        filled.search("refunds", k=-1)
    with pytest.raises(NamespaceNotFound, match="nowhere"):
        filled.search("refunds", namespace="nowhere")
    with pytest.raises(FilterError):
        filled.search("refunds", filter={"year": {"nonsense": 1}})
    with pytest.raises(ConfigError, match="nonsense"):
        filled.search("refunds", arms=["nonsense"])
    with pytest.raises(DatabaseError, match="character"):
        filled.search("refunds", namespace="\ud800")
    # What cannot be in the database is cleaned, not refused.
    assert filled.search("refunds\x00 \ud800").hits


def test_k_and_order_do_not_depend_on_each_other(filled: ragpg.Client) -> None:
    everything = filled.search("refunds parcels", k=10).hits
    assert [hit.rank for hit in everything] == list(range(1, len(everything) + 1))
    assert filled.search("refunds parcels", k=1).hits == everything[:1]


def test_a_failing_embedder_leaves_the_other_arms(database: str, filled: ragpg.Client) -> None:
    failing = FailingEmbedder(dimensions=32)
    with ragpg.connect(database, embedder=failing) as rag:
        result = rag.search("refunds")
    assert [hit.source for hit in result.hits] == ["refunds.md"]
    assert "away" in str(result.report["embed"].error)
    assert result.report["vector"].skipped == "no query vector"
    assert any("vector arm skipped" in note for note in result.notes)


def test_namespaces_of_two_models_keep_their_keyword_arm(database: str) -> None:
    for size in (8, 16):
        with ragpg.connect(database, embedder=HashEmbedder(size)) as rag:
            rag.ingest(texts=TEXTS, namespace=f"n{size}")
    with ragpg.connect(database, embedder=HashEmbedder(8)) as rag:
        result = rag.search("refunds", namespace=["n8", "n16"])
        assert {hit.namespace for hit in result.hits} == {"n8", "n16"}
        assert "different embedding spaces" in str(result.report["vector"].error)


def test_retrievers_run_beside_and_join_the_fusion(database: str, filled: ragpg.Client) -> None:
    # Each goes on when the other has come as far: one after the other they would fail.
    both = threading.Barrier(2, timeout=20)
    wiki = Wiki(wait=both.wait)
    other = Wiki(wait=both.wait)
    other.name = "other"
    with ragpg.connect(database, retrievers=[wiki, other]) as rag:
        result = rag.search("refund", rerank=False)
        assert result.report["wiki"].error is None
        wiki.wait = other.wait = bool
        found = {hit.source: hit for hit in result.hits}
        assert set(found["wiki/Refund"].arms) == {"wiki", "other"}
        assert set(found["refunds.md"].arms) == {"keyword"}
        assert result.report["wiki"].rows == 1
        assert wiki.asked == [("refund", 50)]
        # Switched off, or the only ones.
        result = rag.search("refund", arms={"wiki": False, "other": {"weight": 0.1, "k": 3}})
        assert "wiki" not in result.report
        assert other.asked[-1] == ("refund", 3)
        result = rag.search("refund", arms=["wiki"])
        assert [hit.source for hit in result.hits] == ["wiki/Refund"]


@pytest.mark.parametrize("colour", ["sync", "async"])
def test_a_retriever_that_fails_or_is_slow_is_reported(
    database: str, filled: ragpg.Client, colour: str
) -> None:
    settings = ragpg.Settings(retriever_timeout=0.2)
    # Who waited for it would have its hit, and no error.
    woken = threading.Event()
    for wiki in (Wiki(wait=partial(woken.wait, 60)), Wiki(error=OSError("no route"))):
        if colour == "sync":
            with ragpg.connect(database, retrievers=[wiki], settings=settings) as rag:
                result = rag.search("refund")
        else:

            async def main(wiki: Wiki = wiki) -> ragpg.SearchResult:
                async with ragpg.aconnect(database, retrievers=[wiki], settings=settings) as rag:
                    return await rag.search("refund")

            result = asyncio.run(main())
        assert [hit.source for hit in result.hits] == ["refunds.md"]
        assert result.report["wiki"].error
        assert any("wiki" in note for note in result.notes)
    woken.set()


def test_ask_answers_cites_and_checks(database: str, filled: ragpg.Client) -> None:
    model = ScriptedGenerator("Refunds take 14 days [1]. They take 90 days [1].")
    with ragpg.connect(database, embedder=HashEmbedder(32), generator=model) as rag:
        answer = rag.ask("How long do refunds take?")
        assert [one.hit.source for one in answer.citations] == ["refunds.md"]
        assert [claim.verdict for claim in answer.grounding.claims] == ["supported", "contradicted"]
        assert answer.usage.output_tokens > 0
        assert "Refunds take 14 days" in model.requests[0][1]["content"]
    with ragpg.connect(database, generator=model) as rag:
        refused = rag.ask("Who won the chess tournament?")
        assert refused.refused
        assert len(model.requests) == 1
    with ragpg.connect(database) as rag:
        with pytest.raises(ConfigError, match="chat model"):
            rag.ask("How long?")
        failing = ScriptedGenerator([ProviderError("away")])
        with pytest.raises(ProviderError):
            rag.ask("How long do refunds take?", generator=failing)
        grounding = rag.ground("Refunds take 14 days.", question="refunds")
        assert grounding.state == "grounded"


def test_a_dry_run_writes_nothing(database: str, db: Database, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("A text.")
    embedder = CountingEmbedder()
    with ragpg.connect(database, embedder=embedder) as rag:
        report = rag.ingest(tmp_path, dry_run=True)
        assert [(file.status, file.chunks) for file in report.files] == [("stored", 1)]
        assert rag.namespaces() == []
        rag.ingest(tmp_path)
        (tmp_path / "a.md").write_text("Another text.")
        requests = embedder.requests
        assert rag.ingest(tmp_path, dry_run=True).count("stored") == 1
        assert embedder.requests == requests
        assert contents(db) == {"a.md": ["A text."]}


def test_paths_are_named_from_the_root(rag: ragpg.Client, db: Database, tmp_path: Path) -> None:
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    (tmp_path / "docs" / "guide" / "a.md").write_text("A text.")
    (tmp_path / "b.md").write_text("Outside.")
    rag.ingest(tmp_path / "docs" / "guide", root=tmp_path)
    assert set(contents(db)) == {"docs/guide/a.md"}
    with pytest.raises(ConfigError, match="not below the root"):
        rag.ingest(tmp_path / "b.md", root=tmp_path / "docs")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"embedding": [0.1, float("nan")]}, "nan at place 1"),
        ({"embedding": "[0.1]"}, "list of numbers"),
        ({"context_tokens": -1}, "context_tokens"),
        ({"namespace": None}, "no namespace"),
    ],
)
def test_wrong_arguments_are_named(rag: ragpg.Client, options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        rag.search("refund", **options)


class TestProfiles:
    """What the stages after retrieval do when a profile turns them on."""

    STEPS = "Install the tool. Then start it with the start command. Read on for options."

    def fill(self, rag: ragpg.Client) -> None:
        rag.ingest(
            texts=[
                ("a.md", f"{self.STEPS} Colours can be changed in the settings of the window."),
                ("copy.md", f"{self.STEPS} Colours can be changed in the settings of the window."),
                ("b.md", "The start command takes a port. Nothing else is known about cats."),
            ]
        )

    def test_near_duplicates_collapse_and_are_listed(self, rag: ragpg.Client) -> None:
        self.fill(rag)
        plain = rag.search("start command", profile=ragpg.Profile())
        assert len(plain.hits) == 3
        one = rag.search("start command", profile=ragpg.Profile(collapse=0.9))
        assert [hit.rank for hit in one.hits] == [1, 2]
        [kept] = [hit for hit in one.hits if hit.duplicates]
        assert {kept.source, kept.duplicates[0].source} == {"a.md", "copy.md"}
        assert one.report["diversity"].rows == 2

    def test_mmr_puts_the_other_topic_second(self, rag: ragpg.Client) -> None:
        self.fill(rag)
        found = rag.search("start command", profile=ragpg.Profile(mmr=0.5), k=2)
        assert {hit.source for hit in found.hits} > {"b.md"}

    def test_compression_shows_the_sentences_that_answer(self, rag: ragpg.Client) -> None:
        self.fill(rag)
        found = rag.search("how do I change colours?", profile=ragpg.Profile(compress=True), k=1)
        assert "Colours can be changed" in found.context
        assert "Install the tool" not in found.context
        assert "Install the tool" in found.hits[0].content
        cited = found.citations[0].hit
        assert cited.content in found.hits[0].content
        assert cited.start_char is not None
        assert cited.start_char > 0

    def test_parents_show_the_chunks_around(self, rag: ragpg.Client) -> None:
        text = "\n\n".join(f"Paragraph {n} speaks of topic{n} at some length." for n in range(6))
        rag.ingest(texts=[("long.md", text)], chunker=ragpg.HeadingChunker(60, 0))
        found = rag.search("topic3", profile=ragpg.Profile(parents=1), k=1)
        assert "topic2" in found.context
        assert "topic4" in found.context
        assert found.hits[0].content == "Paragraph 3 speaks of topic3 at some length."
        assert len(found.citations[0].hit.chunk_ids) == 3

    def test_a_stage_that_fails_is_reported_and_the_search_goes_on(
        self, rag: ragpg.Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.fill(rag)

        def broken(*_: object, **__: object) -> None:
            raise ValueError("no")

        monkeypatch.setattr("ragpg.query.selection.diversify", broken)
        monkeypatch.setattr("ragpg.query.selection.expand_within", broken)
        profile = ragpg.Profile(collapse=0.9, parents=1)
        found = rag.search("start command", profile=profile)
        assert len(found.hits) == 3
        assert found.report["diversity"].error == "ValueError: no"
        assert "parents failed: ValueError: no" in found.notes
        assert "start command" in found.context

    def test_the_context_shortens_before_it_drops(self, rag: ragpg.Client) -> None:
        self.fill(rag)
        wide = ragpg.Profile()
        whole = rag.search("changed colours", profile=wide)
        room = whole.context_tokens - 15
        small = rag.search("changed colours", profile=wide, context_tokens=room)
        assert len(small.citations) == len(whole.citations) == 3
        assert small.context_tokens <= whole.context_tokens - 15
