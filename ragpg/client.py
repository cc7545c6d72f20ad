"""Client and AsyncClient: the same methods; each makes a flow and drives it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypeVar

from ragpg.connection import address_of
from ragpg.connection_async import AsyncDatabase
from ragpg.connection_async import open_source as aopen_source
from ragpg.connection_sync import Database, open_source
from ragpg.errors import ConfigError
from ragpg.ingest.pipeline import Order, ingest
from ragpg.perform import AsyncPerformer, Performer
from ragpg.queries import CREATE_NAMESPACE, DELETE, DROP_NAMESPACE, NAMESPACES, NamespaceInfo
from ragpg.query.pipeline import Providers, Request, ask, ground_answer, search
from ragpg.query.rerank import HeuristicReranker
from ragpg.settings import Settings
from ragpg.sqlfiles import DEFAULT_SCHEMA, check_schema
from ragpg.steps import Flow, arun, fetch, fetch_one, run

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from ragpg.doctor import Check
    from ragpg.ingest.prepare import Text
    from ragpg.protocols import (
        AsyncEmbedder,
        AsyncGenerator,
        AsyncRetriever,
        Chunker,
        Embedder,
        Generator,
        Reranker,
        Retriever,
    )
    from ragpg.query.retrieve import Arms
    from ragpg.types import (
        Answer,
        FileReport,
        Grounding,
        IngestReport,
        Json,
        Metadata,
        SearchResult,
    )

T = TypeVar("T")
Path = str | PathLike[str]
Names = str | Sequence[str]

DEFAULT_RERANKER = HeuristicReranker()


class _Flows:
    """What both clients do, as flows; the arguments are those of the public methods."""

    def __init__(
        self,
        *,
        embedder: Embedder | AsyncEmbedder | None,
        reranker: Reranker | None,
        generator: Generator | AsyncGenerator | None,
        retrievers: Sequence[Retriever | AsyncRetriever],
        schema: str,
        settings: Settings,
    ) -> None:
        self.embedder = embedder
        self.reranker = reranker
        self.generator = generator
        self.retrievers = tuple(retrievers)
        self.schema = check_schema(schema)
        self.settings = settings
        names = [one.name for one in self.retrievers]
        if len(set(names)) < len(names):
            raise ConfigError(f"two retrievers have the same name: {', '.join(sorted(names))}")

    @property
    def _providers(self) -> Providers:
        return Providers(self.embedder, self.retrievers)

    def _request(
        self, query: str, namespace: Names, rerank: bool | Reranker, **rest: Any
    ) -> Request:
        names = [namespace] if isinstance(namespace, str) else list(namespace)
        if not names:
            raise ConfigError("no namespace was given to search")
        reranker = self.reranker if rerank is True else (rerank or None)
        return Request(query=query, namespaces=names, reranker=reranker, **rest)

    def _search(self, request: Request) -> Flow[SearchResult]:
        return search(request, self._providers, self.settings)

    def _ask(self, request: Request, generator: Generator | AsyncGenerator | None) -> Flow[Answer]:
        chosen = generator or self.generator
        if chosen is None:
            raise ConfigError(
                "there is no chat model to ask",
                hint="Give generator=..., for example ragpg.OpenAIGenerator(), to ragpg.connect.",
            )
        return ask(request, self._providers, self.settings, chosen)

    def _ground(
        self, answer: str, request: Request | None, result: SearchResult | None
    ) -> Flow[Grounding]:
        return ground_answer(answer, request, result, self._providers, self.settings)

    def _ingest(self, order: Order) -> Flow[IngestReport]:
        return ingest(order, self.embedder, self.settings)

    def _delete(self, sources: Names, namespace: str) -> Flow[int]:
        names = [sources] if isinstance(sources, str) else list(sources or ())
        if not any(names):
            return 0
        count: int = yield from fetch_one(DELETE, {"namespace": namespace, "sources": names})
        return count

    def _examine(self, dsn: str) -> list[Check]:
        from ragpg import doctor

        embedder = self.embedder
        return doctor.examine(dsn, self.schema, embedder=embedder)  # type: ignore[arg-type]


def order_of(
    paths: Path | Iterable[Path], texts: Iterable[Text], metadata: Metadata | None, **rest: Any
) -> Order:
    """An order with its collections read once."""
    listed = [fspath(paths)] if isinstance(paths, (str, PathLike)) else list(paths)
    if isinstance(texts, (str, Mapping)):
        raise ConfigError(
            "texts must be a collection of texts, not a single one",
            hint='Write texts=[("source", "text")].',
        )
    return Order(paths=listed, texts=list(texts), metadata=dict(metadata or {}), **rest)


class Client(_Flows):
    """Ingest, search, ask and ground over one database; made by `ragpg.connect`.

    May be shared by threads. Errors are RagpgError; a failing arm, model or retriever of a search
    is in its report and notes instead.
    """

    def __init__(self, database: Database, **options: Any) -> None:
        super().__init__(**options)
        self._database = database
        self._perform = Performer(database)

    def ingest(
        self,
        paths: Path | Iterable[Path] = (),
        *,
        texts: Iterable[Text] = (),
        namespace: str = "default",
        prune: bool = False,
        root: Path | None = None,
        chunker: Chunker | None = None,
        language: str = "english",
        metadata: Metadata | None = None,
        follow_links: bool = False,
        on_file: Callable[[FileReport], object] | None = None,
        dry_run: bool = False,
    ) -> IngestReport:
        """Bring a namespace to what files, folders and texts are now; what is unchanged is skipped.

        paths     files, folders and patterns; a document's source is its path in the folder given,
                  or from `root`
        texts     (source, text), Document, or a mapping of source, text, title, metadata, format;
                  of several with one source the last one counts
        prune     also delete documents whose files below `paths` are gone; raises ConfigError
                  where a folder is suddenly empty
        language  text search configuration of a new namespace
        metadata  for every document, over what the file says
        on_file   is called with each FileReport, in this thread
        dry_run   say what would be done, write nothing

        A document is stored wholly or not at all, and one that fails keeps what was stored before
        and is tried again by the next ingest. Raises DimensionMismatch, before anything is
        written, when the embedder is not the one of the namespace.
        """
        order = order_of(
            paths, texts, metadata, namespace=namespace, prune=prune, root=root, chunker=chunker,
            language=language, follow_links=follow_links, on_file=on_file, dry_run=dry_run,
        )  # fmt: skip
        return self._run(self._ingest(order))

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
        context_tokens: int = 4096,
        candidates: int = 50,
    ) -> SearchResult:
        """The k chunks that answer a query best, from one or several namespaces.

        filter      metadata conditions, as {"year": {"gte": 2023}}; they restrict every arm
        arms        ["keyword"] for only these, or {"vector": {"weight": 2, "k": 100},
                    "graph": False} over the defaults; names of retrievers too
        rerank      False keeps the fused order, a Reranker replaces the client's
        embedding   the query's vector, where the caller has it already
        answer      a text whose claims are checked against the hits: `grounding` of the result
        candidates  how many hits the reranker sees

        A blank query without a filter finds nothing. Raises NamespaceNotFound, FilterError and
        SearchTimeout.
        """
        request = self._request(
            query, namespace, rerank, k=k, filter=filter, arms=arms, embedding=embedding,
            answer=answer, context_tokens=context_tokens, candidates=candidates,
        )  # fmt: skip
        return self._run(self._search(request))

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
        context_tokens: int = 4096,
        candidates: int = 50,
        generator: Generator | None = None,
    ) -> Answer:
        """An answer of the chat model from what a search finds, cited and checked.

        Where the evidence is too weak the answer says so, `refused` is True and no model is asked.
        Raises ProviderError when the model fails.
        """
        request = self._request(
            question, namespace, rerank, k=k, filter=filter, arms=arms, embedding=embedding,
            context_tokens=context_tokens, candidates=candidates,
        )  # fmt: skip
        return self._run(self._ask(request, generator))

    def ground(
        self,
        answer: str,
        *,
        result: SearchResult | None = None,
        question: str | None = None,
        namespace: Names = "default",
        k: int = 10,
    ) -> Grounding:
        """Verdicts on the claims of an answer, against a result, or what a question finds."""
        request = self._request(question or answer, namespace, True, k=k)
        return self._run(self._ground(answer, request, result))

    def namespaces(self) -> list[NamespaceInfo]:
        """All namespaces, by name."""
        return self._run(fetch(NAMESPACES))

    def create_namespace(
        self, name: str, *, kind: str = "knowledge", language: str = "english"
    ) -> None:
        """Create a namespace; nothing happens if it is there. Names compare byte by byte."""
        self._run(fetch(CREATE_NAMESPACE, {"namespace": name, "kind": kind, "language": language}))

    def drop_namespace(self, name: str) -> bool:
        """Delete a namespace with everything in it; False if there is none of that name."""
        return bool(self._run(fetch_one(DROP_NAMESPACE, {"namespace": name})))

    def delete(self, sources: Names, *, namespace: str = "default") -> int:
        """Delete documents by source; how many there were. Nothing named, nothing deleted."""
        return self._run(self._delete(sources, namespace))

    def doctor(self) -> list[Check]:
        """What is wrong with the database, and what to do about it."""
        with self._database.source.borrow() as connection:
            dsn = address_of(connection)
        return self._examine(dsn)

    def close(self) -> None:
        """Close the connections that were opened here; those of the caller stay open."""
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

    def _run(self, flow: Flow[T]) -> T:
        return run(flow, self._perform)


class AsyncClient(_Flows):
    """The methods of Client, awaited; made by `ragpg.aconnect`.

    May be shared by tasks of one event loop. Providers that are only synchronous run in threads,
    and so does what reads files or computes for long. Cancelling a task ends its statement.
    """

    def __init__(self, database: AsyncDatabase, **options: Any) -> None:
        super().__init__(**options)
        self._database = database
        self._perform = AsyncPerformer(database)

    async def ingest(
        self,
        paths: Path | Iterable[Path] = (),
        *,
        texts: Iterable[Text] = (),
        namespace: str = "default",
        prune: bool = False,
        root: Path | None = None,
        chunker: Chunker | None = None,
        language: str = "english",
        metadata: Metadata | None = None,
        follow_links: bool = False,
        on_file: Callable[[FileReport], object] | None = None,
        dry_run: bool = False,
    ) -> IngestReport:
        """As Client.ingest."""
        order = order_of(
            paths, texts, metadata, namespace=namespace, prune=prune, root=root, chunker=chunker,
            language=language, follow_links=follow_links, on_file=on_file, dry_run=dry_run,
        )  # fmt: skip
        return await self._run(self._ingest(order))

    async def search(
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
        context_tokens: int = 4096,
        candidates: int = 50,
    ) -> SearchResult:
        """As Client.search."""
        request = self._request(
            query, namespace, rerank, k=k, filter=filter, arms=arms, embedding=embedding,
            answer=answer, context_tokens=context_tokens, candidates=candidates,
        )  # fmt: skip
        return await self._run(self._search(request))

    async def ask(
        self,
        question: str,
        *,
        namespace: Names = "default",
        k: int = 10,
        filter: Json = None,
        arms: Arms | None = None,
        rerank: bool | Reranker = True,
        embedding: Sequence[float] | None = None,
        context_tokens: int = 4096,
        candidates: int = 50,
        generator: Generator | AsyncGenerator | None = None,
    ) -> Answer:
        """As Client.ask."""
        request = self._request(
            question, namespace, rerank, k=k, filter=filter, arms=arms, embedding=embedding,
            context_tokens=context_tokens, candidates=candidates,
        )  # fmt: skip
        return await self._run(self._ask(request, generator))

    async def ground(
        self,
        answer: str,
        *,
        result: SearchResult | None = None,
        question: str | None = None,
        namespace: Names = "default",
        k: int = 10,
    ) -> Grounding:
        """As Client.ground."""
        request = self._request(question or answer, namespace, True, k=k)
        return await self._run(self._ground(answer, request, result))

    async def namespaces(self) -> list[NamespaceInfo]:
        """As Client.namespaces."""
        return await self._run(fetch(NAMESPACES))

    async def create_namespace(
        self, name: str, *, kind: str = "knowledge", language: str = "english"
    ) -> None:
        """As Client.create_namespace."""
        await self._run(
            fetch(CREATE_NAMESPACE, {"namespace": name, "kind": kind, "language": language})
        )

    async def drop_namespace(self, name: str) -> bool:
        """As Client.drop_namespace."""
        return bool(await self._run(fetch_one(DROP_NAMESPACE, {"namespace": name})))

    async def delete(self, sources: Names, *, namespace: str = "default") -> int:
        """As Client.delete."""
        return await self._run(self._delete(sources, namespace))

    async def doctor(self) -> list[Check]:
        """As Client.doctor."""
        async with self._database.source.borrow() as connection:
            dsn = address_of(connection)
        return await asyncio.to_thread(self._examine, dsn)

    async def close(self) -> None:
        """As Client.close."""
        await self._database.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _run(self, flow: Flow[T]) -> T:
        return await arun(flow, self._perform)


def connect(
    target: Any = None,
    *,
    embedder: Embedder | None = None,
    reranker: Reranker | None = DEFAULT_RERANKER,
    generator: Generator | None = None,
    retrievers: Sequence[Retriever] = (),
    schema: str = DEFAULT_SCHEMA,
    settings: Settings | None = None,
) -> Client:
    """A client, which connects at its first use. Use it as a context manager, or close it.

    target      a DSN; a psycopg Connection or ConnectionPool; a SQLAlchemy Engine, Connection or
                Session with the psycopg driver. None: RAGPG_DSN, or the server of `ragpg db up`.
                A connection or session is joined: its transaction stays the caller's, to commit or
                to roll back
    embedder    None: keyword, metadata and graph search only
    retrievers  other sources, which are searched beside the database and join the fusion

    Raises ConfigError for a target that cannot be used.
    """
    settings = settings or Settings.from_env()
    source = open_source(settings_dsn(settings) if target is None else target, settings)
    return Client(
        Database(source, check_schema(schema)),
        embedder=embedder,
        reranker=reranker,
        generator=generator,
        retrievers=retrievers,
        schema=schema,
        settings=settings,
    )


def aconnect(
    target: Any = None,
    *,
    embedder: Embedder | AsyncEmbedder | None = None,
    reranker: Reranker | None = DEFAULT_RERANKER,
    generator: Generator | AsyncGenerator | None = None,
    retrievers: Sequence[Retriever | AsyncRetriever] = (),
    schema: str = DEFAULT_SCHEMA,
    settings: Settings | None = None,
) -> AsyncClient:
    """As `connect`, for the asynchronous twins of its targets: `async with ragpg.aconnect(...)`.

    Not awaited itself: it connects at its first use, in the event loop that uses it.
    """
    settings = settings or Settings.from_env()
    source = aopen_source(settings_dsn(settings) if target is None else target, settings)
    return AsyncClient(
        AsyncDatabase(source, check_schema(schema)),
        embedder=embedder,
        reranker=reranker,
        generator=generator,
        retrievers=retrievers,
        schema=schema,
        settings=settings,
    )


def settings_dsn(settings: Settings) -> str:
    """The DSN of the settings, else of the running local server. Raises ConfigError without one."""
    if settings.dsn:
        return settings.dsn
    from ragpg import localdb
    from ragpg.errors import LocalDatabaseError

    try:
        found = localdb.status()
    except LocalDatabaseError:
        found = None
    if found is not None and found.running and found.dsn:
        return found.dsn
    raise ConfigError(
        "no database: no address was given and no local one runs",
        hint="Pass a DSN, set RAGPG_DSN, or start a private server: ragpg db up",
    )
