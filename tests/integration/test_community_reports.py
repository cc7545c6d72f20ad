"""Reports on communities: written once, redone where documents change, gone with what they read."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import NamespaceNotFound, ProviderError
from ragpg.graph.community_reports import ReportsRun, write_reports
from ragpg.graph.global_search import search_global
from ragpg.testing import FailingEmbedder, HashEmbedder, ScriptedGenerator
from ragpg.types import Usage
from tests.conftest import DIMENSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg

    from ragpg.graph.global_search_result import GlobalResult

TEXTS = {
    "refund.md": "Refunds are paid within 14 days by the desk of Delta.",
    "returns.md": "Returns need a label. Refunds follow.",
    "falcon.md": "Falcon is a queue that Orion reads.",
    "orion.md": "Orion reads the queue Falcon at night.",
    "echo.md": "Echo stands alone.",
}


class Reporter:
    """Reports the first words of what it is shown; what is `broken` is no JSON."""

    model = "reporter"

    def __init__(self, broken: str | None = None) -> None:
        self.broken = broken
        self.requests: list[str] = []

    def generate(self, messages: Sequence[Mapping[str, str]], **options: Any) -> tuple[str, Usage]:
        text = messages[1]["content"]
        self.requests.append(text)
        assert options["response_format"]["json_schema"]["strict"]
        usage = Usage(input_tokens=100, output_tokens=10, cost_usd=0.01)
        if self.broken and self.broken in text:
            return "I would rather not.", usage
        shown = re.findall(r"<document.*?>\n(.*?)\n</document>", text, re.S)
        report = {
            "title": f"On {shown[0].split()[0]}",
            "summary": " ".join(shown),
            "findings": ["Paid within 14 days.", "Paid within 99 days."],
        }
        return json.dumps(report), usage


def communities(db: psycopg.Connection[Any], *groups: Sequence[str]) -> None:
    """Make communities by hand: an analysis would find others as it gets better."""
    db.execute("delete from ragpg.community")
    for group in groups:
        db.execute(
            """
with made as (
  insert into ragpg.community (namespace_id, name, size, hub_id)
  select namespace_id, %(hub)s, %(size)s, id from ragpg.document where source = %(hub)s
  returning namespace_id, id
)
insert into ragpg.document_rank (namespace_id, document_id, community_id)
select document.namespace_id, document.id, made.id
  from made join ragpg.document using (namespace_id) where source = any (%(group)s)
    on conflict (namespace_id, document_id) do update set community_id = excluded.community_id
