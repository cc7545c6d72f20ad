"""Reports on communities are written once for their members; without a model the hub speaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError, NamespaceNotFound, ProviderError
from ragpg.graph.reports import overview, read, reports, write_reports
from ragpg.testing import ScriptedGenerator
from tests.age import content

if TYPE_CHECKING:
    import psycopg

    import ragpg

REPORT = json.dumps(
    {"title": "Refunds", "summary": "How refunds work.", "findings": ["They take 14 days.", 3]}
)


@pytest.fixture
def communities(rag: ragpg.Client, db: psycopg.Connection[Any]) -> None:
    """Two communities of two documents, and a document alone in a third."""
    texts = {
        "refund.md": "Refunds take 14 days.", "money.md": "Refunds are paid to the card.",
        "parcel.md": "Parcels leave daily.", "post.md": "Parcels go by post.", "odd.md": "Tea.",
    }  # fmt: skip
    rag.ingest(texts=texts.items())
    _divide(
        db, {"pay": ["refund.md", "money.md"], "ship": ["parcel.md", "post.md"], "x": ["odd.md"]}
    )


def _divide(db: psycopg.Connection[Any], members: dict[str, list[str]]) -> None:
    db.execute("delete from ragpg.document_rank")
    db.execute("delete from ragpg.community")
    ids = dict(db.execute("select source, id from ragpg.document").fetchall())
    owner = content.namespace(db)
    content.communities(db, owner, {name: [ids[one] for one in of] for name, of in members.items()})


def test_reports_are_written_for_what_changed_alone(
    rag: ragpg.Client, db: psycopg.Connection[Any], communities: None
) -> None:
    model = ScriptedGenerator([f"Here it is: {REPORT}"])
    run = rag._run(write_reports("default", model))
    assert (run.written, run.kept, run.failed) == (2, 0, 0)
    assert "14 days" in model.requests[0][1]["content"]
    assert "## " in model.requests[0][1]["content"]
    # The analysis ran again and found the same.
    _divide(
        db, {"ship": ["post.md", "parcel.md"], "pay": ["money.md", "refund.md"], "x": ["odd.md"]}
    )
    run = rag._run(write_reports("default", model))
    assert (run.written, run.kept) == (0, 2)
    # One text changed: one report.
    rag.ingest(texts=[("post.md", "Parcels go by bike.")])
    run = rag._run(write_reports("default", model))
    assert (run.written, run.kept) == (1, 1)
    assert "bike" in model.requests[-1][1]["content"]
    count = db.execute("select count(*) from ragpg.community_report").fetchone()
    assert count == (2,)
    assert rag._run(write_reports("default", model, minimum=1, limit=0)).written == 0


def test_a_failure_is_not_kept_and_the_hub_speaks(
    rag: ragpg.Client, db: psycopg.Connection[Any], communities: None
) -> None:
    run = rag._run(write_reports("default", ScriptedGenerator(["I cannot.", REPORT])))
    assert (run.written, run.failed) == (1, 1)
    assert "no title and summary" in run.errors[0]
    found = rag._run(reports("When do parcels leave?"))
    assert {one.kind for one in found} == {"report", "hub"}
    shown = {one.kind: one for one in found}
    assert shown["report"].findings == ("They take 14 days.",)
    with pytest.raises(ProviderError):
        rag._run(
            write_reports("default", ScriptedGenerator([ProviderError("down", scope="service")]))
        )
    assert rag._run(write_reports("default", ScriptedGenerator(REPORT))).written == 1


def test_questions_about_the_whole_are_answered_from_reports(
    rag: ragpg.Client, communities: None
) -> None:
    # Without any report the hubs are ranked by the question.
    [first, *_] = rag._run(reports("parcels by post", k=2))
    assert "Parcels" in first.summary
    model = ScriptedGenerator("Two things [1][2].")
    answer = rag._run(overview("What is this about?", model, k=2))
    assert answer.text == "Two things [1][2]."
    assert len(answer.reports) == 2
    sent = model.requests[0][1]["content"]
    assert "[1] " in sent
    assert sent.endswith("Question: What is this about?")
    for hostile in ("", "' & | !", "a\\b $$ %s", "x" * 20_000):
        assert len(rag._run(reports(hostile))) == 3


def test_without_communities_there_is_nothing_to_answer_from(rag: ragpg.Client) -> None:
    rag.create_namespace("default")
    with pytest.raises(ConfigError, match="no communities"):
        rag._run(overview("What?", ScriptedGenerator("x")))
    with pytest.raises(NamespaceNotFound):
        rag._run(reports("What?", namespace="nobody"))
    with pytest.raises(ProviderError):
        read('{"title": "", "summary": 3} {"title": "x"}')
