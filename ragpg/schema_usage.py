"""The tables of costs and of writes as SQLAlchemy metadata; see `ragpg.schema`."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Column, Date, MetaData, Numeric, Table

from ragpg.schema_columns import key_column, namespace_column, text_column


def add_usage(metadata: MetaData) -> None:
    """Add ragpg.usage and ragpg.namespace_write."""
    Table(
        "usage",
        metadata,
        namespace_column(metadata, owned=True),
        Column("day", Date, primary_key=True),
        text_column("category", primary_key=True),
        text_column("model", exact=True, primary_key=True),
        Column("requests", BigInteger, nullable=False),
        Column("input_tokens", BigInteger, nullable=False),
        Column("output_tokens", BigInteger, nullable=False),
        Column("cost_usd", Numeric, nullable=False),
        Column("unpriced", BigInteger, nullable=False),
        CheckConstraint("requests >= 0"),
    )
    Table(
        "namespace_write",
        metadata,
        namespace_column(metadata),
        key_column("xid"),
        Column("mark", BigInteger, nullable=False),
    )