""".replace("using (namespace_id)", "on document.namespace_id = made.namespace_id"),
            {"hub": group[0], "size": len(group), "group": list(group)},
        )


@pytest.fixture
def corpus(rag: ragpg.Client, db: psycopg.Connection[Any]) -> ragpg.Client:
    """Two communities, and a document that belongs to none."""
    rag.ingest(texts=TEXTS.items())
    communities(db, ["refund.md", "returns.md"], ["falcon.md", "orion.md"])
    return rag


def _write(rag: ragpg.Client, reporter: Any, **options: Any) -> ReportsRun:
    return rag.run(write_reports("default", reporter, HashEmbedder(DIMENSIONS), **options))


def _search(rag: ragpg.Client, query: str, **options: Any) -> GlobalResult:
    return rag.run(search_global(query, embedder=HashEmbedder(DIMENSIONS), **options))


def _titles(db: psycopg.Connection[Any]) -> list[str]:
    return [one for [one] in db.execute("select title from ragpg.community_report order by 1")]


def test_only_what_changed_is_reported_on_again(
    corpus: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    reporter = Reporter()
    dry = _write(corpus, reporter, dry_run=True)
    assert (dry.communities, dry.left, dry.written) == (2, 2, 0)
    assert dry.input_tokens > 100
    assert not reporter.requests
    seen: list[int] = []
    run = _write(corpus, reporter, on_report=lambda so_far: seen.append(so_far.written))
    assert (run.communities, run.written, run.current, run.failed, run.embedded) == (2, 2, 0, 0, 2)
    assert run.usage == Usage(200, 20, 0.02)
    assert seen == [1, 2]
    assert 'source="refund.md"' in reporter.requests[0]
    # A number that was not shown is not believed.
    findings = db.execute("select findings from ragpg.community_report order by title").fetchall()
    assert findings == [([],), (["Paid within 14 days."],)]

    again = _write(corpus, reporter)
    assert (again.written, again.current, len(reporter.requests)) == (0, 2, 2)
    # The same community after another analysis has its report still.
    communities(db, ["orion.md", "falcon.md"], ["refund.md", "returns.md"])
    assert [one.kind for one in _search(corpus, "refunds").reports] == ["hub", "hub"]
    assert (_write(corpus, reporter).current, len(reporter.requests)) == (2, 2)
    assert [one.kind for one in _search(corpus, "refunds").reports] == ["report", "report"]

    corpus.ingest(texts=[("orion.md", "Orion reads the queue Falcon at noon.")])
    found = _search(corpus, "Which queue does Orion read?")
    assert [one.stale for one in found.reports] == [True, False]
    assert "1 of 2 reports are older than their documents" in found.notes
    changed = _write(corpus, reporter)
    assert (changed.current, changed.written, len(reporter.requests)) == (1, 1, 3)
    assert "at noon" in _search(corpus, "Orion Falcon").reports[0].summary
    # Another prompt is another reporter, and its reports take the place of the former.
    assert _write(corpus, reporter, prompt="Say it in one line.").written == 2
    assert not any(one.stale for one in _search(corpus, "Orion").reports)
    with pytest.raises(NamespaceNotFound):
        corpus.run(write_reports("nobody", reporter))


def test_a_failed_report_is_not_kept_and_the_hub_stands_in(
    corpus: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    run = _write(corpus, Reporter(broken="Falcon"), parallel=2)
    assert (run.written, run.failed) == (1, 1)
    assert "falcon.md (2): the answer holds no report" in run.errors[0]
    assert len(_titles(db)) == 1
    found = _search(corpus, "Which queue is read at night?")
    assert {one.kind for one in found.reports} == {"hub", "report"}
    hub = next(one for one in found.reports if one.kind == "hub")
    assert hub.summary == TEXTS["falcon.md"]
    assert hub.hit.source == "falcon.md"
    assert hub.chunk_id is not None
    assert hub.vector_rank is not None
    assert any("1 of 2 communities have no report" in note for note in found.notes)
    # The next run tries it again, and only it.
    reporter = Reporter()
    assert _write(corpus, reporter).written == 1
    assert len(reporter.requests) == 1


def test_a_run_goes_on_where_it_was_stopped(corpus: ragpg.Client) -> None:
    away = ProviderError("no answer", scope="service")
    good = json.dumps({"title": "Refunds", "summary": "How refunds go.", "findings": []})
    with pytest.raises(ProviderError, match="no answer"):
        _write(corpus, ScriptedGenerator([good, away], model="m"))
    run = _write(corpus, ScriptedGenerator(good, model="m"), limit=5)
    assert (run.current, run.written, run.left) == (1, 1, 0)


def test_reports_go_with_what_they_read(corpus: ragpg.Client, db: psycopg.Connection[Any]) -> None:
    reporter = Reporter()
    _write(corpus, reporter)
    corpus.delete(["echo.md"])
    assert len(_titles(db)) == 2
    corpus.delete(["orion.md"])
    assert _titles(db) == ["On refund.md"]
    [first, *_] = _search(corpus, "Falcon").reports
    assert (first.kind, first.summary) == ("hub", TEXTS["falcon.md"])
    assert "Orion reads the queue" not in str(_search(corpus, "Falcon"))
    # A report on what was deleted meanwhile is not stored.
    [[community]] = db.execute("select community_id from ragpg.community_report").fetchall()
    stored = db.execute(
        "select ragpg.store_report('default', 'm', %s, '\\x00', "
        """'{"title": "Old", "summary": "Old."}')""",
        [community],
    ).fetchone()
    assert stored == (False,)


def test_reports_without_an_embedder_get_their_vectors_later(
    corpus: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    reporter = Reporter()
    run = corpus.run(write_reports("default", reporter))
    assert "none was given" in run.notes[0]
    assert [one.vector_rank for one in _search(corpus, "refund").reports] == [None, None]
    away = corpus.run(
        write_reports("default", reporter, FailingEmbedder(model="hash", dimensions=DIMENSIONS))
    )
    assert "reports have no vectors" in away.notes[0]
    run = _write(corpus, reporter)
    assert (run.embedded, run.written) == (2, 0)
    assert {one.vector_rank for one in _search(corpus, "refund").reports} == {1, 2}
    # Where the query has no vector, words do.
    found = corpus.run(
        search_global("refund", embedder=FailingEmbedder(model="other", dimensions=3))
    )
    assert "words alone" in found.notes[0]
    assert found.reports[0].title == "On refund.md"


def test_a_question_on_the_whole_is_answered_from_reports(corpus: ragpg.Client) -> None:
    _write(corpus, Reporter())
    model = ScriptedGenerator("Refunds take 14 days [1]. There is a queue [2]. And more [9].")
    found = _search(corpus, "How long do refunds take?", generator=model)
    assert found.answer == "Refunds take 14 days [1]. There is a queue [2]. And more."
    assert [one.hit.title for one in found.citations] == ["On refund.md", "On falcon.md"]
    assert found.report["answer"].mode == "direct"
    assert found.grounding is not None
    assert next(one.verdict for one in found.grounding.claims) == "supported"
    assert any("cited reports that do not exist: [9]" in note for note in found.notes)
    assert len(model.requests) == 1

    # Too much for one request: points of each part, then the answer from all points.
    points = [
        json.dumps({"points": [{"point": "Within 14 days.", "score": 80, "reports": [1, 7]}]}),
        "no points here",
        "14 days [1].",
    ]
    model = ScriptedGenerator(points)
    found = _search(corpus, "How long do refunds take?", generator=model, tokens=40)
    assert found.answer == "14 days [1]."
    assert [one.reports for one in found.points] == [(1,)]
    assert found.report["answer"].mode == "map-reduce"
    assert "reports 2 to 2: the answer holds no list of points in JSON" in found.notes
    assert "Within 14 days. [1]" in model.requests[2][1]["content"]
    # Nothing on the question is an answer too, and one that asks no further.
    model = ScriptedGenerator('{"points": []}')
    found = _search(corpus, "Who is the king?", generator=model, tokens=40)
    assert found.answer == "I could not find this in the reports."
    assert len(model.requests) == 2
    # A model that is away leaves the reports.
    away = ScriptedGenerator([ProviderError("no answer", scope="service")])
    for tokens in (40, 6000):
        found = _search(corpus, "refunds", generator=away, tokens=tokens)
        assert found.answer is None
        assert len(found.reports) == 2
        assert any("there is no answer, only the reports" in note for note in found.notes)


def test_without_communities_it_says_what_to_do(rag: ragpg.Client) -> None:
    rag.ingest(texts=TEXTS.items())
    run = _write(rag, Reporter())
    assert (run.communities, run.written) == (0, 0)
    assert "there are no communities" in run.notes[0]
    found = _search(rag, "What is this about?")
    assert found.reports == ()
    assert "there are no communities" in found.notes[0]


def test_a_question_that_shares_no_word_finds_the_largest_first(
    rag: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    rag.ingest(texts=TEXTS.items())
    communities(db, ["falcon.md", "orion.md"], ["refund.md", "returns.md", "echo.md"])
    _write(rag, Reporter())
    found = rag.run(search_global("Wovon handelt das?"))
    assert [one.size for one in found.reports] == [3, 2]
    assert found.reports[0].sources == ("echo.md", "refund.md", "returns.md")
    assert rag.run(search_global("Wovon?", k=1)).reports == found.reports[:1]


def test_async_does_the_same(database: str, corpus: ragpg.Client) -> None:
    async def ask() -> GlobalResult:
        async with ragpg.aconnect(database, embedder=HashEmbedder(DIMENSIONS)) as rag:
            run = await rag.run(write_reports("default", Reporter(), rag.embedder, parallel=2))
            assert (run.written, run.embedded) == (2, 2)
            return await rag.run(search_global("Which queue does Orion read?"))

    found = asyncio.run(ask())
    assert found.reports[0].title == "On falcon.md"
    assert found.reports == corpus.run(search_global("Which queue does Orion read?")).reports


def test_another_tenant_sees_nothing(corpus: ragpg.Client, db: psycopg.Connection[Any]) -> None:
    _write(corpus, Reporter())
    corpus.ingest(texts=[("other.md", "Refunds elsewhere.")], namespace="other")
    found = corpus.run(search_global("refunds", namespaces=["other"]))
    assert found.reports == ()
