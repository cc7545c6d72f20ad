"""Columns and keys that the tables of `ragpg.schema` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Integer,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

if TYPE_CHECKING:
    from sqlalchemy import MetaData
    from sqlalchemy.schema import SchemaItem


def namespace_column(metadata: MetaData, *, owned: bool = False, **options: Any) -> Column[int]:
    """The leading column of every key; `owned` where no other foreign key leads there."""
    owner = [ForeignKey(f"{metadata.schema}.namespace.id", ondelete="CASCADE")] if owned else []
    options = {"primary_key": True, "autoincrement": False} | options
    return Column("namespace_id", Integer, *owner, **options)


def key_column(name: str) -> Column[int]:
    """A further column of a primary key, of something else's id."""
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


def big_identity(**options: Any) -> Column[int]:
    """The column id, numbered by the server."""
    return Column("id", BigInteger, Identity(always=True), nullable=False, **options)


def text_column(name: str, *items: SchemaItem, exact: bool = False, **options: Any) -> Column[str]:
    """A text column; `exact` compares byte by byte, as names must."""
    options.setdefault("nullable", False)
    return Column(name, Text(collation="C") if exact else Text(), *items, **options)


def time_column(name: str) -> Column[Any]:
    """A time that is now unless given."""
    return Column(name, DateTime(timezone=True), nullable=False, server_default=text("now()"))


def json_column(name: str) -> Column[Any]:
    """A JSON object, empty unless given."""
    return Column(name, JSONB, nullable=False, server_default=text("'{}'::jsonb"))


def reference(
    metadata: MetaData, table: str, column: str, ondelete: str = "CASCADE"
) -> ForeignKeyConstraint:
    """A column holds the id of a row of a table, in the same namespace."""
    there = f"{metadata.schema}.{table}"
    return ForeignKeyConstraint(
        ["namespace_id", column], [f"{there}.namespace_id", f"{there}.id"], ondelete=ondelete
    )
