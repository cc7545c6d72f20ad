"""Ingests a mixed corpus twice, then changes, moves and deletes files, and ingests it again.

    python benchmarks/mixed_corpus.py DSN PACKAGES FOLDER [--files 2600] [--embedder hash:64]

PACKAGES holds documentation packages of Debian (.deb files, or folders they were unpacked to), for
example what `benchmarks/corpus.py` has downloaded. FOLDER is emptied and filled: FOLDER/corpus with
files of fifteen formats and pictures, taken from the packages as they are and, where they have too few of a
format, written of their paragraphs; FOLDER/log with what the command printed. DSN is an empty
database; its namespace `mixed` is filled through the command line, a process a run, and the table
has what each reported, with the CPU time and the peak of memory of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from measure import table
from mixed_formats import WRITERS

from ragpg import migrate

#: Parts of a hundred files of the corpus, by format.
SHARES = {
    "html": 34, "txt": 14, "gz": 5, "py": 12, "md": 4, "rst": 5, "pdf": 3, "epub": 2, "docx": 3,
    "pptx": 3, "xlsx": 3, "eml": 4, "csv": 3, "json": 2, "jsonl": 2, "png": 1,
}  # fmt: skip
#: Endings that are taken for a format.
ENDINGS = {
    ".html": "html", ".htm": "html", ".txt": "txt", ".pod": "txt", ".gz": "gz", ".py": "py",
    ".lua": "py", ".c": "py", ".h": "py", ".pl": "py", ".js": "py", ".nse": "py", ".md": "md",
    ".rst": "rst", ".pdf": "pdf", ".epub": "epub", ".csv": "csv", ".json": "json", ".png": "png",
}  # fmt: skip
LARGEST = 12_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of the command: its report, seconds, CPU seconds of the client, peak in MB."""

    report: dict[str, Any]
    seconds: float
    cpu: float
    peak: float


def unpacked(packages: Path, place: Path) -> list[Path]:
    """Folders with the files of the packages, in order."""
    folders = [path for path in sorted(packages.iterdir()) if path.is_dir()]
    for package in sorted(packages.glob("*.deb")):
        folder = place / package.name.partition("_")[0]
        folder.mkdir(parents=True)
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        folders.append(folder)
    return folders


def found(folders: list[Path]) -> dict[str, list[Path]]:
    """Files by format; Sphinx keeps its sources as .rst.txt."""
    files: defaultdict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            kind = "rst" if path.name.endswith(".rst.txt") else ENDINGS.get(path.suffix.lower())
            if kind and path.is_file() and not path.is_symlink() and path.stat().st_size < LARGEST:
                files[kind].append(path)
    return files


def paragraphs(files: list[Path], most: int = 20_000) -> list[str]:
    """Paragraphs of text files, to write others of."""
    texts: list[str] = []
    for path in files:
        text = path.read_text("utf-8", "ignore")
        if path.suffix.lower() in (".html", ".htm"):
            text = re.sub(r"<[^>]*>", "", text)
        plain = "".join(
            char if char.isprintable() else " " if char != "\n" else char for char in text
        )
        clean = (" ".join(part.split()) for part in plain.split("\n\n"))
        texts += [part for part in clean if 80 < len(part) < 1500]
        if len(texts) > most:
            break
    if not texts:
        sys.exit("the packages hold no text files to write others of")
    return texts


def build(packages: Path, folder: Path, count: int, random: Random) -> Counter[str]:
    """Fill folder/corpus; returns how many files it has of each format."""
    shutil.rmtree(folder, ignore_errors=True)
    corpus = folder / "corpus"
    files = found(unpacked(packages, folder / "unpacked"))
    sources = [*files["rst"], *files["txt"], *files["html"]]
    random.shuffle(sources)
    texts = paragraphs(sources)
    made: Counter[str] = Counter()
    for kind, share in SHARES.items():
        place = corpus / kind
        place.mkdir(parents=True)
        wanted = count * share // 100
        taken = random.sample(files[kind], min(wanted, len(files[kind])))
        for number, path in enumerate(taken):
            name = path.name.removesuffix(".txt") if kind == "rst" else path.name
            shutil.copyfile(path, place / f"{number:04}-{name}")
        for number in range(len(taken), wanted):
            if kind in WRITERS:
                title = f"{random.choice(texts)[:30].strip()} {number}"
                WRITERS[kind](
                    place / f"{number:04}-made.{kind}", title, random.sample(texts, 24), random
                )
        made[kind] = len(list(place.iterdir()))
    shutil.rmtree(folder / "unpacked", ignore_errors=True)
    return made


