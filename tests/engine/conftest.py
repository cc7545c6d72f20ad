"""The fixture of the engine tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.rows import dict_row

from .engine import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    """A fresh database with the schema."""
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        yield Engine(connection)
