"""The requests that embed texts: batches within limits, halves of what is too long."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragpg.errors import BadEmbedding, ContextTooLong, ProviderError
from ragpg.providers.retry import Patience, Requests, T, Wait, request
from ragpg.providers.service import read_tokens, read_vectors, usable
from ragpg.types import Embedding, Embeddings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

log = logging.getLogger(__name__)

# Below this a refusal as too long cannot be about the length.
_SHORTEST_CUT = 32


def estimate_tokens(text: str) -> int:
    """A high estimate of tokens: a third of the UTF-8 bytes, and no fewer than the words."""
    return max(len(text.encode("utf-8", "surrogatepass")) // 3 + 1, len(text.split()))


@dataclass
class EmbeddingRequests:
    """Flows of POST /embeddings requests; the meaning of the fields is that of OpenAIEmbedder.

    `dimensions` is learned from the first answer where it is None.
    """

    model: str
    sent_dimensions: int | None
    dimensions: int | None
    patience: Patience
    query_patience: Patience
    batch_size: int = 128
    batch_tokens: int = 100_000
    max_input_tokens: int | None = None
    count_tokens: Callable[[str], int] = estimate_tokens
    #: Until this time of the monotonic clock only the caller that was put off sends something.
    closed_until: float = 0.0
    closed_by: object = None

    def documents(self, texts: Sequence[str]) -> Requests[list[list[float]]]:
        """One vector per text, in order. A ProviderError carries what arrived as `partial`."""
        done: dict[int, list[float]] = {}
        tokens: list[int] = []
        overlong: set[int] = set()
        bad = [index for index, text in enumerate(texts) if not text.strip()]
        try:
            for batch in self._batches(texts, skip=set(bad)):
                yield from self._fill(done, batch, texts, tokens, overlong)
            bad += [index for index, vector in done.items() if not usable(vector)]
            if bad:
                blank = not texts[bad[0]].strip()
                why = "is blank" if blank else "has a vector with NaN, infinity or only zeros"
                which = f"text {bad[0]}" if len(texts) > 1 else "the text"
                raise BadEmbedding(f"{which} {why}", scope="input")
        except ProviderError as error:
            error.partial = {index: vector for index, vector in done.items() if usable(vector)}
            raise
        vectors = Embeddings(done[index] for index in range(len(texts)))
        vectors.tokens, vectors.overlong = sum(tokens), overlong
        return vectors

    def query(self, text: str) -> Requests[list[float]]:
        """The vector of one query, shortened until the service takes it."""
        if not text.strip():
            raise ProviderError("a blank query has no embedding", scope="input")
        tokens: list[int] = []
        while True:
            try:
                [vector] = yield from self._send([text], self.query_patience, tokens, queues=False)
            except ContextTooLong:
                if len(text) < _SHORTEST_CUT:
                    raise
                text = text[: len(text) // 2]
                log.warning("query shortened to %d characters for %s", len(text), self.model)
                continue
            if not usable(vector):
                raise BadEmbedding("the query has a vector with NaN, infinity or only zeros")
            embedding = Embedding(vector)
            embedding.tokens = sum(tokens)
            return embedding

    def _batches(self, texts: Sequence[str], skip: set[int]) -> Iterator[list[int]]:
        """Positions in batches within both limits; a text over the model's limit comes alone.

        The size is read again for every batch: it sinks when the service refuses a batch.
        """
        batch: list[int] = []
        total = 0
        for index, text in enumerate(texts):
            if index in skip:
                continue
            tokens = self.count_tokens(text)
            if self.max_input_tokens is not None and tokens > self.max_input_tokens:
                yield [index]
                continue
            if batch and (len(batch) >= self.batch_size or total + tokens > self.batch_tokens):
                yield batch
                batch, total = [], 0
            batch.append(index)
            total += tokens
        if batch:
            yield batch

    def _fill(
        self,
        done: dict[int, list[float]],
        batch: Sequence[int],
        texts: Sequence[str],
        tokens: list[int],
        overlong: set[int],
    ) -> Requests[None]:
        """Puts the vectors of a batch into `done`. A batch refused as too long goes on in halves;
        of a single text the halves are embedded, and it is noted as `overlong`."""
        if len(batch) == 1 and self._is_long(texts[batch[0]]):
            overlong.add(batch[0])
            done[batch[0]] = yield from self._by_parts(texts[batch[0]], tokens)
            return
        try:
            sent = [texts[index] for index in batch]
            vectors = yield from self._send(sent, self.patience, tokens)
        except ContextTooLong as error:
            if len(batch) == 1 and len(texts[batch[0]]) < _SHORTEST_CUT:
                raise
            if "batch" in error.message or "array" in error.message:
                self.batch_size = max(1, len(batch) // 2)
        else:
            done.update(zip(batch, vectors, strict=True))
            return
        if len(batch) == 1:
            overlong.add(batch[0])
            done[batch[0]] = yield from self._by_parts(texts[batch[0]], tokens)
        else:
            middle = len(batch) // 2
            yield from self._fill(done, batch[:middle], texts, tokens, overlong)
            yield from self._fill(done, batch[middle:], texts, tokens, overlong)

    def _by_parts(self, text: str, tokens: list[int]) -> Requests[list[float]]:
        parts = _halves(text)
        while any(map(self._is_long, parts)):
            parts = [half for part in parts for half in _halves(part)]
        log.warning(
            "a text of %d characters is too long for %s: embedded in parts", len(text), self.model
        )
        found: dict[int, list[float]] = {}
        yield from self._fill(found, range(len(parts)), parts, tokens, set())
        return _mean([found[index] for index in range(len(parts))], list(map(len, parts)))

    def _send(
        self, texts: list[str], patience: Patience, tokens: list[int], *, queues: bool = True
    ) -> Requests[list[list[float]]]:
        # Strings, never token arrays, and plain floats: other vendors refuse tokens and base64.
        arguments: dict[str, Any] = {
            "model": self.model,
            "input": texts,
            "encoding_format": "float",
        }
        if self.sent_dimensions is not None:
            arguments["dimensions"] = self.sent_dimensions

        def read(answer: Any) -> list[list[float]]:
            # Counted before the answer is checked: it is paid for, good or bad.
            tokens.append(read_tokens(answer))
            return read_vectors(answer, count=len(texts), dimensions=self.dimensions)

        caller = tokens if queues else None
        vectors = yield from self._in_turn(request(arguments, patience, read), caller)
        if self.dimensions is None:
            self.dimensions = len(vectors[0])
        return vectors

    def _in_turn(self, flow: Requests[T], caller: object) -> Requests[T]:
        """Drives a request. While the service has one caller wait, no other one sends anything: it
        would only be refused too. A query (no caller) does not queue: its own patience is short."""
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            now = time.monotonic()
            if isinstance(step, Wait):
                if now + step.seconds > self.closed_until:
                    self.closed_until, self.closed_by = now + step.seconds, caller
            elif caller is not None and caller is not self.closed_by and self.closed_until > now:
                yield Wait(self.closed_until - now)
            answer = yield step

    def _is_long(self, text: str) -> bool:
        limit = self.max_input_tokens
        return limit is not None and len(text) >= _SHORTEST_CUT and self.count_tokens(text) > limit


def _halves(text: str) -> list[str]:
    """Two halves by characters, cut at a blank where one is near; without blank ones."""
    middle = len(text) // 2
    near = text.rfind(" ", middle - middle // 8, middle) + 1
    cut = near or middle
    return [half for half in (text[:cut], text[cut:]) if half.strip()]


def _mean(vectors: Sequence[Sequence[float]], weights: Sequence[int]) -> list[float]:
    """The weighted mean, at unit length."""
    columns = zip(*vectors, strict=True)
    sums = [sum(map(float.__mul__, column, map(float, weights))) for column in columns]
    length = math.hypot(*sums) or 1.0
    return [value / length for value in sums]
