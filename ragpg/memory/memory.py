"""The memory of one agent, sync and async.

memory = Memory(rag, "helper")
memory.remember("The build runs on port 8080.")
prompt = memory.block("which port does the build use?")
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragpg import arguments
from ragpg.errors import ConfigError
from ragpg.memory import flows
from ragpg.memory.block import memory_block
from ragpg.memory.flows import COMPARED, Recall, Recalled, Remembered
from ragpg.query.profile import Profile
from ragpg.query.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragpg.client import Client
    from ragpg.client_async import AsyncClient
    from ragpg.memory.judge import ChatModel
    from ragpg.steps import Flow
    from ragpg.types import Metadata

#: Memories are short and few: the SQL call has all that is needed.
_PROFILE = Profile(name="memory", rerankers=(), facets=False, carryover=False)


def namespace_of(agent: Any) -> str:
    """Where the memory of an agent is. Raises ConfigError for a name that is none."""
    if not isinstance(agent, str) or not agent.strip():
        raise ConfigError("a memory needs the name of its agent")
    return f"memory/{agent}"


class AgentFlows:
    """What all memories of an agent share: the namespace, and the flows, for the `run` of a client
    of either colour. The database refuses them every other namespace."""

    def __init__(
        self,
        rag: Client | AsyncClient,
        agent: str | None = None,
        *,
        recall: Recall | None = None,
        store_summaries: bool | None = None,
        store_messages: bool | None = None,
        language: str | None = None,
        judge: ChatModel | bool | None = None,
    ) -> None:
        said = rag.config.memory
        self.namespace = namespace_of(said.agent if agent is None else agent)
        self.how = recall or Recall(
            k=said.k,
            min_similarity=said.min_similarity,
            half_life=said.half_life,
            floor=said.floor,
            superseded=said.superseded,
        )
        self.store_summaries = said.store_summaries if store_summaries is None else store_summaries
        self.store_messages = said.store_messages if store_messages is None else store_messages
        self.language = rag.config.language_of(self.namespace) if language is None else language
        chosen = said.judge if judge is None else judge
        if chosen is True and rag.generator is None:
            raise ConfigError(
                "there is no chat model to judge memories",
                hint="Give generator=..., for example ragpg.OpenAIGenerator(), to ragpg.connect.",
            )
        self.judge: ChatModel | None = (
            (rag.generator if chosen else None) if isinstance(chosen, bool) else chosen
        )
        self._rag: Any = rag.limited_to([self.namespace])

    def remember_flow(
        self,
        text: str,
        *,
        key: str | None = None,
        metadata: Metadata | None = None,
        supersedes: Sequence[str] = (),
    ) -> Flow[Remembered]:
        """As Memory.remember."""
        arguments.text("a memory", text)
        if isinstance(supersedes, str):
            raise ConfigError("supersedes must be a list of sources, not a single text")
        return flows.remember(
            text,
            self.namespace,
            self._request(text, COMPARED),
            self._rag._providers,
            self._rag.settings,
            key=key,
            metadata=metadata or {},
            supersedes=supersedes,
            language=self.language,
            judge=self.judge,
        )

    def recall_flow(self, query: str, options: Mapping[str, Any]) -> Flow[list[Recalled]]:
        """As Memory.recall."""
        how = replace(self.how, **options)
        # Superseded and dissimilar ones fall out, so more are looked at than are wanted.
        request = self._request(query, 4 * how.k + 20 if how.k else 0, how.filter)
        return flows.recall(
            request, how, self._rag._providers, self._rag.settings, datetime.now(UTC)
        )

    def forget_flow(self, sources: str | Sequence[str]) -> Flow[int]:
        """As Memory.forget."""
        flow: Flow[int] = self._rag.delete_flow(sources, namespace=self.namespace)
        return flow

    def _request(self, query: str, k: int, filter: Any = None) -> Request:
        arms = {"metadata": False, "graph": False}
        return Request(
            query=query,
            namespaces=[self.namespace],
            k=k,
            filter=filter,
            arms=arms,
            profile=_PROFILE,
            context_tokens=0,
        )


class Memory(AgentFlows):
    """The memory of an agent, in the namespace memory/AGENT; over a sync client.

    recall           how memories are chosen: Recall(k=5, min_similarity=0.3, ...)
    store_summaries  whether `summary` remembers (on)
    store_messages   whether `message` remembers what a user wrote (off)
    language         text search configuration of a new memory; None: as configured, else english
    judge            a chat model that is asked, once for each text to remember, which older ones it
                     takes the place of; True: the client's; None: as configured, else rules alone
    """

    def remember(
        self,
        text: str,
        *,
        key: str | None = None,
        metadata: Metadata | None = None,
        supersedes: Sequence[str] = (),
    ) -> Remembered:
        """Store a text. The same text again is the same memory, seen once more.

        A memory with the same `key`, one named in `supersedes`, and one that the text contradicts
        (another value of the same attribute, a state that ended, numbers, negation, a name in the
        same place; see docs/decisions/memory.md) stop being current. None is deleted.
        """
        found: Remembered = self._rag.run(
            self.remember_flow(text, key=key, metadata=metadata, supersedes=supersedes)
        )
        return found

    def recall(self, query: str, **options: Any) -> list[Recalled]:
        """Memories that fit a query; options are fields of Recall, for this call."""
        found: list[Recalled] = self._rag.run(self.recall_flow(query, options))
        return found

    def block(self, query: str, **options: Any) -> str:
        """Recalled memories as a <recalled_memory> block of a prompt; "" when none fits."""
        return memory_block(self.recall(query, **options))

    def summary(self, text: str, **options: Any) -> Remembered | None:
        """Remember the summary of a conversation, unless that is off."""
        return self.remember(text, **options) if self.store_summaries else None

    def message(self, text: str, **options: Any) -> Remembered | None:
        """Remember what a user wrote, where that is on."""
        return self.remember(text, **options) if self.store_messages else None

    def forget(self, sources: str | Sequence[str]) -> int:
        """Delete memories by source; how many there were. Nothing named, nothing forgotten."""
        found: int = self._rag.run(self.forget_flow(sources))
        return found

    def forget_everything(self) -> bool:
        """Delete the whole memory of this agent, and of no other; False if there was none."""
        found: bool = self._rag.drop_namespace(self.namespace)
        return found


class AsyncMemory(AgentFlows):
    """As Memory, over an async client."""

    async def remember(
        self,
        text: str,
        *,
        key: str | None = None,
        metadata: Metadata | None = None,
        supersedes: Sequence[str] = (),
    ) -> Remembered:
        """As Memory.remember."""
        found: Remembered = await self._rag.run(
            self.remember_flow(text, key=key, metadata=metadata, supersedes=supersedes)
        )
        return found

    async def recall(self, query: str, **options: Any) -> list[Recalled]:
        """As Memory.recall."""
        found: list[Recalled] = await self._rag.run(self.recall_flow(query, options))
        return found

    async def block(self, query: str, **options: Any) -> str:
        """As Memory.block."""
        return memory_block(await self.recall(query, **options))

    async def summary(self, text: str, **options: Any) -> Remembered | None:
        """As Memory.summary."""
        return await self.remember(text, **options) if self.store_summaries else None

    async def message(self, text: str, **options: Any) -> Remembered | None:
        """As Memory.message."""
        return await self.remember(text, **options) if self.store_messages else None

    async def forget(self, sources: str | Sequence[str]) -> int:
        """As Memory.forget."""
        found: int = await self._rag.run(self.forget_flow(sources))
        return found

    async def forget_everything(self) -> bool:
        """As Memory.forget_everything."""
        found: bool = await self._rag.drop_namespace(self.namespace)
        return found
