"""The async client: the methods of Client, awaited."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from ragpg.config.use import configured
from ragpg.connection import address_of
from ragpg.connection_access import allowed_names, refuse_limited
from ragpg.connection_async import AsyncDatabase
from ragpg.connection_async_handles import open_source
from ragpg.feedback.attribution import showings
from ragpg.flows import Flows, Names, Path, SearchOptions, settings_dsn
from ragpg.observe.stage import settled
from ragpg.perform import AsyncPerformer
from ragpg.queries import NAMESPACES, NamespaceInfo
from ragpg.sqlfiles import check_schema
from ragpg.steps import Flow, arun, fetch
from ragpg.streams import aevents

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator as AsyncEvents
    from collections.abc import Callable, Iterable, Sequence
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
        AsyncEmbedder,
        AsyncGenerator,
        AsyncRetriever,
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


class AsyncClient(Flows):
    """The methods of Client, awaited; made by `ragpg.aconnect`.

    May be shared by tasks of one event loop. Providers that are only synchronous run in threads,
    and so does what reads files or computes for long. Cancelling a task ends its statement.
    """

    def __init__(self, database: AsyncDatabase, **options: Any) -> None:
        super().__init__(**options)
        self._database = database
        self._perform = AsyncPerformer(database, self.ledger)
        #: Whose connections these are: what is counted is written without limits on namespaces.
        self._root: AsyncClient = self
        self._writer: asyncio.Task[None] | None = None

    async def ingest(
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
        """As Client.ingest."""
        order = self._order(
            paths, texts, metadata, namespace=namespace, prune=prune, root=root, chunker=chunker,
            language=language, follow_links=follow_links, include=include,
            exclude=exclude, on_file=on_file, dry_run=dry_run, sentences=sentences,
            index=index, on_index=on_index,
        )  # fmt: skip
        return await self.run(self._ingest(order))

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
        context_tokens: int | None = None,
        candidates: int | None = None,
        profile: ProfileChoice | None = None,
        history: Sequence[Turn] = (),
        judge: JudgeChoice | None = None,
    ) -> SearchResult:
        """As Client.search."""
        request = self._request(
            query, namespace, rerank, profile, k=k, filter=filter, arms=arms,
            embedding=embedding, answer=answer, context_tokens=context_tokens,
            candidates=candidates, history=history, judge=judge, judged=answer is not None,
        )  # fmt: skip
        return await self.run(self._search(request))

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
        context_tokens: int | None = None,
        candidates: int | None = None,
        profile: ProfileChoice | None = None,
        history: Sequence[Turn] = (),
        generator: Generator | AsyncGenerator | None = None,
        judge: JudgeChoice | None = None,
        gate: float | None = None,
        unsupported: Unsupported | None = None,
        prompt: Prompt | None = None,
    ) -> Answer:
        """As Client.ask."""
        request = self._request(
            question, namespace, rerank, profile, k=k, filter=filter, arms=arms,
            embedding=embedding, context_tokens=context_tokens, candidates=candidates,
            history=history, judge=judge, judged=True, generator=generator, gate=gate,
            unsupported=unsupported, prompt=prompt,
        )  # fmt: skip
        return await self.run(self._ask(request, generator))

    async def ask_stream(
        self,
        question: str,
        *,
        namespace: Names = "default",
        generator: Generator | AsyncGenerator | None = None,
        rerank: bool | Reranker = True,
        profile: ProfileChoice | None = None,
        **options: Unpack[SearchOptions],
    ) -> AsyncEvents[AnswerEvent, None]:
        """As Client.ask_stream: `async for event in rag.ask_stream(...)`."""
        request = self._request(
            question, namespace, rerank, profile, judged=True, generator=generator, **options
        )
        chosen = self._chat_model(generator)
        call, failed = self._streamed(request), None
        try:
            # Closed with this one: whoever stops reading stops the model at once.
            async with aclosing(aevents(self._script(request), self.run, chosen, call)) as told:
                async for event in told:
                    yield event
        except BaseException as error:
            failed = error
            raise
        finally:
            self._book(call, failed)

    async def ground(
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
        """As Client.ground."""
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
        return await self.run(self._ground(answer, request, result))

    async def feedback(
        self,
        shown: SearchResult | Answer,
        used: Iterable[Used] | None = None,
        *,
        count: int | None = None,
    ) -> None:
        """As Client.feedback."""
        if not self.recorder.add(showings(shown, used, count=count)):
            return
        if self._database.source.joins:
            await self.flush_feedback()
        else:
            self._root._write_later()

    async def flush_feedback(self) -> None:
        """As Client.flush_feedback."""
        await self._root.run(self.recorder.write())

    async def flush_usage(self) -> None:
        """As Client.flush_usage."""
        if self.ledger is not None:
            await self._root.run(self.ledger.write())

    def _write_later(self) -> None:
        async def write() -> None:
            for counts in self._written:
                await arun(counts.write(), self._perform)

        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(write())

    def limited_to(self, namespaces: Sequence[str]) -> Self:
        """As Client.limited_to; not awaited."""
        found = copy(self)
        found._database = self._database.limited_to(namespaces)
        found._perform = AsyncPerformer(found._database, self.ledger)
        return found

    async def fill_sentences(
        self,
        namespace: str = "default",
        *,
        seconds: float | None = None,
        on_step: Callable[[SentenceReport], object] | None = None,
    ) -> SentenceReport:
        """As Client.fill_sentences."""
        return await self.run(self._fill_sentences(namespace, seconds, on_step))

    async def search_global(
        self,
        query: str,
        *,
        namespace: Names = "default",
        k: int = 24,
        generator: Generator | AsyncGenerator | None = None,
    ) -> GlobalResult:
        """As Client.search_global."""
        return await self.run(self._search_global(query, namespace, k, generator))

    async def enqueue(
        self,
        paths: Path | Iterable[Path] = (),
        *,
        texts: Iterable[Text] = (),
        namespace: str = "default",
        **options: Any,
    ) -> EnqueueReport:
        """As Client.enqueue."""
        from ragpg.jobs.queue import AsyncQueue

        queue = AsyncQueue(self)
        return await queue.enqueue(paths, texts=texts, namespace=namespace, **options)

    async def namespaces(self) -> list[NamespaceInfo]:
        """As Client.namespaces."""
        return await self.run(fetch(NAMESPACES))

    async def create_namespace(
        self, name: str, *, kind: str | None = None, language: str | None = None
    ) -> None:
        """As Client.create_namespace."""
        await self.run(self._create(name, kind, language))

    async def drop_namespace(self, name: str) -> bool:
        """As Client.drop_namespace."""
        return bool(await self.run(self._drop(name)))

    async def prune_embedding_cache(self, days: float | None = None) -> int:
        """As Client.prune_embedding_cache."""
        refuse_limited(self._database.allowed, "prune_embedding_cache")
        return await self.run(self._prune_cache(days))

    async def fetch(
        self,
        sources: Names | None = None,
        *,
        namespace: str = "default",
        filter: Json = None,
        k: int | None = None,
    ) -> list[Hit]:
        """As Client.fetch."""
        return await self.run(self._fetch(sources, namespace, filter, k))

    async def delete(self, sources: Names, *, namespace: str = "default") -> int:
        """As Client.delete."""
        return await self.run(self.delete_flow(sources, namespace=namespace))

    async def doctor(
        self, *, fix: bool = False, on_repair: Callable[[Repair], object] | None = None
    ) -> list[Check]:
        """As Client.doctor."""
        refuse_limited(self._database.allowed, "doctor")
        async with self._database.source.borrow() as connection:
            dsn = address_of(connection)
        return await asyncio.to_thread(self._examine, dsn, fix=fix, on_repair=on_repair)

    async def run(self, flow: Flow[T]) -> T:
        """As Client.run."""
        try:
            with settled(self.settings):
                return await arun(flow, self._perform)
        finally:
            if self.ledger is not None and self.ledger.is_due and not self._database.source.joins:
                self._root._write_later()

    async def close(self) -> None:
        """As Client.close."""
        if self._root is not self:
            return
        if self._writer is not None:
            await asyncio.wait([self._writer], timeout=5)
        await self.flush_feedback()
        await self.flush_usage()
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


def aconnect(
    target: Any = None,
    *,
    embedder: Embedder | AsyncEmbedder | None = None,
    reranker: Reranker | None = None,
    generator: Generator | AsyncGenerator | None = None,
    retrievers: Sequence[Retriever | AsyncRetriever] = (),
    schema: str | None = None,
    settings: Settings | None = None,
    profile: ProfileChoice | None = None,
    config: ConfigChoice | None = None,
    cache: Cache | bool | None = None,
    allowed_namespaces: Sequence[str] | None = None,
) -> AsyncClient:
    """As `connect`, for the asynchronous twins of its targets: `async with ragpg.aconnect(...)`.

    Not awaited itself: it connects at its first use, in the event loop that uses it.
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
    database = AsyncDatabase(source, check_schema(options["schema"]), allowed)
    return AsyncClient(database, retrievers=retrievers, config=chosen, **options)
