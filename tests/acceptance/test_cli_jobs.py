"""The queue from the command line."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nRefunds of {name} take 14 days.\n")
    return folder


@pytest.mark.case("OP-05")
def test_jobs_from_adding_to_deleting_op_05(ragpg_cli: Callable[..., Result], docs: Path) -> None:
    added = ragpg_cli("jobs", "add", str(docs), "-n", "handbook", "--batch", "first")
    assert (added.exit_code, added.stdout) == (0, "handbook: 3 jobs\n")
    again = ragpg_cli("jobs", "add", str(docs / "a.md"), "--root", str(docs), "-n", "handbook")
    assert again.stdout == "handbook: 1 jobs, 1 in place of others\n"
    (docs / "bad.pdf").write_bytes(b"%PDF-1.4\nno")
    ragpg_cli("jobs", "add", str(docs / "bad.pdf"), "-n", "handbook", "--max-attempts", "1")

    done = ragpg_cli("worker", "--files", str(docs), "--drain", "--poll", "0.1")
    assert done.exit_code == 0
    assert "handbook: OK a.md (1 chunk, 0 cached)" in done.stdout
    assert "handbook: FAILED bad.pdf" in done.stdout
    assert "bad.pdf is in quarantine after 1 attempts" in done.stderr
    listed = json.loads(ragpg_cli("jobs", "list", "--json").stdout)
    [batch] = [one for one in listed["progress"] if one["batch"] == "first"]
    assert (batch["done"], batch["percent"]) == (2, 100.0)
    [bad] = listed["jobs"]
    assert bad["state"] == "quarantined"
    table = ragpg_cli("jobs", "list").stdout
    assert "bad.pdf" in table
    assert "first" in table

    assert ragpg_cli("jobs", "retry", str(bad["id"])).stdout == "retried: 1\n"
    assert ragpg_cli("jobs", "delete", "--state", "waiting").stdout == "deleted: 1\n"
    for wrong in (("retry",), ("delete",), ("delete", "-n", "handbook"), ("add", "nowhere")):
        assert ragpg_cli("jobs", *wrong).exit_code == 2
    assert ragpg_cli("search", "refunds", "-n", "handbook").exit_code == 0


def test_an_ingest_may_be_left_to_the_queue(ragpg_cli: Callable[..., Result], docs: Path) -> None:
    (docs / "c.txt").write_text("Not this one.")
    queued = ragpg_cli("ingest", str(docs), "-n", "handbook", "--queue", "--include", "*.md")
    assert (queued.exit_code, queued.stdout) == (0, "handbook: 3 jobs\n")
    for option in (["--dry-run"], ["--chunker", "whole"]):
        refused = ragpg_cli("ingest", str(docs), "--queue", *option)
        assert refused.exit_code == 2
        assert option[0] in refused.stderr
    done = ragpg_cli("worker", "--files", str(docs), "--drain", "--poll", "0.1")
    assert done.stdout.count("handbook: OK") == 3


def test_a_worker_ends_on_sigterm_with_nothing_lost(
    ragpg_cli: Callable[..., Result],
    ragpg_process: Callable[..., subprocess.Popen[str]],
    docs: Path,
) -> None:
    worker = ragpg_process("worker", "--files", str(docs), "--poll", "0.1", "-j", "2")
    ragpg_cli("jobs", "add", str(docs))
    end = time.monotonic() + 30

    def progress() -> Any:
        listed = json.loads(ragpg_cli("jobs", "list", "--json").stdout)
        return listed["progress"][0]["done"]

    while progress() < 3:
        assert time.monotonic() < end
        time.sleep(0.1)
    worker.send_signal(signal.SIGTERM)
    out, err = worker.communicate(timeout=15)
    assert worker.returncode == 0, err
    assert out.count(" default: OK ") == 3
    assert "stopped; 3 jobs done" in err
    assert "Traceback" not in err
