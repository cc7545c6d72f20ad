"""Every reported case has a test of its name, or a reason why not yet; tests/cases/README.md has both.

Write the table anew with `python -m tests.unit.test_cases_covered`.
"""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS / "cases" / "README.md"

#: Faults that users of comparable systems reported: id, severity, what goes wrong there.
CASES = """
KW-01 S2 Quotes and query operators typed by a user break keyword search
KW-02 S2 Pasting an address in "Display Name <mail>" form fails the search
KW-03 S2 One filler word empties the keyword result because every term is required
KW-04 S1 A dash in front of a word silently excludes the very passage asked for
KW-05 S3 A file name is not found by its stem
KW-06 S3 Code identifiers with underscores, dots and calls lose their exact match
KW-07 S3 Advisory numbers, versions and part numbers with hyphens and digits
KW-08 S2 Chinese, Japanese or Korean text is one giant word or keeps its particles
KW-09 S3 Accents: "resume" and "résumé", "Strasse" and "Straße" do not meet
KW-10 S3 Ligatures and soft hyphens from PDFs hide words
KW-11 S2 A very long passage overflows the search-vector size and the insert fails
KW-12 S2 A percent sign in the query or text is taken as a placeholder
KW-13 S2 A very common word makes ranking read the whole corpus
KW-14 S3 C++, C# and .NET all become "c" or nothing
VE-01 S1 A selective filter makes the approximate index return too few rows, or none
VE-02 S2 Asking for 100 neighbours returns only 40
VE-03 S2 A large k fails because the search width has a maximum of 1000
VE-04 S2 Models with more than 2000 dimensions cannot be indexed
VE-05 S1 All-zero or missing embeddings poison or vanish from the ranking
VE-06 S1 Distance reported as similarity: threshold drops the best matches
FU-01 S2 Equal fused scores come back in a different order each time
FU-02 S2 One chunk appears twice because both arms found it
FU-03 S2 A passage found by only one arm is lost
FU-04 S1 A filter or namespace applies to one arm only
FI-01 S1 Numbers compared as text
FI-02 S1 One row with a word in a numeric field makes every range query fail
FI-03 S1 Text that looks like a number is turned into one
FI-04 S2 Filter on a field that holds a list
FI-05 S1 An empty list in IN / NOT IN
FI-06 S2 "Not equal" drops rows that lack the field
FI-07 S1 Hostile or odd metadata keys change the SQL
FI-08 S2 Metadata that JSON cannot hold
FI-09 S1 An unknown or misspelt operator is ignored and everything is returned
SC-01 S1 The vector extension lives in another schema
SC-02 S2 The role may not create extensions
SC-03 S2 Searching on a read replica or with a read-only role
SC-04 S1 A dump cannot be restored because names inside functions are unqualified
SC-05 S1 Names over 63 bytes are cut and two collections become one
SC-06 S2 Capital letters, hyphens, colons, quotes, dots and reserved words in names
SC-07 S1 Migrations touch what is not theirs
DB-01 S1 Prepared statements through a transaction pooler
DB-02 S1 The pool runs dry in a web application
DB-03 S1 A cancelled request leaves a query or transaction behind
DB-04 S1 Overlapping batches deadlock
DB-05 S2 Too many bind parameters in one statement
DB-06 S2 Several workers set the database up at once
DB-07 S2 One slow arm hits the statement time-out and the whole search fails
LO-01 S1 A NUL character in extracted text fails the insert
LO-02 S1 A NUL in metadata, file name or title
LO-03 S2 Lone surrogates crash the encoder or the provider request
LO-04 S2 Encoding guessed from the first 4 KB is wrong for the rest
LO-05 S1 A PDF without a text layer is reported as ingested but holds nothing
LO-06 S2 One unreadable file stops the whole folder
LO-07 S2 A binary file with a text name is indexed as noise
LO-08 S2 Empty and whitespace-only files block the queue
LO-09 S2 Spreadsheet cells change meaning: N/A vanishes, percentages and merged headers are lost
CH-01 S2 A # comment inside a code fence becomes a section
CH-02 S3 Longer fences and nested fences
CH-03 S2 A long table is cut inside a row and later parts have no header
CH-04 S1 Overlap equal to or larger than the chunk size never ends
CH-05 S1 A long run without spaces hangs or explodes the splitter
CH-06 S1 Offsets point at the wrong place when text repeats
CH-07 S2 Documents that mention tokenizer control strings fail to chunk
CH-08 S2 Emoji, CJK and combining characters are cut in half
CH-09 S3 Sentence splitting breaks at abbreviations, decimals and versions
CH-10 S2 Empty and whitespace-only chunks
CH-11 S2 A byte-order mark hides the first heading and the front matter
CH-12 S2 Chunk size guessed from characters is over the model limit for dense text
SY-01 S1 A file that shrank keeps its old chunks
SY-02 S1 A file that became empty keeps its old chunks
SY-03 S1 Renamed, moved or deleted files leave orphans
SY-04 S1 A failed re-embedding destroys what was searchable
SY-05 S1 Two files of one name in two folders overwrite each other
SY-06 S1 Two workers ingest the same file at once
SY-07 S1 A crash leaves documents in "processing" for ever
SY-08 S2 Editors save by writing a temporary file and renaming it; watch mode drops the file
SY-09 S2 The same id twice in one batch
EM-01 S1 The service returns fewer vectors than texts
EM-02 S1 Vectors come back in another order, or with a gap in the numbering
EM-03 S1 The vector length differs from the table
EM-04 S1 NaN, infinite or null values in a vector
EM-05 S2 An empty string in a batch is refused with 400
EM-06 S2 Rate limit 429
EM-07 S2 Token arrays are sent to services that take only strings
EM-08 S3 An optional request field is refused by other vendors
EM-09 S2 One text is longer than the model accepts
RE-01 S2 The reranking model adds prose around its list
RE-02 S2 The reranking model answers only in prose
RE-03 S2 Scores for unknown, repeated or missing documents
RE-04 S2 A compatible service does not sort and ignores top_n
RE-05 S2 Braces in documents break prompt building
CI-01 S1 Citation numbers that do not exist
CI-02 S2 Numbers in brackets that are not citations
CI-03 S1 A negated claim passes because the words overlap
CI-04 S1 Changed numbers, dates, units or names pass
CI-05 S2 Sources vanish when the model writes no markers
CI-06 S3 Renumbering merges or swaps sources
GR-01 S1 Quotes, backslashes and dollar signs in entity names or descriptions
GR-02 S1 Looking up an entity whose name was escaped gives a key error
GR-03 S2 Fresh connections fail on the first graph query
GR-04 S1 Deleting a document leaves its entities, or removes those shared with others
GR-05 S2 Two workers create the first entity or relation of a kind at once
EV-01 S1 Recall and nDCG above 1
EV-02 S1 Failed questions drop out of the average, so the score rises as things break
EV-03 S2 "I don't know" answers give NaN or a fake score
TN-01 S1 An underscore in a namespace matches other namespaces
TN-02 S1 A namespace that is a prefix of another
TN-03 S1 Deleting one user's memories wipes everyone's
TN-04 S1 Delete with an empty list or without a condition removes everything
TN-05 S1 The same file in two namespaces collides
TN-06 S1 A contradicting fact deletes the old one and is not stored itself
TN-07 S2 Remembering the same thing twice deletes or doubles it
OP-01 S1 Passwords and keys in logs and errors
OP-02 S1 Special characters in the database password
OP-03 S1 Symbolic links lead out of the folder
OP-04 S2 A link loop never ends
OP-05 S2 The command reports failures and still exits with success
"""

