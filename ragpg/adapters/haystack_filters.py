"""Filters of Haystack in the filter language of ragpg (sql/filter/filter_sql.sql)."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from haystack.errors import FilterError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Comparisons of an order, which a missing value never passes.
_ORDER = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
_EQUAL = {"==": "eq", "!=": "ne"}
_LISTS = {"in": "in", "not in": "not_in"}
_NOTHING: dict[str, Any] = {"@source": {"in": []}}


def translate(filters: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A Haystack filter for ragpg; None and {} are no filter.

    `meta.` in front of a field may be left out; a dot in the rest reaches into nested metadata, and
    `id` is the document's. Texts are put in order as ISO 8601 dates, because nothing else about
    texts has an order that two systems agree on. Raises haystack's FilterError for what is wrong.
    """
    return _condition(filters) if filters else None


def _condition(condition: Any) -> dict[str, Any]:
    if not hasattr(condition, "get"):
        raise FilterError(f"a condition must be an object, not {condition!r}")
    if "field" in condition:
        return _comparison(condition)
    for key in ("operator", "conditions"):
        if key not in condition:
            raise FilterError(f"'{key}' is missing in {condition}")
    conditions = [_condition(one) for one in condition["conditions"]]
    operator = str(condition["operator"]).upper()
    if not conditions:
        raise FilterError(f"there are no conditions in {condition}")
    if operator == "NOT":
        return {"not": {"and": conditions}}
    if operator not in ("AND", "OR"):
        raise FilterError(f"unknown logical operator {condition['operator']!r}")
    return {operator.lower(): conditions}


def _comparison(condition: Mapping[str, Any]) -> dict[str, Any]:
    for key in ("operator", "value"):
        if key not in condition:
            raise FilterError(f"'{key}' is missing in {condition}")
    name, operator, value = _field(condition["field"]), condition["operator"], condition["value"]
    if operator in _EQUAL:
        return {name: {_EQUAL[operator]: _plain(value)}}
    if operator in _LISTS:
        if not isinstance(value, list):
            raise FilterError(f"'{operator}' needs a list, not {value!r}")
        return {name: {_LISTS[operator]: [_plain(one) for one in value]}}
    if operator not in _ORDER:
        raise FilterError(f"unknown operator {operator!r}")
    if value is None:
        return _NOTHING
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {name: {_ORDER[operator]: value}}
    if not isinstance(value, (str, date)) or not _is_date(_plain(value)):
        raise FilterError(f"'{operator}' needs a number or an ISO 8601 date, not {value!r}")
    return {name: {"date": {_ORDER[operator]: _plain(value)}}}


def _field(field: Any) -> str:
    name = str(field)
    if name == "id":
        return "@source"
    if name in ("content", "score", "embedding", "blob", "sparse_embedding"):
        raise FilterError(f"the field {name!r} cannot be filtered by; use the id or metadata")
    path = name.removeprefix("meta.").split(".")
    if len(path) == 1 and path[0][:1] not in ("@", "$", "/"):
        return path[0]
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in path)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return not text.isdecimal()
