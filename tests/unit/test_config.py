"""The one configuration file: what it may hold, what wins, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import ragpg
from ragpg.cli.main import main
from ragpg.config.folders import Folder
from ragpg.config.knobs import knobs_of
from ragpg.config.read import read_config
from ragpg.config.sections import Namespace
from ragpg.config.values import SECTIONS, Config
from ragpg.errors import ConfigError
from ragpg.memory.memory import Memory
from ragpg.query.profile import Profile

TOML = """
dsn = "postgresql://someone:secret@db.example.com/shop"
embedder = "hash"
[profile]
base = "fast"
parents = 2
[settings]
pool_size = 20
[namespaces.handbook]
language = "german"
[[folder]]
path = "docs"
namespace = "handbook"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ragpg.toml"
    path.write_text(TOML)
    return path


def test_the_environment_wins_over_the_file_and_the_file_over_the_defaults(file: Path) -> None:
    found = read_config(file, {"RAGPG_POOL_SIZE": "30", "RAGPG_SCHEMA": "rag2"})
    assert (found.embedder, found.schema, found.settings.pool_size) == ("hash", "rag2", 30)
    assert (found.profile.parents, found.profile.rerankers) == (2, ())
    assert found.namespaces["handbook"].language == "german"
    assert found.folder[0].path == str(file.parent / "docs")
    assert found.settings.dsn == found.dsn
    origins = [found.origins[key] for key in ("dsn", "schema", "settings.pool_size")]
    assert origins == ["file", "environment", "environment"]
    assert found.origins["settings.budget"] == "default"
    assert read_config(file, {"RAGPG_PROFILE": "seed"}).profile.name == "seed"
    assert "secret" not in repr(found)