LATER: dict[str, str] = {}

REMARKS = {
    "KW-04": "nothing in a query excludes; there is no operator for it",
    "KW-08": "pairs of characters are indexed for scripts without blanks",
    "KW-13": "20,000 rows of the 200,000, bound 2 s; with all of them it took 0.5 s on two cores",
    "VE-01": "the scan is forced in the arm; the fused call takes the way that its planner chose",
    "VE-04": "above 4,000 dimensions search is exact, with a warning",
    "VE-05": "a chunk whose vector is unfit is stored without one, and its file's report says so",
    "FI-02": "the documented rule: texts never compare with numbers",
    "FI-04": "the documented rule: a list equals a value when one of its items does",
    "FI-05": "documents are deleted by source; there is no deletion by filter",
    "SC-03": "`ragpg eval` stores a corpus, so a reader evaluates through Python",
    "SC-06": "namespaces take any text; schema names that need quotes are refused",
    "DB-01": "8 clients of the 20, against a pooler of the tests",
    "DB-02": "0.5 s of the 2 s a request",
    "DB-03": "4 rounds of the 50",
    "DB-04": "10 rounds of the 200; documents, chunks, vectors",
    "DB-06": "5 rounds of the 10",
    "LO-05": "reported as empty, with the reason; read again when a loader for it is registered",
    "CH-12": "EM-09 tests what becomes of a text that a model refuses as too long",
    "SY-03": "a file without heading that is renamed is embedded again: its name is part of the text",
    "SY-06": "4 rounds of the 20",
    "EM-04": "a chunk whose vector is unfit is stored without one, and its file's report says so",
    "EV-02": "the gate is `--fail-below`, in Python `ragpg.evaluate.gate`",
    "TN-01": "there is no export",
    "TN-04": "the command line deletes by `namespaces drop` and `ingest --prune` only",
    "OP-02": "on a server of its own that asks for passwords",
}


