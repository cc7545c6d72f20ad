"""Addresses of databases."""

from __future__ import annotations

import pytest

from ragpg.connection_address import read_dsn
from ragpg.errors import ConfigError


@pytest.mark.parametrize(
    ("password", "reason"),
    [("100%", "two hexadecimal digits"), ("p@ss", "an @ in the"), ("a/b", "before the @")],
)
def test_a_url_that_cannot_be_read_is_refused_for_its_reason_last(
    password: str, reason: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        read_dsn(f"postgresql://app:{password}@127.0.0.1/kb")
    cause, _, found = refused.value.message.partition(": ")
    assert "not percent-encoded" in cause
    assert reason in found
    assert password not in refused.value.message
