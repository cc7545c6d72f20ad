"""A configuration: everything that a file may hold, with where each value comes from."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any

from ragpg.config.folders import Folder  # noqa: TC001 -- knobs_of reads the annotations
from ragpg.config.sections import (
    Cache,
    GraphAnalysis,
    Ingest,
    Mcp,
    Memory,
    Namespace,
    OpenAI,
    Proactive,
    Tools,
    Watch,
    Worker,
)
from ragpg.judges.options import (
    EmbeddingOptions,
    JudgeOptions,
    LexicalOptions,
    LLMOptions,
    NLIOptions,
)
from ragpg.query.profile import Profile, read_profile
from ragpg.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration, read and checked.

    dsn              address of the database; none: the server of `ragpg db up`
    schema           schema of the tables
    embedder         hash, local, openai, openai:MODEL, path:FOLDER or none; on the command line
                     local where it is installed
    generator        the chat model: openai or openai:MODEL; OPENAI_BASE_URL takes it to any
                     compatible server
    reranker         heuristic, late, cohere, jina or tei with :MODEL, onnx:FOLDER, several by
                     commas, in the order in which they run; instead of the profile's
    openai           the service behind the embedder and the generator `openai`
    profile          which stages a search runs: a table of knobs, a built-in name (measured, seed,
                     fast) or the path of a file
    lexical_judge    the bars of the judge of claims that needs no model
    embedding_judge  those of the judge `embedding`
    nli_judge        those of an entailment model
    llm_judge        how a chat model is asked to judge
    settings         limits, costs and logs
    cache            results of searches, kept in the client until somebody writes to their
                     namespaces
    namespaces       namespaces by name, as [namespaces.NAME]
    ingest           how files are read and cut
    folder           what `ragpg watch` mirrors, one table [[folder]] each
    watch            how it follows them
    worker           how `ragpg worker` does the jobs of the queue
    graph            when it is analysed, and how a chat model is asked about it
    memory           what agents remember
    tools            what models and agents may search
    mcp              how `ragpg mcp` is reached
    proactive        what is shown to a model before it asks

    `origins` says of each value where it comes from: default, file or environment, of a knob of the
    profile also the profile that the file builds on, as in "profile fast". `path` is the file, None
    without one.
    """

    dsn: str | None = field(default=None, repr=False)
    schema: str = "ragpg"
    embedder: Annotated[str, "model"] | None = None
    generator: str | None = None
    reranker: Annotated[str, "model"] | None = None
    openai: OpenAI = field(default_factory=OpenAI)
    profile: Profile = field(default_factory=read_profile)
    lexical_judge: LexicalOptions = field(default_factory=LexicalOptions)
    embedding_judge: EmbeddingOptions = field(default_factory=EmbeddingOptions)
    nli_judge: NLIOptions = field(default_factory=NLIOptions)
    llm_judge: LLMOptions = field(default_factory=LLMOptions)
    settings: Settings = field(default_factory=Settings)
    cache: Cache = field(default_factory=Cache)
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    ingest: Ingest = field(default_factory=Ingest)
    folder: Sequence[Folder] = ()
    watch: Watch = field(default_factory=Watch)
    worker: Worker = field(default_factory=Worker)
    graph: GraphAnalysis = field(default_factory=GraphAnalysis)
    memory: Memory = field(default_factory=Memory)
    tools: Tools = field(default_factory=Tools)
    mcp: Mcp = field(default_factory=Mcp)
    proactive: Proactive = field(default_factory=Proactive)
    origins: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None

    @property
    def judges(self) -> JudgeOptions:
        """What is said of the judges, for those that are chosen by name."""
        return JudgeOptions(
            self.lexical_judge, self.embedding_judge, self.nli_judge, self.llm_judge
        )

    def kind_of(self, namespace: str) -> str:
        """The kind of a namespace when it is made."""
        return self.namespaces.get(namespace, Namespace()).kind

    def language_of(self, namespace: str) -> str:
        """The language of a namespace when it is made: that of its table, else of [ingest]."""
        return self.namespaces.get(namespace, Namespace()).language or self.ingest.language

    def fusion_of(self, namespaces: Sequence[str]) -> Mapping[str, Any]:
        """How a search of these namespaces fuses; empty where they do not agree or say nothing."""
        said = [self.namespaces.get(one, Namespace()).fusion for one in namespaces]
        first = said[0] if said else None
        return first if first and all(one == first for one in said) else {}


#: Keys that stand alone, before the tables.
PLAIN = ("dsn", "schema", "embedder", "generator", "reranker")
#: Tables of knobs by name, each a dataclass that is a field of Config.
SECTIONS: dict[str, type] = {
    "lexical_judge": LexicalOptions,
    "embedding_judge": EmbeddingOptions,
    "nli_judge": NLIOptions,
    "llm_judge": LLMOptions,
    "settings": Settings,
    "openai": OpenAI,
    "cache": Cache,
    "ingest": Ingest,
    "watch": Watch,
    "worker": Worker,
    "graph": GraphAnalysis,
    "memory": Memory,
    "tools": Tools,
    "mcp": Mcp,
    "proactive": Proactive,
}
#: Everything a file may hold; the rest of Config says how it was read.
KEYS = tuple(one.name for one in fields(Config) if one.name not in ("origins", "path"))
#: Keys of a table that stand elsewhere: the address is a key of its own.
ELSEWHERE = {"settings": ("dsn",)}


def variable(section: str | None, key: str) -> str:
    """The environment variable of a key: RAGPG_POOL_SIZE, RAGPG_WORKER_THREADS."""
    inside = f"{section}_" if section not in (None, "settings") else ""
    return f"RAGPG_{inside}{key}".upper()
