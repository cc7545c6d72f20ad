"""Embedders by name."""

from __future__ import annotations

import pytest

from ragpg.embedders import Embedders
from ragpg.errors import ConfigError
from ragpg.providers.named import embedder_named


def test_several_names_become_one_that_knows_them_all() -> None:
    found = embedder_named("hash:16, hash:32")
    assert isinstance(found, Embedders)
    assert [one.dimensions for one in found] == [16, 32]
    assert found.dimensions == 16


@pytest.mark.parametrize("spec", ["hash:16,none", "hash:16,", "hash:16,nothing"])
def test_a_name_among_several_must_be_one(spec: str) -> None:
    with pytest.raises(ConfigError, match="embedder"):
        embedder_named(spec)
