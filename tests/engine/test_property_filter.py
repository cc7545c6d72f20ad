"""Random filters over random metadata: every arm agrees with the documented rules, read by Python."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from .engine import Engine

NUMBERS = [-3, 0, 1, 1.0, 2.5, 7, 10**15]
TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "7",
    "true",
    "null",
    "é",
    "it's",
    'say "x"',
    "back\\slash",
    "50%",
    "z" * 130,
]
MOMENTS = ["2024-01-01", "2024-01-01T10:00:00+02:00", "2023-12-31T23:30Z", "2024-02", "2024-02-30"]
SCALARS = [None, True, False, *NUMBERS, *TEXTS, *MOMENTS]
LISTS = [[], ["a", "b"], [1, "7"], [None], [True, 2.5], ["ab"]]
KEYS = ["k", "l", "m", "0", "it's", "%s", "", "a/b", "deep"]
POINTERS = ["/k", "/l/0", "/deep/k", "/deep/l/1", "/a~1b", "/", "/0", "/deep"]
DOCUMENTS = 60
MISSING = object()


def corpus() -> dict[str, dict[str, Any]]:
    rng = random.Random(11)

    def value(depth: int) -> Any:
        kind = rng.random()
        if kind < 0.7:
            return rng.choice(SCALARS)
        return rng.choice(LISTS) if kind < 0.9 or depth else fields(1)

    def fields(depth: int) -> dict[str, Any]:
        return {key: value(depth) for key in rng.sample(KEYS, rng.randint(0, 6))}

    found = {f"s{number}": fields(0) for number in range(DOCUMENTS)}
    for number, name in enumerate(found):
        if number % 3 == 0:
            found[name]["deep"] = fields(1)
        if number % 20 == 7:
            # More scalars than are kept as lexemes.
            found[name] |= {f"x{extra}": extra for extra in range(230)}
    return found


def same(one: Any, other: Any) -> bool:
    """Equality of JSON: 1 is 1.0, but neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return (type(one) in (int, float) and type(other) in (int, float) and one == other) or (
        type(one) is type(other) and one == other
    )


