"""Entities and relations from a chat model reach the graph once, and follow the text."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import ragpg
from ragpg.errors import NamespaceNotFound, ProviderError
from ragpg.graph.extract import ExtractionReport, extract
from ragpg.types import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg


class Reader:
    """Names every capitalised word of a passage, and relates each to the next."""

    model = "reader"

    def __init__(self, *, confused_by: str = "", broken: bool = False) -> None:
        self.requests: list[int] = []
        self.options: Mapping[str, Any] = {}
        self.confused_by = confused_by
        self.broken = broken

    def generate(self, messages: Sequence[Mapping[str, str]], **options: Any) -> tuple[str, Usage]:
        if self.broken:
            raise ProviderError("down", scope="service")
        passages = re.findall(r"<passage.*?>\n(.*?)\n</passage>", messages[1]["content"], re.S)
        self.requests.append(len(passages))
        self.options = options
        if self.confused_by and any(self.confused_by in text for text in passages):
            return "I cannot say.", Usage(input_tokens=1)
        answer = []
        for number, text in enumerate(passages, 1):
            names = list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]+\b", text)))
            answer.append(
                {
                    "id": number,
                    "entities": [
                        {"name": name, "kind": "thing", "description": f"{name} is there."}
                        for name in names
                    ],
                    "relations": [
                        {"source": one, "target": other, "kind": "precedes", "weight": 3}
                        for one, other in itertools.pairwise(names)
                    ],
                }
            )
        return json.dumps({"passages": answer}), Usage(input_tokens=10, output_tokens=5)


def _run(rag: ragpg.Client, reader: Reader, **options: Any) -> ExtractionReport:
    return rag.run(extract("default", reader, **options))


def _names(db: psycopg.Connection[Any]) -> set[str]:
    rows = db.execute(
        "select distinct entity.name from ragpg.mention join ragpg.entity"
        " on entity.namespace_id = mention.namespace_id and entity.id = mention.entity_id"
        " where origin = 'model'"
    ).fetchall()
    return {name for [name] in rows}


TEXTS = {
    "one.txt": "Orion uses Falcon.",
    "two.txt": "Falcon was made by Delta.",
    "three.txt": "Echo knows nobody.",
}


def test_chunks_are_read_once_and_again_when_they_change(
    rag: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    rag.ingest(texts=TEXTS.items())
    reader = Reader()
    seen: list[int] = []
    report = _run(rag, reader, batch=2, on_batch=lambda so_far: seen.append(so_far.read))
    assert (report.read, report.failed, report.known) == (3, 0, 0)
    assert reader.requests == [2, 1]
    assert seen == [2, 3]
    assert report.usage == Usage(20, 10)
    assert reader.options["response_format"]["type"] == "json_schema"
    assert {"Orion", "Falcon", "Delta", "Echo"} <= _names(db)
    relations = db.execute(
        "select one.name, kind_.kind, other.name, kind_.weight from ragpg.relation as kind_"
        " join ragpg.entity as one on one.id = kind_.source"
        " join ragpg.entity as other on other.id = kind_.target"
    ).fetchall()
    assert ("Orion", "precedes", "Falcon", 3.0) in relations

    # Nothing is left to read.
    assert _run(rag, reader).read == 0
    assert len(reader.requests) == 2
    # A changed text is read anew, and what its old text said is gone.
    rag.ingest(texts=[("one.txt", "Orion uses Golf."), ("three.txt", "Echo knows nobody.")])
    report = _run(rag, reader)
    assert (report.read, report.known) == (1, 0)
    assert "Golf" in _names(db)
    kept = db.execute("select name from ragpg.entity where kind = 'thing'").fetchall()
    assert {name for [name] in kept} >= {"Falcon", "Golf"}
    # A text that was read before, in another document now, is not paid for.
    rag.delete(["three.txt"])
    assert "Echo" not in _names(db)
    rag.ingest(texts=[("four.txt", "Echo knows nobody."), ("five.txt", "Echo knows nobody.")])
    report = _run(rag, reader)
    assert (report.read, report.known) == (0, 2)
    assert "Echo" in _names(db)
    # Another prompt is another question.
    assert _run(rag, reader, prompt="List the ports.").read == 3


def test_a_run_goes_on_where_it_was_stopped(rag: ragpg.Client, db: psycopg.Connection[Any]) -> None:
    rag.ingest(texts=TEXTS.items())
    reader = Reader()
    assert _run(rag, reader, batch=1, limit=2).read == 2
    reader.broken = True
    with pytest.raises(ProviderError, match="down"):
        _run(rag, reader)
    reader.broken = False
    assert _run(rag, reader, structured=False).read == 1
    assert "response_format" not in reader.options
    assert {"Orion", "Delta", "Echo"} <= _names(db)


def test_one_passage_that_confuses_the_model_spoils_no_other(
    rag: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    rag.ingest(texts=TEXTS.items())
    report = _run(rag, Reader(confused_by="Falcon was made"), batch=3)
    assert (report.read, report.failed) == (2, 1)
    assert "no list of passages" in report.errors[0]
    assert {"Orion", "Echo"} <= _names(db)
    # The next run tries it again.
    assert _run(rag, Reader()).read == 1
    with pytest.raises(NamespaceNotFound):
        rag.run(extract("nobody", Reader()))


@pytest.mark.case("GR-04")
def test_extractions_leave_with_their_document_gr_04(
    rag: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    rag.ingest(texts={"d1": "Orion uses Falcon.", "d2": "Falcon is made by Delta."}.items())
    _run(rag, Reader())
    rag.delete(["d1"])
    assert _names(db) >= {"Falcon", "Delta"}
    assert "Orion" not in _names(db)
    kinds = db.execute("select chunk_id from ragpg.relation").fetchall()
    assert len(kinds) == 1
    said = db.execute("select description from ragpg.mention where origin = 'model'").fetchall()
    assert all("Orion" not in text for [text] in said)
    rag.ingest(texts=[("d2", "Falcon flies alone.")])
    _run(rag, Reader())
    assert "Delta" not in _names(db)
    left = db.execute("select name from ragpg.entity where name = 'Delta'").fetchall()
    assert left == []


def test_what_a_model_finds_adds_steps_and_changes_no_title(
    rag: ragpg.Client, db: psycopg.Connection[Any]
) -> None:
    texts = {
        "Orion Queue": "Orion Queue is read by Falcon Desk at Delta.",
        "Falcon Desk": "Falcon Desk answers for Golf Club.",
        "Golf Club": "Nobody at Golf Club knows Delta or Orion Queue.",
    }
    rag.ingest(texts=[ragpg.Document(f"{name}.md", text, name) for name, text in texts.items()])
    steps = """
select tier, chunk_id, document_id, path, round(weight::numeric, 6)
  from ragpg.graph_paths((select array_agg(id order by id) from ragpg.chunk where ordinal = 0),
                         ragpg.namespace_ids('{default}'), 'What is the Falcon Desk?')
 order by 1, 2, 3, 4, 5
"""
    before = db.execute(steps).fetchall()
    assert sum(row[0] == 1 for row in before) > 4
    _run(rag, Reader())
    after = db.execute(steps).fetchall()
    assert [row for row in after if row[0] == 1] == [row for row in before if row[0] == 1]
    paths = {row[3] for row in after} - {row[3] for row in before}
    assert "Orion Queue.md also names Delta" in paths
    assert any("precedes" in path for path in paths)
