"""Source code, configuration and data by file name: the `language` of a document's metadata."""

from __future__ import annotations

from posixpath import basename, splitext

_EXTENSIONS = {
    "python": "py pyi pyw",
    "sql": "sql psql pgsql ddl",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts tsx",
    "c": "c h",
    "c++": "cc cpp cxx hh hpp hxx",
    "c#": "cs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala sc",
    "go": "go",
    "rust": "rs",
    "ruby": "rb rake gemspec",
    "php": "php",
    "perl": "pl pm",
    "lua": "lua",
    "r": "r",
    "julia": "jl",
    "swift": "swift",
    "dart": "dart",
    "haskell": "hs",
    "ocaml": "ml mli",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "clojure": "clj cljs cljc",
    "lisp": "lisp el scm",
    "zig": "zig",
    "nim": "nim",
    "fortran": "f f90 f95",
    "pascal": "pas",
    "shell": "sh bash zsh fish ksh",
    "powershell": "ps1 psm1",
    "batch": "bat cmd",
    "css": "css scss sass less",
    "vue": "vue",
    "svelte": "svelte",
    "xml": "xml xsd xsl svg",
    "json": "json5",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf properties",
    "terraform": "tf tfvars hcl",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "cypher": "cypher cql",
    "tex": "tex sty bib",
    "diff": "diff patch",
    "cmake": "cmake",
    "nix": "nix",
    "groovy": "groovy gradle",
}
_BY_EXTENSION = {
    f".{extension}": language
    for language, extensions in _EXTENSIONS.items()
    for extension in extensions.split()
}
_BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "justfile": "just",
    "cmakelists.txt": "cmake",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "jenkinsfile": "groovy",
}


def language_of(source: str) -> str | None:
    """The programming or configuration language that the name of a file tells, or None."""
    name = basename(source).lower()
    return _BY_NAME.get(name) or _BY_EXTENSION.get(splitext(name)[1])
