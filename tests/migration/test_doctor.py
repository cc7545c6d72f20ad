"""What the doctor finds, and that its remedies are what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from ragpg import doctor, migrate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass
class OtherModel:
    """An embedder of another model than the stored vectors'."""

    model: str = "other"
    dimensions: int = 5

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [[0.0] * 5 for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [0.0] * 5


def checks(dsn: str, **options: Any) -> dict[str, doctor.Check]:
    return {check.name: check for check in doctor.examine(dsn, **options)}


def test_an_empty_database_is_told_to_migrate(database: str) -> None:
    found = checks(database)
    assert found["schema"].status == "error"
    assert found["schema"].remedy == "ragpg migrate --schema ragpg"
    assert found["encoding"].status == "ok"
    assert found["server"].status == "ok"


def test_a_good_database_has_no_errors(database: str, ingest: Callable[..., None]) -> None:
    migrate.upgrade(database)
    ingest(database)
    found = checks(database)
    assert {check.status for check in found.values() if check.name[:9] != "extension"} == {"ok"}
    assert found["embedding space 1"].detail == "words, 3 dimensions, exact scan"


@pytest.mark.parametrize(
    ("damage", "name", "status", "word"),
    [
        ("update ragpg.install set digest = 'x'", "schema", "error", "ragpg migrate"),
        ("delete from ragpg.alembic_version", "schema", "error", "ragpg migrate"),
        ("update ragpg.alembic_version set version_num = 'x'", "schema", "error", "pip install"),
        ("drop table ragpg.embedding_1 cascade", "embedding space 1", "error", "delete from"),
        (
            "insert into ragpg.keyword_log (namespace_id, sign, chunks, length, lexemes)"
            " select 1, 1, 0, 0, '{}' from generate_series(1, 5001)",
            "keyword statistics",
            "warning",
            "select ragpg.fold_statistics();",
        ),
        (
            "insert into ragpg.embedding_1 select 1, n, '[1,0,0]'"
            " from generate_series(1000, 11001) as n",
            "embedding space 1",
            "warning",
            "select ragpg.create_embedding_index(1);",
        ),
        (
            "update pg_index set indisvalid = false"
            " where indexrelid = 'ragpg.chunk_metadata'::regclass",
            "indexes",
            "error",
            "REINDEX INDEX ragpg.chunk_metadata;",
        ),
    ],
)
def test_damage_is_found(
    database: str,
    ingest: Callable[..., None],
    execute: Callable[..., Any],
    damage: str,
    name: str,
    status: str,
    word: str,
) -> None:
    migrate.upgrade(database)
    ingest(database)
    execute(database, "set session_replication_role = replica;" + damage)
    check = checks(database)[name]
    assert check.status == status
    assert word in check.remedy


def test_another_embedder_is_found(database: str, ingest: Callable[..., None]) -> None:
    migrate.upgrade(database)
    ingest(database)
    found = checks(database, embedder=OtherModel())["embedder of default"]
    assert found.status == "warning"
    assert "words" in found.remedy


@pytest.mark.case("SC-03")
def test_the_doctor_works_for_a_reader_sc_03(
    database: str,
    role: str,
    as_role: Callable[[str, str], str],
    ingest: Callable[..., None],
    execute: Callable[..., Any],
) -> None:
    migrate.upgrade(database)
    ingest(database)
    execute(
        database,
        f"grant usage on schema ragpg to {role};"
        f" grant select on all tables in schema ragpg to {role}",
    )
    found = checks(as_role(database, role) + " ")
    assert "not ingest" in found["rights"].detail
    assert found["schema"].status == "ok"


def test_a_check_that_is_not_allowed_hides_no_other(
    database: str,
    role: str,
    as_role: Callable[[str, str], str],
    execute: Callable[..., Any],
) -> None:
    migrate.upgrade(database)
    execute(
        database,
        f"grant usage on schema ragpg to {role};"
        f" grant select on ragpg.install, ragpg.alembic_version to {role}",
    )
    found = checks(as_role(database, role))
    assert "permission denied" in found["keyword statistics"].detail
    assert found["indexes"].status == "ok"
