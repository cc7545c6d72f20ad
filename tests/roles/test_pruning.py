"""Whom pruning the cache of vectors is for, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import ragpg
from ragpg.settings import Settings
from ragpg.steps import Fetch, Query, Transact
from ragpg.testing import HashEmbedder
from tests.integration.test_forgetting import TEXTS, count


def test_a_tenant_prunes_nothing_that_another_one_needs(
    roles: str, db: psycopg.Connection[Any]
) -> None:
    settings = Settings(vector_retention=0)
    with ragpg.connect(roles, embedder=HashEmbedder(8), settings=settings) as rag:
        rag.ingest(texts=TEXTS[:2], namespace="red")
        rag.ingest(texts=TEXTS[2:], namespace="blue")
        rag.delete(["0.md"], namespace="red")
    db.execute("select ragpg.grant_namespace('blue', 'ragpg_writer')")
    db.execute("select ragpg.grant_namespace('red', 'postgres')")
    # It sees nothing of red, whose text stays all the same; red's own text that is gone may go.
    db.execute("set role ragpg_writer")
    assert count(db, "select count(*) from ragpg.chunk") == 4
    assert count(db, "select ragpg.prune_embedding_cache('0 s')") == 1
    assert count(db) == 5
    db.execute("set role ragpg_reader")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.execute("select ragpg.prune_embedding_cache('0 s')")
    db.execute("reset role")
    with ragpg.connect(roles, settings=settings) as owner:
        # An application that narrows itself to one tenant.
        owner.run(_narrowed())
    assert count(db) == 5


def _narrowed() -> Any:
    narrow = Query("select set_config('ragpg.allowed_namespaces', '{blue}', true)", lambda row: row)
    prune = Query("select ragpg.prune_embedding_cache('0 s')", lambda row: row)
    yield Transact((Fetch(narrow), Fetch(prune)))
