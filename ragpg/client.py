"""The sync client."""

from __future__ import annotations

import threading
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from ragpg.config.use import configured
from ragpg.connection import address_of
from ragpg.connection_access import allowed_names, refuse_limited
from ragpg.connection_handles import open_source
from ragpg.connection_sync import Database
from ragpg.feedback.attribution import showings
from ragpg.flows import Flows, Names, Path, SearchOptions, settings_dsn
from ragpg.observe.stage import settled
from ragpg.perform import Performer
from ragpg.queries import NAMESPACES, NamespaceInfo
from ragpg.sqlfiles import check_schema
from ragpg.steps import Flow, fetch, run
from ragpg.streams import events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Generator as Events
    from types import TracebackType
    from typing import Self

    from ragpg.config.use import ConfigChoice
    from ragpg.doctor import Check
    from ragpg.feedback.attribution import Used
    from ragpg.graph.global_search_result import GlobalResult
    from ragpg.ingest.indexing import IndexPolicy
    from ragpg.ingest.prepare import Text
    from ragpg.ingest.sentences import SentenceReport
    from ragpg.jobs.enqueue import EnqueueReport
    from ragpg.judges.named import JudgeChoice
    from ragpg.protocols import (
        Chunker,
        Embedder,
        Generator,
        Reranker,
        Retriever,
    )
    from ragpg.query.cache import Cache
    from ragpg.query.profile import ProfileChoice, Unsupported
    from ragpg.query.prompt import Prompt, Turn
    from ragpg.query.retrieve import Arms
    from ragpg.repair import Repair
    from ragpg.settings import Settings
    from ragpg.types import (
        Answer,
        AnswerEvent,
        FileReport,
        Grounding,
        Hit,
        IngestReport,
        Json,
        Metadata,
        SearchResult,
    )
    from ragpg.vector_index import IndexProgress

T = TypeVar("T")


