"""Analysis, status and names through the client."""

from __future__ import annotations

import pytest

import ragpg
from ragpg.errors import NamespaceNotFound
from ragpg.graph import analysis
from ragpg.graph.names import CapitalExtractor, find_names


def test_the_graph_is_analysed_and_its_age_is_told(database: str) -> None:
    with ragpg.connect(database) as rag:
        rag.ingest(
            texts=[
                {"source": "a.md", "text": "See [b](b.md). We asked Delta Air Lines about Orion."},
                {"source": "b.md", "text": "Here Delta Air Lines and Orion meet."},
            ]
        )
        [before] = rag.run(analysis.status(["default"]))
        assert (before.documents, before.links, before.resolved) == (2, 1, 1)
        assert (before.analysed_at, before.changed_since) == (None, 2)
        found = rag.run(analysis.analyse("default"))
        assert (found["documents"], found["communities"]) == (2, 1)
        report = rag.run(find_names("default", CapitalExtractor()))
        assert report.chunks == 2
        assert rag.run(find_names("default", CapitalExtractor())).chunks == 0
        rag.run(analysis.rebuild("default"))
        [after] = rag.run(analysis.status())
        assert after.changed_since == 0
        # What an extractor found is not rebuilt away.
        assert after.entities == 2
        hits = rag.search("What of Delta Air Lines?", arms=["keyword", "graph"])
        assert {hit.source for hit in hits.hits} == {"a.md", "b.md"}
        with pytest.raises(NamespaceNotFound):
            rag.run(analysis.analyse("none"))


def test_a_first_load_learns_which_words_are_common(database: str) -> None:
    texts = [(f"{n}.md", f"Then the old mill turned, {n} times.") for n in range(384)]
    with ragpg.connect(database) as rag:
        rag.ingest(texts=[*texts, ("zz.md", "# Old Mill\n\nIt turns.")])
        [status] = rag.run(analysis.status(["default"]))
        # Its words are in every text before: that it is looked for there is left to the analysis.
        assert (status.titles_waiting, status.mentions) == (1, 0)
        rag.run(analysis.analyse("default"))
        [status] = rag.run(analysis.status(["default"]))
        assert (status.titles_waiting, status.mentions) == (0, 384)
