"""SQL tested from SQL: every file here states a claim in its name and asserts it.

The same files run under psql: psql -v ON_ERROR_STOP=1 -f tests/sql/rrf/absent_arm_adds_nothing.sql
"""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

HERE = Path(__file__).parent
CLAIMS = sorted(HERE.rglob("*.sql"))


@pytest.mark.smoke
@pytest.mark.parametrize(
    "path", CLAIMS, ids=lambda path: str(path.relative_to(HERE).with_suffix(""))
)
def test_claim(path: Path, shared_database: str) -> None:
    with psycopg.connect(shared_database, autocommit=True) as connection:
        connection.execute(path.read_bytes())


def test_there_are_claims() -> None:
    assert len(CLAIMS) > 15
