"""Four ways in, one result; and back, and in again."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from click.testing import CliRunner
from sqlalchemy import create_engine, create_mock_engine

from ragpg import migrate
from ragpg.cli.main import main
from ragpg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]

HOST_ENV = """
from alembic import context
from sqlalchemy import create_engine, pool
import ragpg.migrate

connect = context.config.attributes["connect"]
engine = create_engine("postgresql+psycopg://", creator=connect, poolclass=pool.NullPool)
with engine.connect() as connection:
    {first}
    context.configure(connection=connection, version_table="alembic_version")
    with context.begin_transaction():
        context.run_migrations()
"""

HOST_REVISION = """
from alembic import op
import sqlalchemy as sa
import ragpg.migrate

revision = "{revision}"
down_revision = {down}


def upgrade():
    op.create_table("before_{revision}", sa.Column("id", sa.Integer))
    {call}
    op.create_table("after_{revision}", sa.Column("id", sa.Integer))


def downgrade():
    op.drop_table("after_{revision}")
    {back}
    op.drop_table("before_{revision}")
"""


@pytest.fixture
def host(tmp_path: Path) -> Callable[..., Config]:
    """A host application with one alembic revision of its own."""

    def build(dsn: str, *, first: str = "pass", call: str = "pass", back: str = "pass") -> Config:
        (tmp_path / "versions").mkdir(exist_ok=True)
        (tmp_path / "env.py").write_text(HOST_ENV.format(first=first))
        revision = HOST_REVISION.format(revision="a1", down=None, call=call, back=back)
        (tmp_path / "versions" / "a1.py").write_text(revision)
        config = Config()
        config.set_main_option("script_location", str(tmp_path))
        config.set_main_option("path_separator", "os")
        config.attributes["connect"] = lambda: psycopg.connect(dsn)
        return config

    return build


def own_alembic(dsn: str, schema: str = "ragpg") -> Config:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    config.set_main_option("path_separator", "os")
    config.cmd_opts = argparse.Namespace(x=[f"dsn={dsn}", f"schema={schema}"])
    return config


def test_all_ways_give_the_same_catalog(
    new_database: Callable[[], str],
    catalog: Callable[..., Any],
    host: Callable[..., Config],
    execute: Callable[..., list[tuple[Any, ...]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    library = new_database()
    migrate.upgrade(library)
    expected = catalog(library)
    assert expected["routines"]
    assert expected["comments"]

    cli = new_database()
    outcome = CliRunner().invoke(main, ["migrate", "--dsn", cli])
    assert outcome.exit_code == 0, outcome.output
    assert catalog(cli) == expected

    env = new_database()
    command.upgrade(host(env, first="ragpg.migrate.upgrade(connection)"), "head")
    assert catalog(env) == expected
    assert execute(env, "select version_num from public.alembic_version") == [("a1",)]

    revision = new_database()
    command.upgrade(host(revision, call="ragpg.migrate.upgrade(op.get_bind())"), "head")
    assert catalog(revision) == expected
    assert execute(revision, "select to_regclass('public.after_a1') is not null") == [(True,)]

    printed = new_database()
    outcome = CliRunner().invoke(main, ["migrate", "--sql"])
    assert outcome.exit_code == 0, outcome.output
    execute(printed, outcome.output)
    assert catalog(printed) == expected

    here = new_database()
    command.upgrade(own_alembic(here), "head")
    assert catalog(here) == expected

    offline = new_database()
    capsys.readouterr()
    command.upgrade(own_alembic(offline), "head", sql=True)
    execute(offline, capsys.readouterr().out)
    assert catalog(offline) == expected


def test_psql_runs_the_printed_script(
    database: str,
    catalog: Callable[..., Any],
    program: Callable[[str], str],
    libpq_environment: Callable[[str], dict[str, str]],
    new_database: Callable[[], str],
) -> None:
    psql = [program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-"]
    environment = libpq_environment(database)
    script = migrate.script("kb")
    subprocess.run(psql, input=script, env=environment, text=True, check=True, capture_output=True)
    library = new_database()
    migrate.upgrade(library)
    assert catalog(database, "kb") == catalog(library)

    again = subprocess.run(psql, input=script, env=environment, text=True, capture_output=True)
    assert again.returncode != 0
    assert "ragpg migrate --sql --revision" in again.stderr
    head = migrate.head()
    same = migrate.script("kb", start=head)
    subprocess.run(psql, input=same, env=environment, text=True, check=True, capture_output=True)


def test_up_down_up_gives_the_same_catalog(
    database: str,
    catalog: Callable[..., Any],
    execute: Callable[..., list[tuple[Any, ...]]],
) -> None:
    migrate.upgrade(database)
    first = catalog(database)
    execute(database, "select ragpg.create_embedding_space('a model', 3)")
    migrate.downgrade(database)
    assert catalog(database) == {}
    # The schema went with its last object; nothing of it is left anywhere else.
    assert execute(database, "select count(*) from pg_class where relname like 'embedding%'") == [
        (0,)
    ]
    migrate.upgrade(database)
    assert catalog(database) == first


def test_upgrade_twice_changes_nothing(database: str, catalog: Callable[..., Any]) -> None:
    migrate.upgrade(database)
    first = catalog(database)
    migrate.upgrade(database)
    assert catalog(database) == first
    assert migrate.status(database).is_current
    assert migrate.pending(database) == ()
    assert migrate.current(database) == migrate.head()


def test_a_changed_function_is_mended(database: str, catalog: Callable[..., Any]) -> None:
    migrate.upgrade(database)
    first = catalog(database)
    with psycopg.connect(database) as connection:
        connection.execute("alter function ragpg.search_run cost 7")
        connection.execute("update ragpg.install set digest = 'older'")
    assert not migrate.status(database).is_current
    migrate.upgrade(database)
    assert catalog(database) == first


def test_host_downgrade_takes_ours_away(
    database: str, catalog: Callable[..., Any], host: Callable[..., Config]
) -> None:
    config = host(
        database,
        call="ragpg.migrate.upgrade(op.get_bind(), schema='kb')",
        back="ragpg.migrate.downgrade(op.get_bind(), schema='kb')",
    )
    command.upgrade(config, "head")
    assert catalog(database, "kb")
    command.downgrade(config, "base")
    assert catalog(database, "kb") == {}


def test_a_failing_host_revision_leaves_nothing(
    database: str,
    catalog: Callable[..., Any],
    host: Callable[..., Config],
    execute: Callable[..., list[tuple[Any, ...]]],
) -> None:
    call = "ragpg.migrate.upgrade(op.get_bind()); raise RuntimeError('host')"
    with pytest.raises(RuntimeError, match="host"):
        command.upgrade(host(database, call=call), "head")
    assert catalog(database) == {}
    assert execute(database, "select to_regclass('public.before_a1')") == [(None,)]


def test_joins_the_transaction_and_gives_the_search_path_back(
    database: str, catalog: Callable[..., Any]
) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database))
    with engine.connect() as connection, connection.begin() as transaction:
        connection.exec_driver_sql("set search_path = pg_catalog, public")
        migrate.upgrade(connection)
        path = connection.exec_driver_sql("show search_path").scalar_one()
        assert path == "pg_catalog, public"
        transaction.rollback()
    engine.dispose()
    assert catalog(database) == {}


def test_alembic_check_finds_the_metadata_equal(database: str) -> None:
    migrate.upgrade(database, schema="kb")
    with psycopg.connect(database) as connection:
        connection.execute("select kb.create_embedding_space('a model', 3)")
    command.check(own_alembic(database, "kb"))
    with psycopg.connect(database) as connection:
        connection.execute("alter table kb.document drop column title cascade")
    from alembic.util.exc import AutogenerateDiffsDetected

    with pytest.raises(AutogenerateDiffsDetected, match="title"):
        command.check(own_alembic(database, "kb"))


def test_alembic_commands_read_only_what_they_say(
    database: str,
    catalog: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = own_alembic(database)
    command.current(config)
    assert catalog(database) == {}
    command.upgrade(config, "head")
    capsys.readouterr()
    monkeypatch.setattr(config, "print_stdout", print)
    command.current(config)
    assert migrate.head() in capsys.readouterr().out
    command.downgrade(config, "base")
    assert catalog(database) == {}


def test_importing_the_package_brings_no_alembic() -> None:
    code = "import ragpg, sys; raise SystemExit('alembic' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_revision_that_runs_offline_is_told_what_to_do() -> None:
    offline: Any = create_mock_engine("postgresql+psycopg://", executor=print)
    with pytest.raises(ConfigError, match="offline") as refused:
        migrate.upgrade(offline)
    assert "ragpg migrate --sql" in (refused.value.hint or "")
