"""A namespace moves to another embedding model, without an hour in which it is not searched.

build (dual writes) -> compare -> switch (one row) -> drop the former space, or switch back
"""

from ragpg.reembed.client import (
    abuild,
    adrop,
    afill_missing,
    aspaces,
    aswitch,
    build,
    drop,
    fill_missing,
    spaces,
    switch,
)
from ragpg.reembed.filling import ReembedReport

__all__ = [
    "ReembedReport",
    "abuild",
    "adrop",
    "afill_missing",
    "aspaces",
    "aswitch",
    "build",
    "drop",
    "fill_missing",
    "spaces",
    "switch",
]
