"""What every tool for a model has in common: what it is told, and how its call is read."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from ragpg.errors import ConfigError, RagpgError

if TYPE_CHECKING:
    from ragpg.steps import Flow
    from ragpg.tools.learning import Learning

#: What a call may do: read changes nothing, write adds or marks, delete takes away.
Risk: TypeAlias = Literal["read", "write", "delete"]


class ToolError(ConfigError):
    """A model called a tool with arguments that make no sense; it is told, and may try again."""


class Described(Protocol):
    """What a model is told of a tool."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> dict[str, Any]: ...


class Tool(Described, Protocol):
    """What a Toolbox offers to a model. `namespaces` are all that its calls may use: the database
    refuses the others."""

    @property
    def risk(self) -> Risk: ...

    @property
    def namespaces(self) -> Sequence[str]: ...

    def work(
        self, rag: Any, arguments: str | Mapping[str, Any], learning: Learning | None
    ) -> Flow[dict[str, Any]]:
        """Answer a call over a client, which may be sync or async."""
        ...


def definition_of(tool: Described) -> dict[str, Any]:
    """A tool as OpenAI's chat API takes it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def schema_of(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """The JSON schema of arguments, none beside these."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def read_call(tool: Described, arguments: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call, all of them known ones. Raises ToolError."""
    given = _object(tool.name, arguments)
    refuse_unknown(tool.name, given, tool.parameters["properties"])
    return given


def read_text(tool: str, name: str, value: Any, what: str, *, most: int | None = None) -> str:
    """A text that is not blank. Raises ToolError."""
    if not isinstance(value, str) or not value.strip():
        raise ToolError(f"{tool}: {name} must be a text that says {what}")
    if most is not None and len(value) > most:
        raise ToolError(f"{tool}: {name} has {len(value):,} characters, and {most:,} is the most")
    # A model may write half of a surrogate pair; an answer that repeats it cannot be sent.
    return value.encode("utf-8", "replace").decode()


def read_count(tool: str, name: str, value: Any, most: int) -> int | None:
    """A whole number, brought between 1 and `most`; None where nothing was chosen. Raises
    ToolError."""
    if value is None:
        return None
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:9])
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # Python reads NaN and Infinity in JSON, and neither of them as a whole number.
    if not number or not math.isfinite(value) or value != int(value):
        raise ToolError(f"{tool}: {name} must be a whole number, not {value!r}")
    return max(1, min(int(value), most))


def read_names(tool: str, name: str, value: Any) -> list[str] | None:
    """A list of texts, a single one too; None where nothing was chosen. Raises ToolError."""
    if isinstance(value, str):
        value = [value]
    if value is not None and not (
        isinstance(value, Sequence) and all(isinstance(one, str) for one in value)
    ):
        raise ToolError(f"{tool}: {name} must be a list of names")
    return None if value is None else list(dict.fromkeys(value))


def refuse_unknown(tool: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise ToolError for an argument that a tool has not: a filter under another name would be no
    filter, and nobody would notice."""
    known = list(known)
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            all_known = ", ".join(known) or "none"
            raise ToolError(
                f"{tool}: there is no argument {key!r}",
                hint=f"Did you mean {near[0]}?" if near else f"Known: {all_known}.",
            )


def _object(name: str, arguments: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise ToolError(f"{name}: the arguments are not JSON: {error}") from error
        except RecursionError as error:
            raise ToolError(f"{name}: the arguments are nested too deeply") from error
    if not isinstance(arguments, Mapping):
        raise ToolError(f"{name}: the arguments must be a JSON object")
    return arguments


def failure(error: Exception) -> str:
    """An error as the JSON that a model is answered."""
    if isinstance(error, RagpgError):
        said = {"error": error.message} | ({"hint": error.hint} if error.hint else {})
    else:
        said = {"error": str(error) or type(error).__name__}
    return json.dumps(said, ensure_ascii=False)
