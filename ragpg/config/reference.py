"""The reference of all knobs, written from the dataclasses that hold them.

python -m ragpg.config.reference > docs/configuration.md
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragpg.config.folders import Folder
from ragpg.config.knobs import knobs_of, words_for
from ragpg.config.sections import Namespace
from ragpg.config.values import ELSEWHERE, PLAIN, SECTIONS, Config, variable
from ragpg.query.profile import Profile, read_profile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragpg.config.knobs import Knob

_HEAD = """\
# One configuration file

`ragpg.toml`, `.yaml` or `.json`: in the working directory or in a folder above it (there it must
belong to you), or the file that `--config` or `RAGPG_CONFIG` names. Two side by side are refused,
and so is a link that leads nowhere. Every command and, where they are told to, the clients go by
it. What an argument or an option says wins over the environment, the environment over the file,
the file over the defaults. Relative paths count from the file. An unknown key is refused with the
nearest known one, a key that stands twice with its line, a wrong value with its place.

```toml
dsn = "postgresql:///shop"
embedder = "local"
reranker = "heuristic, late"

[profile]                         # or profile = "measured", "seed", "fast" or "file.toml"
base = "measured"
parents = 1

[settings]
pool_size = 20

[namespaces.handbook]
language = "german"

[ingest]
chunker = "recursive:800/100"
chunkers = { "*.log" = "rows" }   # by pattern; a namespace and a [[folder]] may have their own
exclude = ["drafts/*"]

[[folder]]                        # what `ragpg watch` mirrors
path = "docs"                     # must be there
namespace = "handbook"

[tools]                           # what `ragpg mcp` lets agents search
namespaces = ["handbook"]
```

```python
import ragpg

with ragpg.connect(config="ragpg.toml") as rag:  # arguments win: embedder=..., profile=...
    print(rag.config.path, rag.config.ingest.chunker)
```

```bash
mkdir -p docs         # of the sample: folders and files that are named must be there
ragpg config check    # reads it, and names what is wrong; exit code 2 then
ragpg config show     # every value and where it comes from, without passwords and keys
```

Keys of services are best left in the environment: `OPENAI_API_KEY`, `COHERE_API_KEY`,
`JINA_API_KEY`, `TEI_API_KEY`. The private server of `ragpg db` has its own variables,
`RAGPG_DB_HOME` and others; see `ragpg db --help`.

# Every knob

In the environment lists are written with commas, tables as JSON, true and false as 1 and 0; an
empty variable is none. This part is written by `python -m ragpg.config.reference`.
"""


def reference() -> str:
    """The page, in Markdown."""
    knobs = knobs_of(Config)
    parts = [_HEAD, _table([knobs[key] for key in PLAIN], lambda key: variable(None, key))]
    for name in knobs:
        if name in SECTIONS:
            hidden = ELSEWHERE.get(name, ())
            rows = [one for one in knobs_of(SECTIONS[name]).values() if one.name not in hidden]
            parts += [_title(f"[{name}]", knobs[name].text),
                      _table(rows, lambda key, name=name: variable(name, key))]  # fmt: skip
        elif name == "profile":
            said = (
                knobs[name].text + ". `base` names the profile that the table changes, measured "
                "where it names none; the defaults are those of measured"
            )
            parts += [
                _title("[profile]", said, "RAGPG_PROFILE"),
                _table(_unset(read_profile("measured")), lambda key: variable("profile", key)),
            ]
        elif name == "namespaces":
            parts += [_title("[namespaces.NAME]", knobs[name].text),
                      _table(knobs_of(Namespace).values())]  # fmt: skip
        elif name == "folder":
            parts += [_title("[[folder]]", knobs[name].text), _table(knobs_of(Folder).values())]
    return "\n".join(parts)


def _unset(profile: Profile) -> Iterable[Knob]:
    """The knobs of a profile with what they are where nobody sets them."""
    for one in knobs_of(Profile).values():
        yield replace(one, default=getattr(profile, one.name))


def _title(name: str, text: str, environment: str | None = None) -> str:
    said = f"{text[0].upper()}{text[1:]}."
    return f"## {name}\n\n{said}" + (f" `{environment}`" if environment else "") + "\n"


def _table(knobs: Iterable[Knob], environment: Any = None) -> str:
    head = ["key", "type", "default", *(["environment"] if environment else []), "what it does"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for one in knobs:
        cells = [f"`{one.name}`", words_for(one), _default(one)]
        if environment:
            cells.append(f"`{environment(one.name)}`")
        lines.append("| " + " | ".join([*map(_cell, cells), _cell(one.text)]) + " |")
    return "\n".join(lines) + "\n"


def _default(knob: Knob) -> str:
    if knob.required:
        return "needed"
    value = knob.default
    if value is None or (isinstance(value, Mapping | tuple | list) and not value):
        return "none"
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    import sys

    sys.stdout.write(reference())