def test_yaml_and_json_say_the_same(file: Path, tmp_path: Path) -> None:
    import tomllib

    import yaml

    tables = tomllib.loads(TOML)
    (tmp_path / "a.json").write_text(json.dumps(tables))
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(tables))
    for name in ("a.json", "a.yaml"):
        found, expected = read_config(tmp_path / name, {}), read_config(file, {})
        assert (found.dsn, found.profile, found.settings, found.folder) == (
            expected.dsn, expected.profile, expected.settings, expected.folder,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('embeder = "hash"', "embedder"),
        ("[settings]\npoolsize = 3", "pool_size"),
        ("[settings]\npool_size = 1.5", "ragpg.toml: settings.pool_size must be a whole number"),
        ("pool_size = 3", "settings.pool_size"),
        ("[worker]\nthreads = 0", "ragpg.toml: worker.threads: threads must be at least 1"),
        ("[worker]\nfolders = 'docs'", "worker.folders must be a list of texts"),
        ("[ingest]\nfollow_links = 1", "ingest.follow_links must be true or false, not 1"),
        ("[ingest]\nchunkr = 'auto'", "chunker"),
        ("[tools]\nnamespaces = ['a']\ndefault_namespaces = ['b']", "does not allow"),
        ("[mcp]\nport = 70000", "mcp.port: port must be at most 65535"),
        ("[memory]\nhalf_life = 'long'", 'memory.half_life must be a number, or "none"'),
        ("[tools]\nfilter = 3", "tools.filter must be a table, not 3"),
        ("worker = 3", "worker must be a table"),
        ("schema = 'a b c; drop'", "schema"),
        ("[settings]\npool_size = -1", "greater than 0"),
        ("[settings]\nsearch_timeout = inf", "at most 2,147,483 seconds"),
        ("[profile]\nparent = 1", "parents"),
        ('profile = "mesured"', "measured"),
        ('[namespaces.a]\nlangage = "german"', "language"),
        (
            '[namespaces.a]\nkind = "other"',
            'namespaces.a.kind must be one of "knowledge", "memory"',
        ),
        ("[[folder]]\nnamespace = 'a'", "folder[0] needs its path"),
        ("[[folder]]\npath = 'a'\nchunks = 3", "folder[0].chunks is unknown"),
        ("[[folder]]\npath = 'a'\ninclude = '*.md'", "folder[0].include must be a list of texts"),
        ("folder = 3", "folder"),
        ("dsn = 3", "dsn must be a text"),
        ("dsn = ", "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "ragpg.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        read_config(path, {})
    assert said in f"{refused.value} {refused.value.hint}"


def test_a_broken_file_does_not_tell_its_secrets(tmp_path: Path) -> None:
    for name, text in (
        ("a.yaml", 'dsn: "postgresql://u:topsecret@h/x\nembedder: hash: [topsecret'),
        ("a.toml", 'dsn = "postgresql://u:topsecret@h/x'),
        ("a.json", '{"dsn": "topsecret" "x"}'),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(ConfigError, match="cannot be read") as refused:
            read_config(tmp_path / name, {})
        assert "topsecret" not in str(refused.value)


def test_without_a_file_there_are_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_config(environment={}).path is None
    (tmp_path / "ragpg.json").write_text('{"embedder": "none"}')
    assert read_config(environment={}).embedder == "none"


def test_the_command_shows_values_and_origins_and_no_password(file: Path) -> None:
    shown = CliRunner().invoke(main, ["config", "show", "--file", str(file), "--json"])
    values = json.loads(shown.output)
    assert values["settings.pool_size"] == {"value": 20, "from": "file"}
    assert "secret" not in shown.output
    (file.parent / "docs").mkdir()
    assert CliRunner().invoke(main, ["config", "check", "--file", str(file)]).exit_code == 0
    file.write_text("embeder = 'x'")
    wrong = CliRunner().invoke(main, ["config", "check", "--file", str(file)])
    assert wrong.exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('embedder = "locl"', "embedder: there is no embedder 'locl'"),
        ('generator = "gpt"', "generator: there is no generator 'gpt'"),
        ('reranker = "heuristic, coher"', "reranker: there is no reranker 'coher'"),
        ('[ingest]\nchunker = "recursiv"', "ingest.chunker: there is no chunker 'recursiv'"),
        ('[[folder]]\npath = "nowhere"', "there is no folder"),
        ('[settings]\nprices = "nowhere.toml"', "settings.prices: there is no file"),
        (
            '[profile]\nrerankers = ["hueristic"]',
            "profile: profile configured: there is no reranker",
        ),
    ],
)
def test_check_names_what_stands_for_nothing(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "ragpg.toml"
    file.write_text(text)
    found = CliRunner().invoke(main, ["config", "check", "--config", str(file)])
    assert (found.exit_code, said in found.output) == (2, True), found.output
    as_json = CliRunner().invoke(main, ["--config", str(file), "config", "check", "--json"])
    assert as_json.exit_code == 2
    assert said in json.loads(as_json.output)["problems"][0]


def test_a_file_is_found_upwards_unless_it_is_a_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ragpg.toml").write_text('embedder = "hash"')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert read_config(environment={}).embedder == "hash"
    monkeypatch.setattr("os.getuid", lambda: 12345)
    mine = (tmp_path / "ragpg.toml").stat().st_uid in (0, 12345)
    assert (read_config(environment={}).embedder == "hash") == mine
    monkeypatch.chdir(tmp_path)
    assert read_config(environment={}).embedder == "hash"


def test_every_table_reads_the_environment_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "ragpg.toml"
    file.write_text(
        '[worker]\nthreads = 2\nfolders = ["docs"]\n[tools]\nnamespaces = ["a"]\n'
        '[ingest]\nsentences = true\n[memory]\nhalf_life = "none"\n[settings]\nprices = "p.toml"\n'
    )
    found = read_config(
        file,
        {
            "RAGPG_WORKER_THREADS": "5",
            "RAGPG_TOOLS_NAMESPACES": "b, c",
            "RAGPG_INGEST_FOLLOW_LINKS": "yes",
            "RAGPG_TOOLS_FILTER": '{"year": 2024}',
            "RAGPG_OPENAI_API_KEY": "sk-very-secret",
        },
    )
    assert (found.worker.threads, found.worker.folders) == (5, (str(tmp_path / "docs"),))
    assert (found.tools.namespaces, dict(found.tools.filter)) == (("b", "c"), {"year": 2024})
    assert (found.ingest.follow_links, found.ingest.sentences) == (True, True)
    assert (found.memory.half_life, found.settings.prices) == (None, str(tmp_path / "p.toml"))
    assert (found.origins["worker.threads"], found.origins["worker.folders"]) == (
        "environment",
        "file",
    )
    assert "secret" not in repr(found)
    with pytest.raises(ConfigError, match="RAGPG_WORKER_THREADS must be a whole number, not 'two'"):
        read_config(file, {"RAGPG_WORKER_THREADS": "two"})
    with pytest.raises(ConfigError, match="RAGPG_MCP_PORT: port must be at most 65535"):
        read_config(file, {"RAGPG_MCP_PORT": "99999"})


def test_a_client_is_made_as_configured_and_arguments_win(tmp_path: Path) -> None:
    file = tmp_path / "ragpg.toml"
    file.write_text(
        'dsn = "postgresql:///nowhere"\nschema = "rag2"\nembedder = "hash:64"\n'
        'generator = "openai:small"\nreranker = "heuristic, late"\nprofile = "fast"\n'
        '[openai]\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "k"\n'
        '[ingest]\nchunker = "fixed:300/30"\ninclude = ["*.md"]\nlanguage = "german"\n'
        "[cache]\nenabled = true\nttl = 9\n"
        '[namespaces.notes]\nkind = "memory"\n[memory]\nk = 3\nagent = "clerk"\n'
    )
    with ragpg.connect(config=file) as rag:
        assert (rag.schema, rag.profile.name, rag.settings.dsn) == (
            "rag2",
            "fast",
            "postgresql:///nowhere",
        )
        assert rag.embedder is not None
        assert rag.embedder.dimensions == 64
        assert getattr(rag.generator, "model", None) == "small"
        assert rag.cache is not None
        assert rag.cache.ttl == 9
        assert getattr(rag.reranker, "name", None) == "heuristic > late"
        order = rag._order(
            ["docs"], (), None, namespace="notes", chunker=None, language=None, include=None,
            exclude=None, follow_links=None, sentences=None,
        )  # fmt: skip
        assert (order.kind, order.language, order.include) == ("memory", "german", ["*.md"])
        assert "300" in repr(order.chunker)
        memory = Memory(rag)
        assert (memory.namespace, memory.how.k) == ("memory/clerk", 3)
    other = ragpg.HashEmbedder(32)
    with ragpg.connect(
        config=file, embedder=other, schema="rag3", profile="seed", cache=False
    ) as rag:
        assert rag.cache is None
        assert (rag.embedder, rag.schema, rag.profile.name) == (other, "rag3", "seed")


def test_commands_go_by_the_file_and_options_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragpg.toml").write_text(
        'dsn = "postgresql:///x"\n[worker]\nthreads = 3\nlease = 9\n[tools]\nnamespaces = ["a"]\n'
        "[mcp]\nport = 99\n[memory]\nagent = 'clerk'\n"
        "[graph]\nextract_batch = 3\nextract_tokens = 900\nparallel = 7\nstructured = false\n"
    )
    seen: dict[str, Any] = {}
    graph = ("graph extract", "graph reports", "graph overview")
    for name in ("worker", "mcp", "memory recall", *graph):
        command: Any = main
        ctx = click.Context(main, info_name="ragpg")
        for word in name.split():
            command = command.get_command(ctx, word)
            ctx = click.Context(command, parent=ctx, info_name=word)
        arguments = {"worker": ["-j", "4"], "mcp": ["--port", "77"], "memory recall": ["x"],
                     "graph overview": ["x", "--parallel", "2"]}  # fmt: skip
        command.parse_args(ctx, arguments.get(name, []))
        seen[name] = ctx.params
    assert (seen["worker"]["threads"], seen["worker"]["lease"]) == (4, 9)
    assert (seen["mcp"]["namespace"], seen["mcp"]["port"]) == (("a",), 77)
    assert seen["memory recall"]["agent"] == "clerk"
    extract = seen["graph extract"]
    assert (extract["batch"], extract["tokens"], extract["parallel"]) == (3, 900, 7)
    assert extract["structured"] is seen["graph reports"]["structured"] is False
    assert [seen[name]["parallel"] for name in graph[1:]] == [7, 2]
    assert {one["dsn"] for one in seen.values()} == {"postgresql:///x"}


def test_every_knob_is_documented_and_the_page_is_current() -> None:
    from ragpg.config.reference import reference

    for cls in (*SECTIONS.values(), Config, Folder, Namespace, Profile):
        missing = [one.name for one in knobs_of(cls).values() if not one.text]
        assert set(missing) <= {"origins", "path"} or cls is not Config, (cls, missing)
        assert cls is Config or not missing, (cls, missing)
    page = Path(__file__).parents[2] / "docs" / "configuration.md"
    assert page.read_text() == reference(), (
        "run: python -m ragpg.config.reference > docs/configuration.md"
    )
