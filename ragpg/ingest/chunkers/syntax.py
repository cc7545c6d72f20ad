"""Where source code may be cut: the lines at which its syntax nodes begin, by depth."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Language -> module of its grammar, and the function that gives it.
_GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_tsx"),
    "java": ("tree_sitter_java", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "c": ("tree_sitter_c", "language"),
    "c++": ("tree_sitter_cpp", "language"),
    "c#": ("tree_sitter_c_sharp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "shell": ("tree_sitter_bash", "language"),
}
#: Parts of the names of node types that define something with a name.
_DEFINES = re.compile(
    r"class|function|method|constructor|struct|enum|interface|trait|impl|module|namespace|"
    r"package_decl|object_def|record|union"
)
_COMMENT = re.compile(r"[ \t]*(?:#|//|/\*|\*|--|;|@|\"\"\"|%)")
_BLANK_BEFORE = re.compile(r"(?<=\n\n)[ \t]*(?=\S)|(?<=\n)(?=[^\s}\])])")
_MAX_DEPTH = 12
#: More code than this is cut by indentation: it was written by a program.
_MAX_PARSED = 3_000_000


@dataclass(frozen=True, slots=True)
class Border:
    """A line start where a chunk may begin; the outermost have depth 0."""

    start: int
    depth: int


@dataclass(frozen=True, slots=True)
class Scope:
    """A definition with its name."""

    start: int
    end: int
    name: str


def borders_of(text: str, language: str) -> tuple[list[Border], list[Scope]]:
    """Borders in order and definitions from the outside, by the best means there is."""
    found = None
    if len(text) <= _MAX_PARSED:
        if language in _GRAMMARS:
            found = _by_tree_sitter(text, language)
        if found is None and language == "python":
            found = _by_ast(text)
    if found is None:
        return _by_indentation(text), []
    nodes, scopes = found
    depths: dict[int, int] = {}
    for start, depth in nodes:
        line = text.rfind("\n", 0, start) + 1
        if not text[line:start].strip():
            place = _with_comments(text, line)
            depths[place] = min(depth, depths.get(place, depth))
    scopes = [replace(one, start=_begin(text, one.start)) for one in scopes]
    return [Border(start, depths[start]) for start in sorted(depths)], scopes


Found = tuple[list[tuple[int, int]], list[Scope]]


def _by_tree_sitter(text: str, language: str) -> Found | None:
    parser = _parser(language)
    if parser is None:
        return None
    data = text.encode("utf-8", "replace")
    place = _characters(text, data)
    nodes: list[tuple[int, int]] = []
    scopes: list[Scope] = []
    stack: list[tuple[Any, int, bool]] = [(parser.parse(data).root_node, -1, True)]
    while stack:
        node, depth, is_body = stack.pop()
        # A body begins where its first statement does, or with a brace that no chunk begins with.
        if not is_body:
            nodes.append((place(node.start_byte), depth))
            name = node.child_by_field_name("name") or node.child_by_field_name("type")
            if name is not None and _DEFINES.search(node.type):
                label = text[place(name.start_byte) : place(name.end_byte)]
                if len(label) <= 80 and "\n" not in label:
                    scopes.append(Scope(place(node.start_byte), place(node.end_byte), label))
        # One line holds no border but its own.
        if depth < _MAX_DEPTH and node.end_point[0] > node.start_point[0]:
            body = node.child_by_field_name("body")
            stack.extend((child, depth + 1, child == body) for child in node.named_children)
    return nodes, _outside_first(scopes)


def _characters(text: str, data: bytes) -> Any:
    """Byte offset -> character offset."""
    if len(data) == len(text):
        return int
    starts = [0]
    for char in text:
        code = ord(char)
        starts.append(
            starts[-1] + (1 if code < 0x80 else 2 if code < 0x800 else 3 + (code > 0xFFFF))
        )
    return lambda byte: bisect_right(starts, byte) - 1


@cache
def _parser(language: str) -> Any:
    """The parser of a language; None without the extra `code`."""
    module, function = _GRAMMARS[language]
    try:
        from tree_sitter import Language, Parser

        return Parser(Language(getattr(import_module(module), function)()))
    except (ImportError, AttributeError, ValueError, TypeError):
        return None


def _by_ast(text: str) -> Found | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a file's escapes are worth is not our business
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = [0]
    for line in text.split("\n"):
        lines.append(lines[-1] + len(line) + 1)
    nodes: list[tuple[int, int]] = []
    scopes: list[Scope] = []
    stack: list[tuple[ast.AST, int]] = [(tree, -1)]
    while stack:
        node, depth = stack.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.stmt, ast.ExceptHandler)):
                continue
            decorated = getattr(child, "decorator_list", None)
            first = decorated[0].lineno if decorated else child.lineno
            start = lines[first - 1]
            start += len(text[start : lines[first]]) - len(text[start : lines[first]].lstrip())
            nodes.append((start, depth + 1))
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                scopes.append(Scope(start, lines[child.end_lineno or first], child.name))
            if depth + 1 < _MAX_DEPTH:
                stack.append((child, depth + 1))
    return nodes, _outside_first(scopes)


def _by_indentation(text: str) -> list[Border]:
    """Lines after a blank one and lines at the margin; the depth is the indentation."""
    borders = []
    for match in _BLANK_BEFORE.finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        indent = match.end() - line
        after_blank = text[max(0, line - 2) : line] == "\n\n"
        borders.append(Border(_with_comments(text, line), 2 * indent + (0 if after_blank else 1)))
    unique = {border.start: border for border in reversed(borders)}
    return [unique[start] for start in sorted(unique)]


def _begin(text: str, start: int) -> int:
    """Where the line of a definition begins, comments above it included."""
    line = text.rfind("\n", 0, start) + 1
    return start if text[line:start].strip() else _with_comments(text, line)


def _with_comments(text: str, line: int) -> int:
    """The line start, moved up over comment and decorator lines right above."""
    for _ in range(30):
        above = text.rfind("\n", 0, line - 1) + 1 if line > 1 else 0
        if line == 0 or not _COMMENT.match(text, above, line):
            break
        line = above
    return line


def _outside_first(scopes: list[Scope]) -> list[Scope]:
    return sorted(scopes, key=lambda scope: (scope.start, -scope.end))


def languages() -> Iterator[str]:
    """Languages that are parsed where the extra `code` is installed."""
    return iter(_GRAMMARS)