def memory(pid: int) -> float:
    """The most memory that a process has had since its start, in MB."""
    found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def run(corpus: Path, log: Path, options: argparse.Namespace, *extra: str) -> Measured:
    """One `ragpg ingest --prune` of the corpus in a process of its own."""
    command = [sys.executable, "-m", "ragpg.cli.main", "ingest", str(corpus), "-n", "mixed"]
    command += ["--prune", "--dsn", options.dsn, "--embedder", options.embedder, "--json", *extra]
    began = time.perf_counter()
    with log.with_suffix(".json").open("wb") as out, log.with_suffix(".err").open("wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        peak = 0.0
        # Not ru_maxrss, which begins with the memory of the process that started it.
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            peak = max(peak, memory(process.pid))
            time.sleep(0.05)
        _, status, usage = ended
    seconds = time.perf_counter() - began
    # A file that fails makes the exit code 1 and is part of the report.
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(log.with_suffix(".err").read_text())
    report = json.loads(log.with_suffix(".json").read_text())
    return Measured(report, seconds, usage.ru_utime + usage.ru_stime, peak)


def change(corpus: Path, random: Random) -> str:
    """Change files, move some (a folder of them as a whole), delete others; says how many."""
    files = [path for kind in ("html", "txt", "py", "csv", "rst", "md") for path in
             sorted((corpus / kind).iterdir())]  # fmt: skip
    random.shuffle(files)
    unit = max(len(files) // 90, 1)
    for path in files[: 5 * unit]:
        with path.open("ab") as file:
            file.write(b"\nOne more line about harbours.\n")
    (corpus / "elsewhere").mkdir()
    for path in files[5 * unit : 8 * unit]:
        path.rename(corpus / "elsewhere" / path.name)
    whole = len(list((corpus / "docx").iterdir()))
    (corpus / "docx").rename(corpus / "letters")
    for path in files[8 * unit : 10 * unit]:
        path.unlink()
    return f"{5 * unit} changed, {3 * unit + whole} moved, {2 * unit} deleted"


def row(name: str, one: Measured) -> list[str | float | int]:
    """A line of the table."""
    counts = ", ".join(f"{count} {kind}" for kind, count in one.report["counts"].items() if count)
    return [
        name, counts, f"{one.report['chunks']:,}", f"{one.report['embedded']:,}",
        f"{one.seconds:.0f}", f"{one.cpu:.0f}", f"{one.report['chunks'] / one.seconds:.0f}",
        f"{one.peak:.0f}",
    ]  # fmt: skip


def main() -> None:
    """Build, ingest, change, ingest; print the tables."""
    parser = argparse.ArgumentParser(description="Ingest a mixed corpus and what becomes of it.")
    parser.add_argument("dsn")
    parser.add_argument("packages", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=2600)
    parser.add_argument("--embedder", default="hash:64")
    options = parser.parse_args()
    random = Random(3)
    made = build(options.packages, options.folder, options.files, random)
    corpus, log = options.folder / "corpus", options.folder / "log"
    log.mkdir()
    size = sum(path.stat().st_size for path in corpus.rglob("*") if path.is_file())
    print(f"{sum(made.values()):,} files, {size / 1e6:.0f} MB:",
          ", ".join(f"{count} {kind}" for kind, count in made.items()), "\n", flush=True)  # fmt: skip
    migrate.upgrade(options.dsn)
    rows = [row("first", first := run(corpus, log / "1-first", options))]
    rows.append(row("again", run(corpus, log / "2-again", options)))
    what = change(corpus, random)
    rows.append(row(f"{what}: plan", run(corpus, log / "3-plan", options, "--dry-run")))
    rows.append(row("the same for good", run(corpus, log / "4-changed", options)))
    rows.append(row("again", last := run(corpus, log / "5-again", options)))
    head = ["run", "files", "chunks", "embedded", "s", "CPU s client", "chunks a second", "peak MB"]
    print(table(head, rows), "\n")
    reasons = Counter(
        f"{file['status']}: {(file['reason'] or '').rpartition(': ')[2]}"
        for file in first.report["files"] if file["status"] not in ("stored", "unchanged")
    )  # fmt: skip
    print(table(["not stored", "files"], [list(pair) for pair in sorted(reasons.items())]))
    left = {file["source"] for file in last.report["files"]}
    there = {str(path.relative_to(corpus)) for path in corpus.rglob("*") if path.is_file()}
    if missing := sorted(there ^ left):
        sys.exit(f"the namespace is not what the folder is: {missing[:5]}")


if __name__ == "__main__":
    main()
