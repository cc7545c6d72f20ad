"""What both clients do, as flows, and what they take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from ragpg import arguments
from ragpg.config.use import chunker_of
from ragpg.config.values import Config
from ragpg.embedders import bound
from ragpg.errors import ConfigError
from ragpg.feedback.recorder import Recorder
from ragpg.ingest.forgetting import prune_embedding_cache
from ragpg.ingest.order import Order
from ragpg.ingest.pipeline import ingest
from ragpg.ingest.sentences import SentenceReport, fill_sentences
from ragpg.judges.lexical import LexicalJudge
from ragpg.judges.named import named_judge
from ragpg.observe.ledger import Ledger
from ragpg.observe.stage import Streamed
from ragpg.prices import price_of
from ragpg.queries import CREATE_NAMESPACE, DOCUMENT_CHUNKS, DROP_NAMESPACE
from ragpg.queries_store import DELETE
from ragpg.query.answer import ask, ground_answer, script_of
from ragpg.query.cache import Cache
from ragpg.query.pipeline import search
from ragpg.query.profile import read_profile
from ragpg.query.request import Providers, Request, names_of
from ragpg.query.retrieve import as_json, read_hit
from ragpg.rerankers.named import named_reranker
from ragpg.sqlfiles import check_schema
from ragpg.steps import Flow, fetch, fetch_one

if TYPE_CHECKING:
    from ragpg.counts import Counts
    from ragpg.doctor import Check
    from ragpg.graph.global_search_result import GlobalResult
    from ragpg.ingest.prepare import Text
    from ragpg.judges.named import JudgeChoice
    from ragpg.protocols import (
        AsyncEmbedder,
        AsyncGenerator,
        AsyncRetriever,
        Embedder,
        Generator,
        Judge,
        Reranker,
        Retriever,
    )
    from ragpg.query.profile import ProfileChoice, Unsupported
    from ragpg.query.prompt import Prompt, Turn
    from ragpg.query.retrieve import Arms
    from ragpg.query.script import Script
    from ragpg.repair import Repair
    from ragpg.settings import Settings
    from ragpg.types import (
        Answer,
        Grounding,
        Hit,
        IngestReport,
        Json,
        Metadata,
        SearchResult,
    )

Path = str | PathLike[str]
Names = str | Sequence[str]


class SearchOptions(TypedDict, total=False):
    """Arguments of ask that ask_stream passes on; Client.search and ask explain them."""

    k: int
    filter: Json
    arms: Arms | None
    embedding: Sequence[float] | None
    context_tokens: int | None
    candidates: int | None
    history: Sequence[Turn]
    judge: JudgeChoice | None
    gate: float | None
    unsupported: Unsupported | None
    prompt: Prompt | None


class Flows:
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
        profile: ProfileChoice | None = None,
        config: Config | None = None,
        cache: Cache | bool | None = None,
    ) -> None:
        self.config = config or Config(settings=settings)
        self.profile = read_profile(profile)
        if settings.prices:
            # A table that cannot be read is told now, not in the middle of a search.
            price_of("", settings.prices)
        self.recorder = Recorder()
        self._judges: dict[str, Judge | None] = {}
        bars = self.config.lexical_judge
        self._lexical = LexicalJudge(bars.supported, bars.partial)
        self.cache = (Cache() if cache else None) if isinstance(cache, bool) else cache
        self._rerankers: dict[tuple[str, ...], Reranker | None] = {}
        self.ledger = Ledger() if settings.usage else None
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
        return Providers(bound(self.embedder), self.retrievers, self.generator, cache=self.cache)

    def _request(
        self,
        query: str,
        namespace: Names,
        rerank: bool | Reranker,
        profile: ProfileChoice | None = None,
        *,
        judge: JudgeChoice | None = None,
        judged: bool = False,
        generator: Generator | AsyncGenerator | None = None,
        **rest: Any,
    ) -> Request:
        """What is asked, checked; `judged` where a text is checked by the judge, or the profile's,
        that may be the chat model `generator`."""
        names = names_of("namespace", namespace)
        if not names:
            raise ConfigError("no namespace was given to search")
        chosen = self.profile if profile is None else read_profile(profile)
        if not chosen.fusion and (fusion := self.config.fusion_of(names)):
            chosen = replace(chosen, fusion=fusion)
        if rerank is True:
            reranker = self.reranker or self._named(tuple(chosen.rerankers))
        else:
            reranker = rerank or None
        model = getattr(self.generator, "model", None)
        return Request(
            query=query,
            namespaces=names,
            reranker=reranker,
            profile=chosen,
            model=model if isinstance(model, str) else None,
            judge=self._judge(judge or chosen.judge, generator) if judged else None,
            judge_timeout=self.settings.judge_timeout,
            lexical=self._lexical,
            **rest,
        )

    def _named(self, rerankers: tuple[str, ...]) -> Reranker | None:
        # Made once: a cache of results tells rerankers apart by who they are.
        if rerankers not in self._rerankers:
            self._rerankers[rerankers] = named_reranker(rerankers, self.embedder)
        return self._rerankers[rerankers]

    def _judge(
        self, choice: JudgeChoice, generator: Generator | AsyncGenerator | None
    ) -> Judge | None:
        # An entailment model is read once, and a chat model may be another one at every call.
        if not isinstance(choice, str) or choice == "llm":
            return named_judge(
                choice, self.embedder, generator or self.generator, self.config.judges
            )
        if choice not in self._judges:
            self._judges[choice] = named_judge(choice, self.embedder, None, self.config.judges)
        return self._judges[choice]

    def _search(self, request: Request) -> Flow[SearchResult]:
        return search(request, self._providers, self.settings)

    def search_flow(self, query: str, *, namespace: Names, **options: Any) -> Flow[SearchResult]:
        """`search` as a flow, for `run`: what works over sync and async clients alike is made of
        such. The options are those of Client.search."""
        rerank, profile = options.pop("rerank", True), options.pop("profile", None)
        judged = options.get("answer") is not None
        request = self._request(query, namespace, rerank, profile, judged=judged, **options)
        return self._search(request)

    def ground_flow(
        self, answer: str, *, result: SearchResult | None = None, namespace: Names, **options: Any
    ) -> Flow[Grounding]:
        """`ground` as a flow, for `run`. The options are those of Client.ground."""
        question, profile = options.pop("question", None), options.pop("profile", None)
        request = self._request(
            question or answer, namespace, True, profile, judged=True, **options
        )
        return self._ground(answer, request, result)

    def _ask(self, request: Request, generator: Generator | AsyncGenerator | None) -> Flow[Answer]:
        return ask(request, self._providers, self.settings, self._chat_model(generator))

    def _script(self, request: Request) -> Script:
        return script_of(request, self._providers, self.settings)

    def _streamed(self, request: Request) -> Streamed:
        return Streamed(
            "ask",
            namespaces=request.namespaces,
            category="generation",
            content={"query": request.query},
        )

    def _book(self, streamed: Streamed, error: BaseException | None) -> None:
        spent = streamed.close(error)
        if self.ledger is not None:
            self.ledger.add(spent)

    @property
    def _written(self) -> list[Counts[Any]]:
        """What is counted here and written to the database in batches."""
        return [self.recorder, *([self.ledger] if self.ledger else [])]

    def _chat_model(
        self, generator: Generator | AsyncGenerator | None
    ) -> Generator | AsyncGenerator:
        chosen = generator or self.generator
        if chosen is None:
            raise ConfigError(
                "there is no chat model to ask",
                hint="Give generator=..., for example ragpg.OpenAIGenerator(), to ragpg.connect.",
            )
        return chosen

    def _ground(
        self, answer: str, request: Request, result: SearchResult | None
    ) -> Flow[Grounding]:
        return ground_answer(answer, request, result, self._providers, self.settings)

    def _ingest(self, order: Order) -> Flow[IngestReport]:
        return ingest(order, self.embedder, self.settings)

    def _order(
        self,
        paths: Path | Iterable[Path],
        texts: Iterable[Text],
        metadata: Metadata | None,
        *,
        namespace: str,
        **given: Any,
    ) -> Order:
        """An order; what is None in it is what the configuration says."""
        arguments.text("namespace", namespace)
        said = self.config.ingest
        values = {
            name: getattr(said, name) if value is None and hasattr(said, name) else value
            for name, value in given.items()
        }
        if given["chunker"] is None:
            values["chunker"] = chunker_of(self.config, self.embedder, namespace)
        if given["language"] is None:
            values["language"] = self.config.language_of(namespace)
        for name in ("include", "exclude"):
            values[name] = arguments.patterns(name, values[name])
        arguments.text("language", values["language"])
        kind = self.config.kind_of(namespace)
        return order_of(paths, texts, metadata, namespace=namespace, kind=kind, **values)

    def _create(self, name: str, kind: str | None, language: str | None) -> Flow[list[str]]:
        asked = {
            "namespace": arguments.text("name", name),
            "kind": self.config.kind_of(name) if kind is None else arguments.text("kind", kind),
            "language": self.config.language_of(name)
            if language is None
            else arguments.text("language", language),
        }
        return fetch(CREATE_NAMESPACE, asked)

    def _drop(self, name: str) -> Flow[bool]:
        dropped: bool = yield from fetch_one(
            DROP_NAMESPACE, {"namespace": arguments.text("name", name)}
        )
        # Else it is for a worker, a watcher or the doctor: pruning looks through all namespaces.
        # Over a limited client too: it runs with the owner's rights, and what others need stays.
        if dropped and not self.settings.vector_retention:
            yield from prune_embedding_cache(0)
        return dropped

    def _prune_cache(self, days: float | None) -> Flow[int]:
        return prune_embedding_cache(self.settings.vector_retention if days is None else days)

    def _search_global(
        self,
        query: str,
        namespace: Names,
        k: int,
        generator: Generator | AsyncGenerator | None,
    ) -> Flow[GlobalResult]:
        # Loaded when asked for: few searches are about a whole corpus.
        from ragpg.graph.global_search import search_global

        return search_global(
            arguments.text("query", query),
            namespaces=names_of("namespace", namespace),
            embedder=self.embedder,
            generator=generator or self.generator,
            k=arguments.whole("k", k),
        )

    def _fill_sentences(
        self,
        namespace: str,
        seconds: float | None,
        on_step: Callable[[SentenceReport], object] | None,
    ) -> Flow[SentenceReport]:
        return fill_sentences(namespace, self.embedder, seconds=seconds, on_step=on_step)

    def _fetch(
        self, sources: Names | None, namespace: str, filter: Json, k: int | None
    ) -> Flow[list[Hit]]:
        names = None if sources is None else names_of("sources", sources)
        if k is not None:
            arguments.whole("k", k)
        rows = yield from fetch(
            DOCUMENT_CHUNKS,
            {
                "namespace": namespace,
                "sources": names,
                "filter": as_json("filter", filter),
                "k": k,
            },
        )
        return [replace(read_hit(json.loads(row)), score_kind="none") for row in rows]

    def delete_flow(self, sources: Names, *, namespace: str) -> Flow[int]:
        """`delete` as a flow, for `run`."""
        names = names_of("sources", sources)
        if not any(names):
            return 0
        count: int = yield from fetch_one(DELETE, {"namespace": namespace, "sources": names})
        return count

    def _examine(
        self, dsn: str, *, fix: bool, on_repair: Callable[[Repair], object] | None
    ) -> list[Check]:
        from ragpg import doctor

        embedder: Any = self.embedder
        retention, share = self.settings.vector_retention, self.config.graph.share
        if fix:
            from ragpg.repair import repair

            repair(
                dsn,
                self.schema,
                embedder=embedder,
                on_repair=on_repair,
                retention=retention,
                share=share,
            )
        return doctor.examine(dsn, self.schema, embedder=embedder, retention=retention, share=share)


def order_of(
    paths: Path | Iterable[Path], texts: Iterable[Text], metadata: Metadata | None, **rest: Any
) -> Order:
    """An order with its collections read once."""
    return Order(
        paths=arguments.paths(paths),
        texts=arguments.texts(texts),
        metadata=arguments.table("metadata", metadata),
        **rest,
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
