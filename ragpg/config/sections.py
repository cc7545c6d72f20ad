"""The tables of a configuration file, one dataclass each; `ragpg.config.knobs` reads them.

A table has its own name in ragpg.config.values.Config. Its keys may be set in the environment as
RAGPG_<TABLE>_<KEY>.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ragpg.errors import ConfigError
from ragpg.graph.analysis import STALE_SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What ragpg.fusion_options knows.
FUSIONS = ("adaptive", "rrf", "minmax", "convex")
#: Below this probability that a passage is relevant nothing is shown unasked.
BAR = 0.45


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace: kind, language and embedder as it is made when something is first stored in it,
    the others in force from the next ingest or search on.

    kind      knowledge, or memory for what an agent remembers
    language  a text search configuration of Postgres, which \\dF in psql lists; none: that of
              [ingest]
    embedder  the model of its vectors, as `embedder` at the top of the file, which must be there
              too; none: that one
    chunker   how its documents are cut, whatever [ingest] says; none: as [ingest] says
    fusion    how its searches fuse where the profile does not say, as {"method": "rrf"}; of several
              namespaces in one search all must agree; none: as ragpg.set_fusion says
    """

    kind: Literal["knowledge", "memory"] = "knowledge"
    language: str | None = None
    embedder: Annotated[str, "model"] | None = None
    chunker: str | None = None
    fusion: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for key, value in (self.fusion or {}).items():
            if key not in ("method", "rrf_k", "alpha", "bias"):
                raise ConfigError(
                    f"fusion has no option {key!r}", hint="Known: method, rrf_k, alpha, bias."
                )
            if key == "method" and value not in FUSIONS:
                raise ConfigError(f"fusion has no method {value!r}, only {', '.join(FUSIONS)}")


