"""How the queue scales: documents a second with 1, 2 and 4 workers, and an embedder that waits.

    python -m benchmarks.jobs DSN

DSN is an empty database with the schema. Every request of the embedder takes 0.25 s, as one over
the network does. Workers are processes; the last line is one process with four threads.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import psycopg

import ragpg
from ragpg.jobs.queue import Queue

DOCUMENTS = 400
WORK = textwrap.dedent("""
    import sys, threading, time
    import ragpg
    from ragpg.jobs.options import WorkOptions
    from ragpg.jobs.worker import work
    from ragpg.testing import HashEmbedder

    class Remote(HashEmbedder):
        def embed_documents(self, texts):
            time.sleep(0.25)
            return super().embed_documents(texts)

    settings = ragpg.Settings(pool_size=20)
    with ragpg.connect(sys.argv[1], embedder=Remote(384), settings=settings) as rag:
        rag.namespaces()
        sys.stdin.readline()
        options = WorkOptions(threads=int(sys.argv[2]), drain=True, poll=0.1)
        work(rag, options, stop=threading.Event())
""")


def measure(dsn: str, processes: int, threads: int) -> tuple[float, int]:
    """Seconds from the first job's begin to the last one's end, and how many were stored."""
    name = f"w{processes}x{threads}"
    texts = [
        (
            f"{number:04}.md",
            "\n\n".join(
                f"# Part {part}\n\n" + f"Words {number} {part} {name} of a text. " * 25
                for part in range(4)
            ),
        )
        for number in range(DOCUMENTS)
    ]
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, dsn, str(threads)],
            stdin=subprocess.PIPE,
        )
        for _ in range(processes)
    ]
    with ragpg.connect(dsn) as rag:
        Queue(rag).enqueue(texts=texts, namespace=name)
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"\n")
        worker.stdin.close()
    for worker in workers:
        worker.wait()
    with psycopg.connect(dsn) as connection:
        [seconds, count] = connection.execute(
            "select extract(epoch from max(finished_at) - min(started_at))::float8,"
            " count(*) filter (where result = 'stored') from ragpg.jobs where namespace = %s",
            [name],
        ).fetchone() or (0.0, 0)
    return seconds, count


def main() -> None:
    """Print a line for each number of workers."""
    base = None
    for processes, threads in ((1, 1), (2, 1), (4, 1), (1, 4)):
        seconds, count = measure(sys.argv[1], processes, threads)
        base = base or seconds
        print(
            f"{processes} processes x {threads} threads: {count} documents in {seconds:.1f} s, "
            f"{count / seconds:.1f}/s, ratio {base / seconds:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