def cases() -> dict[str, tuple[str, str]]:
    """Severity and title by id, in order."""
    found = {}
    for line in CASES.strip().splitlines():
        name, severity, title = line.split(" ", 2)
        found[name] = (severity, title)
    return found


def marked() -> dict[str, list[str]]:
    """Test nodes by the id that they are marked with."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for name in _ids(node):
                    place = path.relative_to(TESTS.parent).as_posix()
                    found.setdefault(name, []).append(f"{place}::{node.name}")
    return found


def _ids(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [
        argument.value
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.case"
        for argument in decorator.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def table() -> str:
    """The text of tests/cases/README.md."""
    tests = marked()
    lines = [
        "# Reported cases and their tests",
        "",
        "Faults that users of comparable systems reported (S1: data wrong, lost or leaked, or a hang; "
        "S2: an operation fails; S3: worse quality), and the tests that show that they do not happen "
        "here. Written by `python -m tests.unit.test_cases_covered`. One test: "
        "`pytest -k kw_01`.",
        "",
        "| id | | what goes wrong elsewhere | tests | remarks |",
        "|---|---|---|---|---|",
    ]
    for name, (severity, title) in cases().items():
        nodes = "<br>".join(f"`{node.removeprefix('tests/')}`" for node in tests.get(name, ()))
        remark = f"later: {LATER[name]}" if name in LATER else REMARKS.get(name, "")
        lines.append(f"| {name} | {severity} | {title} | {nodes} | {remark} |")
    return "\n".join(lines) + "\n"


def test_every_case_has_a_test_or_a_reason() -> None:
    known, tests = cases(), marked()
    assert len(known) == 117
    assert sorted(set(known) - set(tests) - set(LATER)) == []
    assert sorted(set(tests) - set(known)) == []
    assert sorted(set(LATER) & set(tests)) == []
    assert sorted((set(LATER) | set(REMARKS)) - set(known)) == []


def test_a_test_is_named_after_its_case() -> None:
    for name, nodes in marked().items():
        for node in nodes:
            # A test of two cases has both names.
            assert f"_{name.lower().replace('-', '_')}_" in f"{node}_", node


def test_the_table_names_tests_that_exist() -> None:
    written, tests = TABLE.read_text(encoding="utf-8"), marked()
    for name in cases():
        [row] = [line for line in written.splitlines() if line.startswith(f"| {name} |")]
        assert (name in LATER) == ("later: " in row)
        for node in row.split("|")[4].split("<br>"):
            if node.strip():
                assert f"tests/{node.strip().strip('`')}" in tests[name], node
        assert name in LATER or "::" in row


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