@dataclass(frozen=True, slots=True)
class OpenAI:
    """The service behind the embedder and the generator `openai`, OpenAI's own or a compatible one.

    base_url     its address; none: OPENAI_BASE_URL, else OpenAI's
    api_key      its key; none: OPENAI_API_KEY. Better kept in the environment than in a file
    dimensions   length of the vectors, where the model leaves a choice
    timeout      seconds for one attempt; none: what embedder and generator have
    max_retries  further attempts after faults other than rate limits
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    timeout: float | None = None
    max_retries: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("dimensions", 1), ("timeout", 0.001), ("max_retries", 0)):
            if getattr(self, name) is not None:
                _least(self, **{name: least})

    def arguments(self, *names: str) -> dict[str, Any]:
        """Those of the values that are set, as arguments of a model."""
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Cache:
    """Results of searches in the memory of a client, valid until somebody writes to their
    namespaces.

    enabled    whether they are kept
    max_bytes  of all results together; the one that was not used for longest makes room
    ttl        seconds after which a result is searched anew
    """

    enabled: bool = False
    max_bytes: int = 64_000_000
    ttl: float = 300.0

    def __post_init__(self) -> None:
        _least(self, max_bytes=1, ttl=0.001)


@dataclass(frozen=True, slots=True)
class Ingest:
    """How files are read and cut.

    chunker       auto, heading, recursive, fixed or token with :SIZE/OVERLAP, code or rows with
                  :SIZE, separator:TEXT, semantic, whole
    chunkers      others for some files, by patterns of their names, as {"*.log": "rows"}; the first
                  that fits counts
    include       patterns of the files to read, as "*.md"; none: all that can be read
    exclude       patterns of the files to leave out
    language      text search configuration of a new namespace without a table of its own
    follow_links  whether symbolic links out of a folder are followed
    sentences     whether single sentences are embedded too, for the sentence arm; none: where the
                  namespace has such vectors already
    """

    chunker: str = "auto"
    chunkers: Mapping[str, str] = field(default_factory=dict)
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    language: str = "english"
    follow_links: bool = False
    sentences: bool | None = None

    def __post_init__(self) -> None:
        for pattern, chunker in self.chunkers.items():
            if not isinstance(chunker, str):
                raise ConfigError(f"chunkers has no name of a chunker for {pattern!r}")


@dataclass(frozen=True, slots=True)
class Watch:
    """How `ragpg watch` follows the folders.

    debounce  seconds without a change before it is read
    rescan    seconds after which all of a folder is looked through
    """

    debounce: float = 0.25
    rescan: float = 900.0

    def __post_init__(self) -> None:
        _least(self, debounce=0.01, rescan=1)


@dataclass(frozen=True, slots=True)
class Worker:
    """How `ragpg worker` does the jobs of the queue.

    folders  whose files may be read; none: the working directory
    threads  jobs at a time
    lease    seconds after which another worker takes over from one that does not answer
    poll     seconds between two looks at the queue where LISTEN does not wake it
    """

    folders: Annotated[Sequence[str], "path"] = ()
    threads: int = 1
    lease: float = 60.0
    poll: float = 2.0

    def __post_init__(self) -> None:
        _least(self, threads=1, lease=1, poll=0.05)


@dataclass(frozen=True, slots=True)
class GraphAnalysis:
    """When shared terms, ranks and communities of the graph are computed anew, and how a chat model
    is asked for entities and reports.

    analyse         whether `ragpg worker` and `ragpg watch` do it when they are idle, and `ragpg
                    ingest` after a small load
    share           of a namespace's documents that have to have changed, 0 to 1
    quiet           seconds without a job or a change before it
    extract_batch   chunks that `ragpg graph extract` sends in one request
    extract_tokens  tokens of them, at most
    parallel        requests to the chat model that are out at the same time, of `ragpg graph
                    extract`, `reports` and `overview`
    structured      whether the chat model is asked for structured output, else in the prompt alone
    """

    analyse: bool = True
    share: float = STALE_SHARE
    quiet: float = 10.0
    extract_batch: int = 6
    extract_tokens: int = 4000
    parallel: int = 4
    structured: bool = True

    def __post_init__(self) -> None:
        _least(self, extract_batch=1, extract_tokens=1, parallel=1)
        _least(self, share=0, quiet=0)
        _most(self, share=1)


@dataclass(frozen=True, slots=True)
class Memory:
    """What agents remember, and how it is recalled.

    agent            whose memory: the namespace memory/AGENT
    k                how many memories are recalled
    min_similarity   cosine below which a memory is not recalled, -1 to 1; it needs vectors
    half_life        days after which a memory counts half, down to `floor`; none: age is nothing
    floor            the least that age leaves of a score, 0 to 1
    superseded       whether memories that a newer one took the place of are recalled too, last
    store_summaries  whether summaries of conversations are remembered
    store_messages   whether what a user wrote is remembered
    judge            whether the chat model is asked, for each text to remember, which older ones it
                     takes the place of
    """

    agent: str = "default"
    k: int = 5
    min_similarity: float = 0.3
    half_life: float | None = 180.0
    floor: float = 0.5
    superseded: bool = False
    store_summaries: bool = True
    store_messages: bool = False
    judge: bool = False

    def __post_init__(self) -> None:
        _least(self, k=0, min_similarity=-1, floor=0)
        _most(self, min_similarity=1, floor=1)
        if self.half_life is not None and not self.half_life > 0:
            raise ConfigError(f"half_life must be above 0 days, not {self.half_life}")


@dataclass(frozen=True, slots=True)
class Tools:
    """What models and agents may search: the allow-list of the tool and of `ragpg mcp`.

    namespaces          the allow-list, in full; what is not in it is never searched
    default_namespaces  searched when the model names none; empty: all that are allowed
    name                what the tool is called
    description         what the model is told of it; none: a sentence that fits any
    top_k               how many passages when the model does not say
    filter              conditions that every call is put under
    include_metadata    whether passages come with their metadata
    """

    namespaces: Sequence[str] = ()
    default_namespaces: Sequence[str] = ()
    name: str = "knowledge_search"
    description: str | None = None
    top_k: int = 5
    filter: Mapping[str, Any] = field(default_factory=dict)
    include_metadata: bool = True

    def __post_init__(self) -> None:
        _least(self, top_k=1)
        _most(self, top_k=50)
        for name in self.default_namespaces:
            if self.namespaces and name not in self.namespaces:
                raise ConfigError(
                    f"default_namespaces has {name!r}, which namespaces does not allow"
                )


@dataclass(frozen=True, slots=True)
class Mcp:
    """How `ragpg mcp` is reached.

    http  whether it serves HTTP at /mcp; else it speaks over its standard input and output
    host  the address it listens on
    port  the port it listens on
    """

    http: bool = False
    host: str = "127.0.0.1"
    port: int = 8000

    def __post_init__(self) -> None:
        _least(self, port=0)
        _most(self, port=65535)


@dataclass(frozen=True, slots=True)
class Proactive:
    """Passages that are shown to a model before it asks: ragpg.tools.proactive.

    namespaces  what is searched; none: those of [tools]
    bar         least confidence of a search whose passages are shown, 0 to 1
    k           most passages for a message
    filter      conditions that every search is put under
    """

    namespaces: Sequence[str] = ()
    bar: float = BAR
    k: int = 3
    filter: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _least(self, bar=0, k=1)
        _most(self, bar=1)


def _least(section: Any, **bounds: float) -> None:
    for name, bound in bounds.items():
        if not getattr(section, name) >= bound:
            raise ConfigError(f"{name} must be at least {bound}, not {getattr(section, name)!r}")


def _most(section: Any, **bounds: float) -> None:
    for name, bound in bounds.items():
        if not getattr(section, name) <= bound:
            raise ConfigError(f"{name} must be at most {bound}, not {getattr(section, name)!r}")
