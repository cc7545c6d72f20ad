"""The SQL that ships with the package: where it is, its order, its digest, its schema name.

A wheel carries the folders as ragpg/_sql and ragpg/_migrations; a checkout has them beside ragpg/.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_SCHEMA = "ragpg"

_NAME_RULE = (
    "a schema name has 1 to 41 characters, begins with a lower-case letter or _, goes on with "
    "lower-case letters, digits and _, and is not public, information_schema or pg_*"
)
# The name before a dot (also inside strings and comments), after the word schema, and alone in
# quotes: a regular expression is enough because the name means nothing else in our SQL.
_SCHEMA_TOKEN = re.compile(
    r"(?<![\w.])ragpg(?=\.\w)|(?<=')ragpg(?=')|(?i:(?<=\bschema ))ragpg\b(?!\.)"
)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file of sql/: its path from there, and its text.

    `extension` is that of a line "path if extension" in the manifest: the file is for databases
    that have the extension, and for roles that may use its schema.
    """

    path: str
    text: str
    extension: str | None = None


def check_schema(name: str) -> str:
    """Return a schema name that needs no quotes, or raise `ConfigError` with the rule.

    Words that Postgres reserves pass here and are refused by the server (migrations/steps), which
    knows the list of its own version.
    """
    if (
        not re.fullmatch(r"[a-z_][a-z0-9_]{0,40}", name)
        or name.startswith("pg_")
        or name in ("public", "information_schema")
    ):
        raise ConfigError(f"schema name {name!r} is not allowed: {_NAME_RULE}")
    return name


def migrate_command(schema: str) -> str:
    """The command that installs or upgrades a schema."""
    return f"ragpg migrate{schema_option(schema)}"


def schema_option(schema: str) -> str:
    """What a command about a schema needs behind it; nothing for that which everybody has."""
    return "" if schema == DEFAULT_SCHEMA else f" --schema {schema}"


def render(text: str, schema: str) -> str:
    """Return SQL written for schema ragpg with another schema's name in its place."""
    check_schema(schema)
    return text if schema == DEFAULT_SCHEMA else _SCHEMA_TOKEN.sub(schema, text)


def sql_folder() -> Path:
    """The folder of functions, views, triggers and grants."""
    return _folder("sql")


def migrations_folder() -> Path:
    """The folder of the alembic revisions and of the steps around them."""
    return _folder("migrations")


def files(schema: str = DEFAULT_SCHEMA) -> list[SqlFile]:
    """The files of sql/ in the order of manifest.txt, callee before caller, for that schema."""
    folder = sql_folder()
    found = []
    for line in _manifest(folder):
        path, _, extension = line.partition(" if ")
        try:
            text = (folder / path).read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise ConfigError(
                f"{folder / 'manifest.txt'} lists {path}, which is missing"
            ) from error
        found.append(SqlFile(path, render(text, schema), extension or None))
    return found


def names(kind: str, chosen: Iterable[SqlFile]) -> list[str]:
    """The names that files create of one kind: routine, view or trigger."""
    words = {
        "routine": "function|procedure|aggregate",
        "view": "view",
        "trigger": "trigger|constraint trigger",
    }[kind]
    created = "\n".join(file.text for file in chosen)
    found = re.findall(rf"(?im)^create or replace (?:{words})\s+(?:\w+\.)?(\w+)", created)
    return sorted(set(found))


def step(name: str, schema: str = DEFAULT_SCHEMA) -> str:
    """The text of migrations/steps/<name>.sql for that schema."""
    path = migrations_folder() / "steps" / f"{name}.sql"
    return render(path.read_text(encoding="utf-8"), schema)


def digest() -> str:
    """SHA-256 over paths and texts of sql/ in order: equal digests mean equal functions."""
    total = hashlib.sha256()
    for file in files():
        total.update(f"{file.path}\0{file.text}\0".encode())
    return total.hexdigest()


def _folder(name: str) -> Path:
    package = Path(__file__).resolve().parent
    for folder in (package / f"_{name}", package.parent / name):
        if folder.is_dir():
            return folder
    raise ConfigError(
        f"the SQL folder {name} of ragpg is missing: neither {package / f'_{name}'} nor "
        f"{package.parent / name} exists; install the package again"
    )


def _manifest(folder: Path) -> list[str]:
    lines = (folder / "manifest.txt").read_text(encoding="utf-8").splitlines()
    return [path for line in lines if (path := line.partition("#")[0].strip())]
