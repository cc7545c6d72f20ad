"""JSON is found in whatever a model writes, and nothing that it writes is an error."""

from __future__ import annotations

import json
import random
import time

import pytest

from ragpg.errors import ProviderError
from ragpg.graph import community_reports_prompt, extraction, global_search_prompt
from ragpg.graph.community_reports_prompt import Passage, StatedRelation
from ragpg.graph.extraction import ENTITIES, NAME, RELATIONS
from ragpg.model_json import as_whole, fenced, find_fields, find_items, one_line, strings

TEXT = 'Orion uses Falcon at C:\\srv, it\'s "fast" 🚀 for 14 days.'


def test_the_list_under_the_key_comes_before_others() -> None:
    said = '{"seen": [{"a": 1}], "items": [{"b": 2}]}'
    assert find_items(said, "items") == [{"b": 2}]
    assert find_items(f"First [1], then:\n```json\n{said}\n```", "items") == [{"b": 2}]
    assert find_items('[{"b": 2}]', "items") == [{"b": 2}]
    # Of a list that breaks off, the inner list of its last object is not the list.
    broken = '{"items": [{"b": 2}, {"b": 3, "parts": [{"c": 4}], "d": "'
    assert find_items(broken, "items") == [{"b": 2}]
    assert find_items('{"items": [{"b": 3, "parts": [{"c": 4}], "d": "', "items") == []
    assert find_items("nothing", "items") == find_items("", "items") == []


def test_fields_are_read_as_far_as_they_go() -> None:
    keys = ("title", "summary", "findings")
    whole = json.dumps({"title": "T", "summary": "S", "findings": ["a", "b"], "more": 1})
    assert find_fields(f"Well: {whole} !", keys) == {
        "title": "T",
        "summary": "S",
        "findings": ["a", "b"],
    }
    assert find_fields(whole[: whole.index('"b"')], keys)["findings"] == ["a"]
    assert find_fields('{"summary": "S"', keys) == {"summary": "S"}
    inner = '{"findings": [{"summary": "inner"}], "title": "T", "summary": "S"}'
    assert find_fields(inner, keys)["summary"] == "S"
    assert find_fields("no", keys) == {}


def test_values_of_other_types() -> None:
    assert [as_whole(one) for one in (3, 3.0, "3", " 3 ")] == [3, 3, 3, 3]
    wrong: tuple[object, ...] = (
        None,
        True,
        3.5,
        "three",
        [],
        float("nan"),
        float("inf"),
        "9" * 5000,
    )
    assert [as_whole(one) for one in wrong] == [None] * len(wrong)
    assert one_line("a\0b\n\tc  d", 100) == "a b c d"
    assert one_line("\ud83d", 10) == "?"
    assert one_line({"a": 1}, 10) == one_line(None, 10) == ""
    assert strings("- one\n* two\n\n- one", 9, 9) == ["one", "two"]
    assert strings([{"summary": "A.", "explanation": "Why.", "rank": 3}, 4, None], 99, 9) == [
        "A. Why"
    ]
    assert fenced("</ Passage><passages><passage>", "passage") == "(/ Passage><passages>(passage>"


@pytest.mark.parametrize(
    "answer",
    ["[" * 100_000, '{"a":' * 100_000, "[[]," * 50_000, '{"passages": [' + "1," * 400_000,
     "{" * 300 + "[0," * 300 + "1," * 300_000, "9" * 100_000, '[{"id": ' + "9" * 6000 + "}]"],
)  # fmt: skip
def test_no_answer_takes_long(answer: str) -> None:
    began = time.process_time()
    with pytest.raises(ProviderError):
        extraction.read(answer, [TEXT, TEXT])
    find_fields(answer, ("title",))
    assert time.process_time() - began < 3


def _value(random_: random.Random, depth: int = 0) -> object:
    kinds = [
        None,
        True,
        -1,
        2.5,
        1e308,
        float("nan"),
        "",
        "Orion",
        "Falcon",
        "x" * 3000,
        "\0",
        "\ud83d",
        "$$;--",
    ]
    if depth < 3 and random_.random() < 0.4:
        size = random_.randrange(4)
        if random_.random() < 0.5:
            return [_value(random_, depth + 1) for _ in range(size)]
        names = [
            "id",
            "entities",
            "relations",
            "name",
            "source",
            "target",
            "kind",
            "weight",
            "passages",
        ]
        return {random_.choice(names): _value(random_, depth + 1) for _ in range(size)}
    return random_.choice(kinds)


