"""Words that may stand for each other in manuals: a small list, for the commonest false alarms."""

from __future__ import annotations

from ragpg.words import stem

_GROUPS = """
allow/permit/let/enable show/demonstrate/indicate/reveal/display use/employ/utilize/apply
need/require many/numerous/several begin/start end/finish/stop get/obtain/receive
give/provide/offer help/aid/assist buy/purchase keep/retain/store call/name big/large/great
small/little quick/fast/rapid error/fault/failure choose/select/pick change/modify/alter
make/create delete/remove/erase run/execute list/enumerate about/approximately/around
"""
_SYNONYMS = tuple(frozenset(stem(word) for word in group.split("/")) for group in _GROUPS.split())


def synonyms(one: str, other: str) -> bool:
    """Whether two folded words may mean the same."""
    stems = {stem(one), stem(other)}
    return any(stems <= group for group in _SYNONYMS)
