"""What a configuration says of namespaces, folders and kinds of files changes what is done."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import ragpg
from ragpg.cli.main import main
from ragpg.config.read import read_config
from ragpg.errors import ConfigError
from ragpg.jobs.options import WorkOptions
from ragpg.jobs.queue import Queue
from ragpg.jobs.worker import work
from ragpg.query.profile import Profile
from ragpg.tools.proactive import Proactive
from ragpg.watch import watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    Database = psycopg.Connection[Any]

TEXT = "\n\n".join(f"Paragraph {number} has a few words." for number in range(12))
CONFIG = """
embedder = "hash:8"
[ingest]
chunker = "whole"
[ingest.chunkers]
"*.log" = "LOG"
"notes/**" = "recursive:120/0"
[namespaces.cut]
chunker = "recursive:60/0"
[namespaces.wide]
embedder = "hash:16"
fusion = { method = "rrf", rrf_k = 5 }
[namespaces.also]
fusion = { method = "rrf", rrf_k = 5 }
[proactive]
namespaces = ["default"]
bar = 0.9
k = 1
filter = { team = "dock" }
"""


@pytest.fixture
def configured(database: str, tmp_path: Path) -> Callable[..., ragpg.Client]:
    """A function that gives a client with the file above, and more."""

    def make(more: str = "", log: str = "recursive:80/0") -> ragpg.Client:
        file = tmp_path / "ragpg.toml"
        file.write_text(CONFIG.replace("LOG", log) + more)
        return ragpg.connect(database, config=read_config(file, {}))

    return make


def chunks(rag: ragpg.Client, namespace: str = "default") -> dict[str, int]:
    found: dict[str, int] = {}
    for hit in rag.fetch(namespace=namespace):
        found[hit.source] = found.get(hit.source, 0) + 1
    return found


def test_a_file_is_cut_as_its_name_its_namespace_or_the_call_say(
    configured: Callable[..., ragpg.Client],
) -> None:
    texts = [("a.md", TEXT), ("b.log", TEXT), ("notes/c.md", TEXT)]
    with configured() as rag:
        rag.ingest(texts=texts)
        plain = chunks(rag)
        assert plain["a.md"] == 1
        assert plain["b.log"] > plain["notes/c.md"] > 1
        rag.ingest(texts=texts, namespace="cut")
        cut = chunks(rag, "cut")
        assert len(set(cut.values())) == 1
        assert cut["a.md"] >= plain["b.log"]
        # An unchanged chunker leaves a file alone, whatever another kind of file is cut by.
        assert rag.ingest(texts=texts).count("unchanged") == 3
    with configured(log="recursive:40/0") as rag:
        report = rag.ingest(texts=texts)
        assert {file.source for file in report.files if file.status == "stored"} == {"b.log"}


def test_workers_and_watchers_cut_as_configured(
    configured: Callable[..., ragpg.Client], tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    (folder / "b.log").write_text(TEXT)
    more = '[[folder]]\npath = "docs"\nnamespace = "watched"\nchunker = "recursive:60/0"\n'
    with configured(more) as rag:
        Queue(rag).enqueue([folder], namespace="queued")
        Queue(rag).enqueue(texts=[("c.md", TEXT)], namespace="cut")
        Queue(rag).enqueue(texts=[("d.md", TEXT)], namespace="wide")
        work(rag, WorkOptions(folders=[str(folder)], drain=True), stop=threading.Event())
        queued, cut = chunks(rag, "queued"), chunks(rag, "cut")
        assert (queued["a.md"], queued["b.log"] > 1, cut["c.md"] > 1) == (1, True, True)
        stop = threading.Event()
        watch(rag, rag.config.folder, stop=stop, on_report=lambda *_: stop.set())
        watched = chunks(rag, "watched")
        assert watched["a.md"] == watched["b.log"] == cut["c.md"]


def test_a_namespace_gets_the_model_that_it_is_configured_with(
    configured: Callable[..., ragpg.Client], db: Database
) -> None:
    with configured() as rag:
        for name in ("wide", "default"):
            rag.ingest(texts=[("a.md", TEXT)], namespace=name)
        # What was searched last is nothing to a namespace that is made now.
        assert rag.search("paragraph 3", namespace="wide").hits[0].arms["vector"]
        rag.ingest(texts=[("a.md", TEXT)], namespace="new")
        Queue(rag).enqueue(texts=[("b.md", TEXT)], namespace="wide")
        work(rag, WorkOptions(drain=True), stop=threading.Event())
        assert rag.search("paragraph 3", namespace="default").hits[0].arms["vector"]
        assert chunks(rag, "wide").keys() == {"a.md", "b.md"}
    rows = db.execute(
        "select name, dimensions from ragpg.namespace"
        " join ragpg.embedding_space as space on space.id = space_id order by name"
    ).fetchall()
    assert rows == [("default", 8), ("new", 8), ("wide", 16)]
    jobs = db.execute("select state, result from ragpg.job").fetchall()
    assert jobs == [("done", "stored")]


def test_the_command_line_has_these_models_too_and_its_option_wins(
    configured: Callable[..., ragpg.Client], database: str, tmp_path: Path
) -> None:
    configured()
    (tmp_path / "a.md").write_text(TEXT)
    given = ["--dsn", database, "--config", str(tmp_path / "ragpg.toml"), "--json"]

    def model(namespace: str, *more: str) -> int:
        runner = CliRunner()
        result = runner.invoke(
            main, ["ingest", str(tmp_path / "a.md"), "-n", namespace, *given, *more]
        )
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["chunks"] == (1 if "--chunker" not in more else 12)
        listed = runner.invoke(main, ["reembed", namespace, "--status", *given])
        [space] = json.loads(listed.stdout)["spaces"]
        return int(space["dimensions"])

    assert model("wide") == 16
    assert model("plain", "--chunker", "recursive:40/0") == 8
    runner = CliRunner()
    assert runner.invoke(main, ["namespaces", "drop", "wide", "--yes", *given]).exit_code == 0
    assert model("wide", "--embedder", "hash:24") == 24


def test_namespaces_fuse_as_configured_where_all_agree(
    configured: Callable[..., ragpg.Client],
) -> None:
    with configured() as rag:
        for name in ("wide", "also", "default"):
            rag.ingest(texts=[("a.md", TEXT)], namespace=name)

        def method(namespace: Any, **more: Any) -> str:
            fusion = rag.search("paragraph", namespace=namespace, **more).fusion
            assert fusion is not None
            return fusion.method

        assert method("wide") == "rrf"
        assert method(["also", "also"]) == "rrf"
        assert method("default") == method(["also", "default"]) == "adaptive"
        assert method("wide", profile=Profile(fusion={"method": "minmax"})) == "minmax"


def test_passages_are_shown_unasked_as_configured(
    configured: Callable[..., ragpg.Client], database: str
) -> None:
    question = "How many words has paragraph 3 of the dock?"
    with configured() as rag:
        rag.ingest(
            texts=[("a.md", "Paragraph 3 of the dock has nine words.")], metadata={"team": "dock"}
        )
        rag.ingest(texts=[("b.md", "Paragraph 3 of the dock has two words.")])
        assert Proactive(rag).context_for("How deep are the oceans of Jupiter?") == ""
        eager = Proactive(rag, bar=0.0).context_for(question)
        assert ('"default/a.md' in eager, "b.md" in eager) == (True, False)
        assert "b.md" in Proactive(rag, bar=0.0, k=2, filter={}).context_for(question)
    with ragpg.connect(database) as plain, pytest.raises(ConfigError, match="names"):
        Proactive(plain)