def hostile(random_: random.Random) -> str:
    """An answer that is right in parts, at best."""
    entity = {"name": "Orion", "kind": "system", "description": "d"}
    relation = {"source": "Orion", "target": "Falcon", "kind": "uses", "weight": 5}
    passages = []
    for number in range(random_.randrange(4)):
        entities = [entity | {"name": "Falcon"}, entity, _value(random_)] * random_.choice([1, 50])
        passage = {"id": number, "entities": entities, "relations": [relation, _value(random_)]}
        if random_.random() < 0.3:
            passage[random_.choice(list(passage))] = _value(random_)
        passages.append(passage)
    answer = json.dumps({"passages": passages}, ensure_ascii=random_.random() < 0.5)
    for _ in range(random_.randrange(3)):
        at = random_.randrange(len(answer) + 1)
        answer = random_.choice(
            [
                answer[:at],
                answer[at:],
                answer[:at] + random_.choice('{}[]",:\\\0🚀') + answer[at:],
                "Sure! " + answer,
            ]
        )
    return answer


def test_two_thousand_hostile_answers() -> None:
    random_ = random.Random(7)
    read = 0
    for _ in range(2000):
        answer = hostile(random_)
        try:
            found = extraction.read(answer, [TEXT, TEXT])
        except ProviderError:
            continue
        read += len(found)
        assert set(found) <= {0, 1}
        for one in found.values():
            names = {entity.name for entity in one.entities}
            assert len(names) == len(one.entities) <= ENTITIES
            assert len(one.relations) <= RELATIONS
            for relation in one.relations:
                assert {relation.source, relation.target} <= names
                assert relation.source != relation.target
                assert 0 < relation.weight <= 10
            for entity in one.entities:
                assert entity.name in TEXT
                assert len(entity.name) <= NAME
            # What Postgres cannot hold is gone.
            json.dumps(one.as_json()).encode("utf-8", "strict")
            assert "\\u0000" not in json.dumps(one.as_json())
            assert '\\ud83d"' not in json.dumps(one.as_json())
    assert read > 500


def test_a_report_is_whole_or_none() -> None:
    read = community_reports_prompt.read
    given = {"title": "T 2024", "summary": "S", "findings": ["14 days.", "15 days.", "No number."]}
    report = read(f"```json\n{json.dumps(given)}\n```", TEXT)
    assert report.findings == ("14 days.", "No number.")
    assert report.text == "T 2024\nS\n- 14 days.\n- No number."
    for bad in (
        "",
        "no",
        "{}",
        '{"title": "T"}',
        '{"title": "T", "summary": 3}',
        '{"title": "T", "summary": "S',
    ):
        with pytest.raises(ProviderError) as error:
            read(bad, TEXT)
        assert error.value.scope == "input"
    assert read('{"title": "T", "summary": "S", "findings": "wrong"', TEXT).findings == ("wrong",)


def test_a_request_for_a_report_is_bounded_and_framed() -> None:
    passages = [
        Passage(f'd{n}".md', "T", "T > H", f"</document> text {n} " * 50) for n in range(50)
    ]
    relations = [StatedRelation("A", "uses", "B", "A </document> uses B.")] * 100
    _, user = community_reports_prompt.messages(
        passages, relations, tokens=500, count=lambda text: len(text.split())
    )
    body = user["content"]
    assert len(body.split()) < 620
    assert body.count("</document>") == body.count("<document ") > 1
    assert "- A uses B: A (/document> uses B." in body
    assert 'source="d0\'.md"' in body
    one = community_reports_prompt.messages(passages[:1], [], tokens=1, count=len)
    assert "text 0" in one[1]["content"]


def test_points_name_reports_that_were_shown() -> None:
    read = global_search_prompt.read_points
    points = [
        {"point": "low", "score": 10, "reports": [4]},
        {"point": "high", "score": "90", "reports": ["4", 5, 99]},
        {"point": "nowhere", "score": 50, "reports": [99]},
        {"point": "none", "score": 0, "reports": [4]},
        {"point": "high", "score": 1, "reports": [4]},
        {"point": 3, "score": 50, "reports": 4},
        {"point": "single", "score": 1e9, "reports": 5},
    ]
    found = read(json.dumps({"points": points}), [4, 5])
    assert [(one.text, one.score, one.reports) for one in found] == [
        ("single", 100.0, (5,)), ("high", 90.0, (4, 5)), ("low", 10.0, (4,)),
    ]  # fmt: skip
    assert read('{"points": []}', [4]) == read("[]", [4]) == []
    with pytest.raises(ProviderError):
        read("I have no points.", [4])
    [block] = global_search_prompt.point_blocks(found, 8, lambda text: len(text.split()))
    assert block.splitlines() == ["Points:", "- single [5]", "- high [4][5]"]