class Client(Flows):
    """Ingest, search, ask and ground over one database; made by `ragpg.connect`.

    May be shared by threads. Errors are RagpgError; a failing arm, model or retriever of a search
    is in its report and notes instead.
    """

    def __init__(self, database: Database, **options: Any) -> None:
        super().__init__(**options)
        self._database = database
        self._perform = Performer(database, self.ledger)
        #: Whose connections these are: what is counted is written without limits on namespaces.
        self._root: Client = self
        self._writer: threading.Thread | None = None

    def ingest(
        self,
        paths: Path | Iterable[Path] = (),
        *,
        texts: Iterable[Text] = (),
        namespace: str = "default",
        prune: bool = False,
        root: Path | None = None,
        chunker: Chunker | None = None,
        language: str | None = None,
        metadata: Metadata | None = None,
        follow_links: bool | None = None,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        on_file: Callable[[FileReport], object] | None = None,
        dry_run: bool = False,
        sentences: bool | None = None,
        index: IndexPolicy | None = None,
        on_index: Callable[[IndexProgress], object] | None = None,
    ) -> IngestReport:
        """Bring a namespace to what files, folders and texts are now; what is unchanged is skipped.

        paths     files, folders and patterns; a document's source is its path in the folder given,
                  or from `root`
        texts     (source, text), Document, or a mapping of source, text, title, metadata, format;
                  of several with one source the last one counts
        prune     also delete documents whose files below `paths` are gone; raises ConfigError
                  where a folder is suddenly empty
        language  text search configuration of a new namespace; None: as configured, else english
        metadata  for every document, over what the file says
        include   patterns of the files to read, as "*.md"; exclude: of those to leave out. For
                  these, `chunker`, `follow_links` and `sentences` None is what is configured
        on_file   is called with each FileReport, in this thread
        dry_run   say what would be done, write nothing
        sentences also embed single sentences, for the sentence arm; None: where the namespace has
                  such vectors already
        index     auto, live or after: whether the vector index is kept up with every row or built
                  when the rows are in; None: what the settings say. Searches find the same
        on_index  is called while the index is built

        A document is stored wholly or not at all, and one that fails keeps what was stored before
        and is tried again by the next ingest. Raises DimensionMismatch, before anything is
        written, when the embedder is not the one of the namespace.
        """
        order = self._order(
            paths, texts, metadata, namespace=namespace, prune=prune, root=root, chunker=chunker,
            language=language, follow_links=follow_links, include=include,
            exclude=exclude, on_file=on_file, dry_run=dry_run, sentences=sentences,
            index=index, on_index=on_index,
        )  # fmt: skip
        return self.run(self._ingest(order))

    def search(
        self,
        query: str,
        *,
        namespace: Names = "default",
        k: int = 10,
        filter: Json = None,
        arms: Arms | None = None,
        rerank: bool | Reranker = True,
        embedding: Sequence[float] | None = None,
        answer: str | None = None,
        context_tokens: int | None = None,
        candidates: int | None = None,
        profile: ProfileChoice | None = None,
        history: Sequence[Turn] = (),
        judge: JudgeChoice | None = None,
    ) -> SearchResult:
        """The k chunks that answer a query best, from one or several namespaces.

        filter      metadata conditions, as {"year": {"gte": 2023}}; they restrict every arm
        arms        ["keyword"] for only these, or {"vector": {"weight": 2, "k": 100},
                    "graph": False} over the defaults; names of retrievers too
        rerank      False keeps the fused order, a Reranker replaces the client's and the profile's
        embedding   the query's vector, where the caller has it already
        answer      a text whose claims are checked against the hits: `grounding` of the result
        candidates  how many hits the stages after SQL see; None: what the profile says
        profile     which stages run: measured, seed, fast, the path of a file, or a Profile; None:
                    the client's
        history     earlier queries of a conversation, oldest first, or its messages as {"role":
                    "user", "content": ...}: they help a vague follow-up
        judge       who checks the claims of `answer`; see ask

        A blank query without a filter finds nothing. Raises NamespaceNotFound, FilterError and
        SearchTimeout.
        """
        request = self._request(
            query, namespace, rerank, profile, k=k, filter=filter, arms=arms,
            embedding=embedding, answer=answer, context_tokens=context_tokens,
            candidates=candidates, history=history, judge=judge, judged=answer is not None,
        )  # fmt: skip
        return self.run(self._search(request))

    def ask(
        self,
        question: str,
        *,
        namespace: Names = "default",
        k: int = 10,
        filter: Json = None,
        arms: Arms | None = None,
        rerank: bool | Reranker = True,
        embedding: Sequence[float] | None = None,
        context_tokens: int | None = None,
        candidates: int | None = None,
        profile: ProfileChoice | None = None,
        history: Sequence[Turn] = (),
        generator: Generator | None = None,
        judge: JudgeChoice | None = None,
        gate: float | None = None,
        unsupported: Unsupported | None = None,
        prompt: Prompt | None = None,
    ) -> Answer:
        """An answer of the chat model from what a search finds, cited and checked.

        history      as for search; the model sees it too
        judge        who checks the claims: "lexical", "embedding", "llm", the folder of an
                     entailment model, or a Judge
        gate         an answer of lower confidence, 0 to 1, is not given
        unsupported  what becomes of claims without support: "keep", "mark", "drop", or "repair",
                     one round back to the model; where that makes it no better the first answer
                     stays, and `notes` say so
        prompt       what the model is told, in the place of ragpg's own prompt

        Where one of the last four is None the profile decides. Where the evidence is too weak the
        answer says so, `refused` is True and no model is asked. Raises ProviderError when the model
        fails, ConfigError for a judge that cannot be had.
        """
        request = self._request(
            question, namespace, rerank, profile, k=k, filter=filter, arms=arms,
            embedding=embedding, context_tokens=context_tokens, candidates=candidates,
            history=history, judge=judge, judged=True, generator=generator, gate=gate,
            unsupported=unsupported, prompt=prompt,
        )  # fmt: skip
        return self.run(self._ask(request, generator))

    def ask_stream(
        self,
        question: str,
        *,
        namespace: Names = "default",
        generator: Generator | None = None,
        rerank: bool | Reranker = True,
        profile: ProfileChoice | None = None,
        **options: Unpack[SearchOptions],
    ) -> Events[AnswerEvent, None, None]:
        """As ask, in events: Started (what was found), Deltas (the text), Done (the Answer).

        With unsupported="repair" a Repairing may come: the text so far is withdrawn, and Deltas of
        the new one follow. A Revised before Done is the text where checking changed it otherwise.

        The arguments are those of ask. The search is over, and its connection given back, before
        the first event. Close the iterator to stop the model.
        """
        request = self._request(
            question, namespace, rerank, profile, judged=True, generator=generator, **options
        )
        chosen = self._chat_model(generator)
        call, failed = self._streamed(request), None
        try:
            yield from events(self._script(request), self.run, chosen, call)
        except BaseException as error:
            failed = error
            raise
        finally:
            self._book(call, failed)

    def ground(
        self,
        answer: str,
        *,
        result: SearchResult | None = None,
        question: str | None = None,
        namespace: Names = "default",
        k: int = 10,
        filter: Json = None,
        judge: JudgeChoice | None = None,
        profile: ProfileChoice | None = None,
    ) -> Grounding:
        """Verdicts on the claims of an answer, against a result, or what a question finds.

        `judge` is as for ask. A judge that fails is noted, and the lexical one takes its place.
        """
        request = self._request(
            question or answer,
            namespace,
            True,
            profile,
            k=k,
            filter=filter,
            judge=judge,
            judged=True,
        )
        return self.run(self._ground(answer, request, result))

    def feedback(
        self,
        shown: SearchResult | Answer,
        used: Iterable[Used] | None = None,
        *,
        count: int | None = None,
    ) -> None:
        """Count what was shown, and what of it was followed: later searches learn from it.

        shown  a result, of which the first `count` hits were shown (None: all), or an answer
        used   what was followed: hits, citations, numbers of citations, or sources. None: of an
               answer the passages that carry a supported claim, of a result nothing

        Call it once for a result that somebody saw. Counts are written in batches, beside the
        caller; what the database does with them is logged, never raised. Raises ConfigError for a
        `used` that was not shown.
        """
        if not self.recorder.add(showings(shown, used, count=count)):
            return
        if self._database.source.joins:
            self.flush_feedback()
        else:
            self._root._write_later()

    def flush_feedback(self) -> None:
        """Write the feedback that waits; `close` does it too."""
        self._root.run(self.recorder.write())

    def flush_usage(self) -> None:
        """Write what models cost until now; `close` does it too. See Settings.usage."""
        if self.ledger is not None:
            self._root.run(self.ledger.write())

    def _write_later(self) -> None:
        def write() -> None:
            for counts in self._written:
                run(counts.write(), self._perform)

        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(target=write, daemon=True)
            self._writer.start()

    def limited_to(self, namespaces: Sequence[str]) -> Self:
        """The same client for fewer namespaces: the database refuses others to whatever it does.

        It has the connections, models, cache and counts of this one; closing it closes nothing.

            tenant = rag.limited_to(["acme", "shared"])
            tenant.search("refunds", namespace="acme")

        Narrowing again leaves what both allow. Raises ConfigError for what is no list of names.
        """
        found = copy(self)
        found._database = self._database.limited_to(namespaces)
        found._perform = Performer(found._database, self.ledger)
        return found

    def fill_sentences(
        self,
        namespace: str = "default",
        *,
        seconds: float | None = None,
        on_step: Callable[[SentenceReport], object] | None = None,
    ) -> SentenceReport:
        """Embed the sentences of a namespace that have no vectors yet, for the sentence arm.

        Ingestion keeps them complete from then on. `seconds` ends it early; the next call goes on.
        Raises NamespaceNotFound, ConfigError for another model than the namespace's, ProviderError.
        """
        return self.run(self._fill_sentences(namespace, seconds, on_step))

    def search_global(
        self,
        query: str,
        *,
        namespace: Names = "default",
        k: int = 24,
        generator: Generator | None = None,
    ) -> GlobalResult:
        """What the reports on communities say on a question about a whole corpus, and the chat
        model's answer from them, where there is a model. Make reports first: `ragpg graph reports`.
        """
        return self.run(self._search_global(query, namespace, k, generator))

    def enqueue(
        self,
        paths: Path | Iterable[Path] = (),
        *,
        texts: Iterable[Text] = (),
        namespace: str = "default",
        **options: Any,
    ) -> EnqueueReport:
        """Put files and texts into the queue, one job a document, for `ragpg worker`.

        The arguments are those of ragpg.jobs.queue.Queue.enqueue: priority, delay, prune, ...
        """
        from ragpg.jobs.queue import Queue

        queue = Queue(self)
        return queue.enqueue(paths, texts=texts, namespace=namespace, **options)

    def namespaces(self) -> list[NamespaceInfo]:
        """All namespaces, by name."""
        return self.run(fetch(NAMESPACES))

    def create_namespace(
        self, name: str, *, kind: str | None = None, language: str | None = None
    ) -> None:
        """Create a namespace; nothing happens if it is there. Names compare byte by byte.

        kind      knowledge or memory; None: as configured, else knowledge
        language  text search configuration; None: as configured, else english
        """
        self.run(self._create(name, kind, language))

    def drop_namespace(self, name: str) -> bool:
        """Delete a namespace with everything in it; False if there is none of that name.

        The vectors in the cache that no other text needs go after `Settings.vector_retention` days,
        with 0 here and now; see prune_embedding_cache.
        """
        return bool(self.run(self._drop(name)))

    def prune_embedding_cache(self, days: float | None = None) -> int:
        """Forget cached vectors of texts that no namespace has any more; how many there were.

        days  how long ago a text must have been found gone, by a call of this or by the drop of
              its namespace; 0: at once; None: as in the settings

        Workers and watchers call it once an hour, the doctor when it mends. It reads the keys of
        all chunks. Where this role may not, nothing goes. Raises ConfigError over a client that is
        limited to namespaces: vectors belong to the texts of all.
        """
        refuse_limited(self._database.allowed, "prune_embedding_cache")
        return self.run(self._prune_cache(days))

    def fetch(
        self,
        sources: Names | None = None,
        *,
        namespace: str = "default",
        filter: Json = None,
        k: int | None = None,
    ) -> list[Hit]:
        """The stored chunks of documents, by source and in reading order; no search is made.

        sources  one or several; None: all of the namespace. Unknown ones have no chunks
        filter   only chunks whose metadata pass
        k        at most so many; None: no limit

        Their `score` is 0 and their `score_kind` "none". Raises NamespaceNotFound and FilterError.
        """
        return self.run(self._fetch(sources, namespace, filter, k))

    def delete(self, sources: Names, *, namespace: str = "default") -> int:
        """Delete documents by source; how many there were. Nothing named, nothing deleted."""
        return self.run(self.delete_flow(sources, namespace=namespace))

    def doctor(
        self, *, fix: bool = False, on_repair: Callable[[Repair], object] | None = None
    ) -> list[Check]:
        """What is wrong with the database, and what to do about it.

        fix        mend first what can be mended, as `ragpg doctor --fix`; vectors that are missing
                   are made by this client's embedder
        on_repair  is called with what became of each fault
        """
        refuse_limited(self._database.allowed, "doctor")
        with self._database.source.borrow() as connection:
            dsn = address_of(connection)
        return self._examine(dsn, fix=fix, on_repair=on_repair)

    def run(self, flow: Flow[T]) -> T:
        """Run a flow of the package, such as those of ragpg.graph; each says what it raises."""
        try:
            with settled(self.settings):
                return run(flow, self._perform)
        finally:
            if self.ledger is not None and self.ledger.is_due and not self._database.source.joins:
                self._root._write_later()

    def close(self) -> None:
        """Close the connections that were opened here; those of the caller stay open."""
        if self._root is not self:
            return
        if self._writer is not None:
            self._writer.join(5)
        self.flush_feedback()
        self.flush_usage()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def connect(
    target: Any = None,
    *,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    generator: Generator | None = None,
    retrievers: Sequence[Retriever] = (),
    schema: str | None = None,
    settings: Settings | None = None,
    profile: ProfileChoice | None = None,
    config: ConfigChoice | None = None,
    cache: Cache | bool | None = None,
    allowed_namespaces: Sequence[str] | None = None,
) -> Client:
    """A client, which connects at its first use. Use it as a context manager, or close it.

    target      a DSN; a psycopg Connection or ConnectionPool; a SQLAlchemy Engine, Connection or
                Session with the psycopg driver. None: RAGPG_DSN, or the server of `ragpg db up`.
                A connection or session is joined: its transaction stays the caller's, to commit or
                to roll back
    embedder    None: keyword, metadata and graph search only
    reranker    None: those of the profile
    profile     which stages a search runs: measured (None: RAGPG_PROFILE, else measured), seed,
                fast, the path of a TOML, YAML or JSON file, or a Profile
    schema      None: as configured, else ragpg
    config      the path of a configuration file, or what ragpg.config.read.read_config gives: it
                says what no argument says, and the defaults of ingest. None: no file is read
    retrievers  other sources, which are searched beside the database and join the fusion
    cache       True or a ragpg.Cache keeps results of searches until somebody writes to their
                namespaces; see docs/observability.md
    allowed_namespaces  what the client may use: the database refuses everything else, in the
                transactions of this client only. None: what the role may use

    Raises ConfigError for a target that cannot be used.
    """
    chosen, options = configured(
        config,
        embedder=embedder,
        reranker=reranker,
        generator=generator,
        schema=schema,
        settings=settings,
        profile=profile,
        cache=cache,
    )
    limits = options["settings"]
    source = open_source(settings_dsn(limits) if target is None else target, limits)
    allowed = None if allowed_namespaces is None else allowed_names(allowed_namespaces)
    database = Database(source, check_schema(options["schema"]), allowed)
    return Client(database, retrievers=retrievers, config=chosen, **options)