def field(source: str, metadata: dict[str, Any], key: str) -> Any:
    if key.startswith("@"):
        return {"@source": source, "@title": "", "@format": "text", "@page": MISSING}[key]
    if not key.startswith("/"):
        return metadata.get(key, MISSING)
    value: Any = metadata
    for part in key[1:].split("/"):
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(step, MISSING)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def moment(value: Any) -> datetime | None:
    if not isinstance(value, str) or value not in MOMENTS:
        return None
    try:
        found = datetime.fromisoformat(value + "-01" if len(value) == 7 else value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def compares(value: Any, sign: str, bound: Any) -> bool:
    if isinstance(value, list):
        return any(compares(item, sign, bound) for item in value)
    plain = (int, float) if isinstance(bound, int | float) else str
    if isinstance(value, bool) or not isinstance(value, plain):
        return False
    return bool(
        {
            "gt": value > bound,
            "gte": value >= bound,
            "lt": value < bound,
            "lte": value <= bound,
        }[sign]
    )


def holds(value: Any, operator: str, operand: Any) -> bool:
    match operator:
        case "eq":
            if operand is None:
                return value is MISSING or value is None
            if value is MISSING:
                return False
            if isinstance(operand, list | dict):
                return same(value, operand)
            return same(value, operand) or (
                isinstance(value, list) and any(same(item, operand) for item in value)
            )
        case "ne":
            return not holds(value, "eq", operand)
        case "in":
            return any(holds(value, "eq", item) for item in operand)
        case "not_in":
            return not holds(value, "in", operand)
        case "contains":
            return isinstance(value, list) and any(same(item, operand) for item in value)
        case "contains_any":
            return any(holds(value, "contains", item) for item in operand)
        case "contains_all":
            return all(holds(value, "contains", item) for item in operand)
        case "exists":
            return bool(operand) == (value is not MISSING)
        case "starts_with":
            return isinstance(value, str) and value.startswith(operand)
        case "date":
            at = moment(value)
            return at is not None and all(
                compares(at.timestamp(), sign, (moment(text) or at).timestamp())
                for sign, text in operand.items()
            )
        case _:
            return compares(value, operator, operand)


def passes(filter: dict[str, Any], source: str, metadata: dict[str, Any]) -> bool:
    for key, condition in filter.items():
        match key:
            case "and":
                good = all(passes(part, source, metadata) for part in condition)
            case "or":
                good = any(passes(part, source, metadata) for part in condition)
            case "not":
                good = not passes(condition, source, metadata)
            case _:
                value = field(source, metadata, key)
                operators = condition if isinstance(condition, dict) else {"eq": condition}
                good = all(holds(value, name, operand) for name, operand in operators.items())
        if not good:
            return False
    return True


scalars = st.sampled_from(SCALARS)
ordered = st.sampled_from([*NUMBERS, *TEXTS])
values = st.lists(scalars, max_size=4) | st.lists(scalars, max_size=2).map(
    lambda items: [*items, *range(100, 130)]
)
valid = st.sampled_from(MOMENTS[:4])
signs = st.sampled_from(["gt", "gte", "lt", "lte"])
operators = st.fixed_dictionaries(
    {},
    optional={
        "eq": scalars | st.sampled_from(LISTS),
        "ne": scalars,
        "in": values,
        "not_in": values,
        "contains": scalars,
        "contains_any": values,
        "contains_all": st.lists(scalars, max_size=2),
        "gt": ordered,
        "lte": ordered,
        "exists": st.booleans(),
        "starts_with": st.sampled_from(["", "a", "%", "\\", "2024"]),
        "date": st.dictionaries(signs, valid, min_size=1),
    },
)
names = st.sampled_from([*KEYS, *POINTERS, "@source", "@title", "@format", "@page"])
# One operator mostly: more leave nothing to find.
conditions = scalars | operators.filter(bool).flatmap(
    lambda all_of_them: st.sampled_from(sorted(all_of_them)).map(
        lambda name: {name: all_of_them[name]}
    )
)
leaves = st.dictionaries(names, conditions, min_size=1, max_size=2)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"and": parts}),
        inner.map(lambda part: {"not": part}),
        st.tuples(leaves, inner).map(lambda pair: {**pair[0], "not": pair[1]}),
    ),
    max_leaves=5,
)


@pytest.fixture
def loaded(engine: Engine) -> Engine:
    metadata = corpus()
    rng = random.Random(3)
    engine.add(
        dict.fromkeys(metadata, "common words"),
        metadata=metadata,
        vectors={source: [rng.gauss(0, 1) for _ in range(4)] for source in metadata},
    )
    engine.value("select ragpg.create_embedding_index(1)")
    return engine


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(filter=filters, k=st.sampled_from([1, 3, 10, 1000]))
def test_every_arm_finds_what_the_rules_say(loaded: Engine, filter: dict[str, Any], k: int) -> None:
    documents = corpus()
    expected = {source for source in documents if passes(filter, source, documents[source])}
    assert loaded.matching(filter) == expected
    arms = {
        "metadata": "ragpg.metadata_arm('{1}', %s, %s)",
        "keyword": "ragpg.keyword_arm('common', '{1}', %s, %s)",
        "exact": "ragpg.vector_arm('[1,2,3,4]', '{1}', %s, %s)",
        "index": "ragpg.vector_arm('[1,2,3,4]', '{1}', %s, %s, null, 0)",
    }
    for name, call in arms.items():
        found = [
            row["source"]
            for row in loaded.rows(
                f"""select document.source from {call} as hit
                      join ragpg.chunk on chunk.id = hit.chunk_id
                      join ragpg.document on document.id = chunk.document_id""",
                json.dumps(filter),
                k,
            )
        ]
        assert len(found) == len(set(found)) == min(k, len(expected)), name
        assert set(found) <= expected, name
