"""Extractors of names, and the flow that stores what they find."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ragpg.errors import ConfigError
from ragpg.graph.names import CapitalExtractor, SpacyExtractor, find_names
from ragpg.steps import Call, Fetch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The Bank of England met in London.", ["Bank of England", "London"]),
        ("Yesterday we saw nothing.", []),
        ("He met Jean-Paul Sartre, and O'Brien.", ["Jean-Paul Sartre", "O'Brien"]),
        ("In 1984 the price rose by 12.", []),
        ("", []),
        ("alles klein hier", []),
    ],
)
def test_runs_of_capitals_are_names(text: str, names: list[str]) -> None:
    [found] = CapitalExtractor().extract([text])
    assert [name for name, _ in found] == names


def test_a_missing_spacy_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ConfigError, match=r"ragpg\[entities\]"):
        SpacyExtractor()


def test_spacy_gives_the_labels_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model:
        def pipe(self, texts: Sequence[str], batch_size: int) -> Iterator[Any]:
            for text in texts:
                yield SimpleNamespace(
                    ents=[
                        SimpleNamespace(text=text, label_="ORG"),
                        SimpleNamespace(text="1984", label_="DATE"),
                    ]
                )

    def load(pipeline: str, disable: Sequence[str]) -> Model:
        if pipeline == "none":
            raise OSError("no")
        return Model()

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    extractor = SpacyExtractor("small")
    assert extractor.name == "spacy:small"
    assert extractor.extract(["Orion", "Falcon"]) == [[("Orion", "ORG")], [("Falcon", "ORG")]]
    with pytest.raises(ConfigError, match="none"):
        SpacyExtractor("none")


def test_names_are_counted_and_stored_a_batch_at_a_time() -> None:
    flow = find_names("handbook", CapitalExtractor(), batch=2)
    step: Any = next(flow)
    assert isinstance(step, Fetch)
    step = flow.send(
        [
            (3, "0a", "We flew Orion to Orion. \0", None),
            (4, "0b", "We flew Falcon.", '[{"name": "Falcon", "kind": "name", "weight": 1}]'),
            (5, "0c", "nothing", None),
        ]
    )
    assert isinstance(step, Call)
    # What is known of the same text is not read again.
    assert len(step.arguments[0]) == 2
    step = flow.send(step.function(*step.arguments))
    assert json.loads(step.parameters["results"]) == [
        {"chunk": 3, "hash": "0a", "entities": [{"name": "Orion", "kind": "name", "weight": 2}]},
        {"chunk": 4, "hash": "0b", "entities": [{"name": "Falcon", "kind": "name", "weight": 1}]},
        {"chunk": 5, "hash": "0c", "entities": []},
    ]
    step = flow.send([1])
    assert step.parameters["after"] == 5
    with pytest.raises(StopIteration) as end:
        flow.send([])
    assert (end.value.value.chunks, end.value.value.mentions) == (2, 1)
